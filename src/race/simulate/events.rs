//! What callgrind counts, under this package's names.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Events of a region: exact counts of a simulated machine, never times.
///
/// callgrind's own event names stand in brackets (its manual, "Cache and branch simulation").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Instructions executed (`Ir`).
    pub instructions: u64,
    /// Data reads (`Dr`).
    pub data_reads: u64,
    /// Data writes (`Dw`).
    pub data_writes: u64,
    /// Instruction fetches that missed the first-level instruction cache (`I1mr`).
    pub i1_misses: u64,
    /// Reads and writes that missed the first-level data cache (`D1mr` + `D1mw`).
    pub d1_misses: u64,
    /// Fetches, reads and writes that missed the last level (`ILmr` + `DLmr` + `DLmw`).
    pub ll_misses: u64,
    /// Conditional branches executed (`Bc`).
    pub conditional_branches: u64,
    /// Of these, mispredicted (`Bcm`).
    pub conditional_mispredicts: u64,
    /// Indirect branches and calls executed (`Bi`).
    pub indirect_branches: u64,
    /// Of these, mispredicted by a predictor that knows each site's last target only (`Bim`).
    pub indirect_mispredicts: u64,
}

impl Events {
    /// The field that an event of callgrind's is added to; `None` for one that isn't kept.
    pub(super) fn field(&mut self, event: &str) -> Option<&mut u64> {
        Some(match event {
            "Ir" => &mut self.instructions,
            "Dr" => &mut self.data_reads,
            "Dw" => &mut self.data_writes,
            "I1mr" => &mut self.i1_misses,
            "D1mr" | "D1mw" => &mut self.d1_misses,
            "ILmr" | "DLmr" | "DLmw" => &mut self.ll_misses,
            "Bc" => &mut self.conditional_branches,
            "Bcm" => &mut self.conditional_mispredicts,
            "Bi" => &mut self.indirect_branches,
            "Bim" => &mut self.indirect_mispredicts,
            _ => return None,
        })
    }

    /// Every event by its name.
    pub fn named(&self) -> [(&'static str, u64); 10] {
        [
            ("instructions", self.instructions),
            ("data_reads", self.data_reads),
            ("data_writes", self.data_writes),
            ("i1_misses", self.i1_misses),
            ("d1_misses", self.d1_misses),
            ("ll_misses", self.ll_misses),
            ("conditional_branches", self.conditional_branches),
            ("conditional_mispredicts", self.conditional_mispredicts),
            ("indirect_branches", self.indirect_branches),
            ("indirect_mispredicts", self.indirect_mispredicts),
        ]
    }

    /// The same without what depends on where data lie: what has to be equal in every run, also in another environment.
    pub fn without_data_misses(self) -> Events {
        Events { d1_misses: 0, ll_misses: 0, ..self }
    }

    /// The names of the events in which two regions differ, with both counts.
    pub fn differences(&self, other: &Events) -> Vec<String> {
        let pairs = self.named().into_iter().zip(other.named());
        pairs
            .filter(|((_, one), (_, two))| one != two)
            .map(|((name, one), (_, two))| format!("{name} {one} and {two}"))
            .collect()
    }
}

impl AddAssign for Events {
    fn add_assign(&mut self, other: Events) {
        self.instructions += other.instructions;
        self.data_reads += other.data_reads;
        self.data_writes += other.data_writes;
        self.i1_misses += other.i1_misses;
        self.d1_misses += other.d1_misses;
        self.ll_misses += other.ll_misses;
        self.conditional_branches += other.conditional_branches;
        self.conditional_mispredicts += other.conditional_mispredicts;
        self.indirect_branches += other.indirect_branches;
        self.indirect_mispredicts += other.indirect_mispredicts;
    }
}

impl Add for Events {
    type Output = Events;
    fn add(mut self, other: Events) -> Events {
        self += other;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_callgrinds_events_has_its_place() {
        let mut events = Events::default();
        for (at, event) in
            ["Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "Bc", "Bcm", "Bi", "Bim"]
                .into_iter()
                .enumerate()
        {
            *events.field(event).expect("known") += 1 << at;
        }
        assert_eq!(events.named().map(|(_, count)| count).iter().sum::<u64>(), (1 << 13) - 1);
        assert_eq!(events.d1_misses, 0b11_0000);
        assert_eq!(events.ll_misses, 0b1_1100_0000);
        assert!(events.field("sysTime").is_none());
    }

    #[test]
    fn differences_are_named() {
        let one = Events { instructions: 5, d1_misses: 2, ..Events::default() };
        let two = Events { d1_misses: 3, ..one };
        assert_eq!(one.differences(&two), ["d1_misses 2 and 3"]);
        assert!(one.without_data_misses().differences(&two.without_data_misses()).is_empty());
        assert_eq!((one + two).instructions, 10);
    }
}
