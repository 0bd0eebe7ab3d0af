//! Which CPUs share what: cores, SMT siblings, core types.

use serde::Serialize;

/// What kind of core it is, where the machine has several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CoreType {
    /// A fast core of a hybrid machine.
    Performance,
    /// The machine has one kind of core, as far as the system tells.
    Uniform,
    /// The system doesn't tell.
    Unknown,
    /// A slow or thrifty core of a hybrid machine.
    Efficiency,
}

/// One physical core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Core {
    /// Its logical CPUs, ascending: one, or the SMT siblings.
    pub cpus: Vec<usize>,
    /// What kind it is.
    pub core_type: CoreType,
    /// The socket, where known.
    pub package: Option<usize>,
    /// The kernel's relative capacity, 1,024 for the fastest, where known.
    pub capacity: Option<usize>,
}

/// All physical cores that are online, in the order of their first CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Topology {
    /// The cores.
    pub cores: Vec<Core>,
}

impl Topology {
    /// How many physical cores there are; SMT siblings count once.
    pub fn physical_cores(&self) -> usize {
        self.cores.len()
    }

    /// The core that a logical CPU belongs to.
    pub fn core_of(&self, cpu: usize) -> Option<&Core> {
        self.cores.iter().find(|core| core.cpus.contains(&cpu))
    }

    /// The other logical CPUs of `cpu`'s core; empty without SMT, or where the CPU is unknown.
    pub fn siblings(&self, cpu: usize) -> Vec<usize> {
        let core = self.core_of(cpu).map(|core| core.cpus.as_slice()).unwrap_or_default();
        core.iter().copied().filter(|&other| other != cpu).collect()
    }

    /// Whether two logical CPUs are one core (a CPU shares its core with itself). `false` for unknown CPUs.
    pub fn shares_core(&self, a: usize, b: usize) -> bool {
        self.core_of(a).is_some_and(|core| core.cpus.contains(&b))
    }

    /// What kind of core a CPU is on; [`CoreType::Unknown`] if the CPU is.
    pub fn core_type(&self, cpu: usize) -> CoreType {
        self.core_of(cpu).map_or(CoreType::Unknown, |core| core.core_type)
    }

    /// `cpus` from the best to measure on to the worst: performance cores before efficiency cores, CPU 0 last of its
    /// kind (it takes most interrupts and housekeeping) and its SMT siblings next to last; otherwise ascending.
    pub fn by_preference(&self, cpus: &[usize]) -> Vec<usize> {
        let mut sorted = cpus.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.sort_by_key(|&cpu| {
            let near_cpu_0 = if cpu == 0 { 2 } else { usize::from(self.shares_core(cpu, 0)) };
            (self.core_type(cpu), near_cpu_0, cpu)
        });
        sorted
    }

    /// The first `count` of [`Topology::by_preference`] that lie on different physical cores of one kind, or `None` if
    /// there aren't so many: for experiments with several threads, where siblings would share what they measure.
    pub fn distinct_cores(&self, cpus: &[usize], count: usize) -> Option<Vec<usize>> {
        let preferred = self.by_preference(cpus);
        let kinds = preferred.iter().map(|&cpu| self.core_type(cpu)).collect::<Vec<_>>();
        for kind in
            kinds.iter().enumerate().filter(|(i, kind)| !kinds[..*i].contains(kind)).map(|(_, kind)| *kind)
        {
            let mut chosen: Vec<usize> = Vec::new();
            for &cpu in preferred.iter().filter(|&&cpu| self.core_type(cpu) == kind) {
                if chosen.len() < count && !chosen.iter().any(|&other| self.shares_core(other, cpu)) {
                    chosen.push(cpu);
                }
            }
            if chosen.len() == count {
                return Some(chosen);
            }
        }
        None
    }

    /// Why two threads can't have a core of one kind each among `cpus`; `None` if they can.
    pub fn why_no_pair(&self, cpus: &[usize]) -> Option<String> {
        if self.distinct_cores(cpus, 2).is_some() {
            return None;
        }
        let preferred = self.by_preference(cpus);
        let named = preferred.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        Some(match preferred.as_slice() {
            [] => "no CPU is allowed".into(),
            [_] => format!("CPU {named} is the only one allowed"),
            [first, rest @ ..] if rest.iter().all(|&cpu| self.shares_core(*first, cpu)) => {
                format!("the CPUs allowed ({named}) are hardware threads of one core")
            }
            _ => format!("the CPUs allowed ({named}) are on cores of different kinds, one of each"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn topology(cores: &[(&[usize], CoreType)]) -> Topology {
        let core = |&(cpus, core_type): &(&[usize], CoreType)| Core {
            cpus: cpus.to_vec(),
            core_type,
            package: None,
            capacity: None,
        };
        Topology { cores: cores.iter().map(core).collect() }
    }

    #[test]
    fn siblings_and_counts() {
        let t = topology(&[
            (&[0, 4], CoreType::Uniform),
            (&[1, 5], CoreType::Uniform),
            (&[2], CoreType::Uniform),
        ]);
        assert_eq!(t.physical_cores(), 3);
        assert_eq!(t.siblings(4), [0]);
        assert!(t.siblings(2).is_empty());
        assert!(t.siblings(99).is_empty());
        assert!(t.shares_core(1, 5) && t.shares_core(5, 1) && t.shares_core(2, 2));
        assert!(!t.shares_core(0, 1) && !t.shares_core(99, 99));
    }

    #[test]
    fn a_missing_pair_is_explained() {
        let t = topology(&[
            (&[0, 1], CoreType::Performance),
            (&[2, 3], CoreType::Performance),
            (&[4], CoreType::Efficiency),
        ]);
        let why = |cpus: &[usize]| t.why_no_pair(cpus).expect("no pair");
        assert_eq!(t.why_no_pair(&[1, 2]), None);
        assert_eq!(why(&[]), "no CPU is allowed");
        assert_eq!(why(&[3]), "CPU 3 is the only one allowed");
        assert_eq!(why(&[2, 3]), "the CPUs allowed (2, 3) are hardware threads of one core");
        assert_eq!(
            why(&[4, 2, 3]),
            "the CPUs allowed (2, 3, 4) are on cores of different kinds, one of each"
        );
    }

    #[test]
    fn cpu_0_and_its_sibling_come_last_of_their_kind() {
        let t = topology(&[
            (&[0, 1], CoreType::Performance),
            (&[2, 3], CoreType::Performance),
            (&[4], CoreType::Efficiency),
        ]);
        assert_eq!(t.by_preference(&[4, 3, 2, 1, 0]), [2, 3, 1, 0, 4]);
        assert_eq!(t.by_preference(&[0, 4]), [0, 4], "a fast CPU 0 beats a slow core");
        assert_eq!(t.distinct_cores(&[0, 1, 2, 3, 4], 2), Some(vec![2, 1]));
        assert_eq!(t.distinct_cores(&[0, 1, 2, 3, 4], 3), None, "two kinds aren't mixed");
        assert_eq!(t.distinct_cores(&[2, 3], 2), None, "siblings aren't two cores");
        assert_eq!(t.distinct_cores(&[4], 1), Some(vec![4]));
    }

    proptest! {
        #[test]
        fn preference_only_reorders(mut cpus in proptest::collection::btree_set(0..12usize, 0..12)) {
            let t = topology(&[
                (&[0, 1], CoreType::Performance), (&[2, 3], CoreType::Performance), (&[4], CoreType::Efficiency),
            ]);
            for cpu in t.by_preference(&cpus.iter().copied().collect::<Vec<_>>()) {
                prop_assert!(cpus.remove(&cpu));
            }
            prop_assert!(cpus.is_empty());
        }
    }
}
