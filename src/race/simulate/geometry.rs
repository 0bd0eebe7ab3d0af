//! The caches that are simulated: the card's, as far as the simulator can have them.

use serde::Serialize;

use crate::machine::{CacheKind, Card};

/// One simulated cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SimulatedCache {
    /// Its capacity.
    pub bytes: usize,
    /// Its associativity.
    pub ways: usize,
    /// Its line.
    pub line_bytes: usize,
}

/// The two levels that callgrind simulates: split first level, and one last level that holds both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Geometry {
    /// First level, instructions.
    pub i1: SimulatedCache,
    /// First level, data.
    pub d1: SimulatedCache,
    /// Last level.
    pub ll: SimulatedCache,
    /// Where the simulated caches differ from this machine's, and why; a sentence each.
    pub departures: Vec<String>,
}

/// Simulated where the system tells nothing. The first level of Intel's cores from Sandy Bridge to Coffee Lake and of AMD's
/// from Zen 2 on (32 KiB, 8 ways, 64-byte lines; the makers' optimisation manuals), and a last level of a common size.
const UNKNOWN_L1: SimulatedCache = SimulatedCache { bytes: 32 << 10, ways: 8, line_bytes: 64 };
const UNKNOWN_LL: SimulatedCache = SimulatedCache { bytes: 8 << 20, ways: 16, line_bytes: 64 };

/// Shortest line that the simulator takes (`MIN_LINE_SIZE` in valgrind's `cg-arch.c`): no instruction may lie in three.
const LEAST_LINE_BYTES: usize = 16;

impl Geometry {
    /// What the card says, made acceptable to the simulator: sets, and so sizes, are powers of two apart from the ways.
    pub fn of(card: &Card) -> Geometry {
        let mut departures = Vec::new();
        let i1 = first_level(card, CacheKind::Instruction, "I1", &mut departures);
        let d1 = first_level(card, CacheKind::Data, "D1", &mut departures);
        let last = card.caches.iter().filter(|cache| cache.kind == CacheKind::Unified);
        let last = last.max_by_key(|cache| (cache.level, cache.bytes));
        let ll = match last {
            Some(cache) => {
                let given = (cache.bytes, cache.ways, cache.line_bytes);
                acceptable("LL", given, UNKNOWN_LL, &mut departures)
            }
            None => unknown("LL", UNKNOWN_LL, &mut departures),
        };
        let between = card.caches.iter().any(|cache| {
            cache.kind == CacheKind::Unified && last.is_some_and(|last| cache.level < last.level)
        });
        if between {
            departures.push("levels between the first and the last aren't simulated".into());
        }
        Geometry { i1, d1, ll, departures }
    }

    /// valgrind's options for it.
    pub(super) fn options(&self) -> [String; 3] {
        [("I1", self.i1), ("D1", self.d1), ("LL", self.ll)]
            .map(|(name, cache)| format!("--{name}={},{},{}", cache.bytes, cache.ways, cache.line_bytes))
    }
}

fn first_level(card: &Card, kind: CacheKind, name: &str, departures: &mut Vec<String>) -> SimulatedCache {
    // The smallest, where cores differ: what fits there fits everywhere.
    let caches = card.caches.iter().filter(|cache| cache.level == 1 && cache.kind == kind);
    match caches.min_by_key(|cache| cache.bytes) {
        Some(cache) => acceptable(name, (cache.bytes, cache.ways, cache.line_bytes), UNKNOWN_L1, departures),
        None => unknown(name, UNKNOWN_L1, departures),
    }
}

fn unknown(name: &str, instead: SimulatedCache, departures: &mut Vec<String>) -> SimulatedCache {
    departures
        .push(format!("{name}: this system doesn't tell its geometry; {} is simulated", spoken(instead)));
    instead
}

/// The nearest geometry that the simulator takes (`check_cache` in valgrind's `cg-arch.c`): a power of two of sets, and of
/// bytes a line, at least sixteen of them.
fn acceptable(
    name: &str,
    (bytes, ways, line_bytes): (usize, Option<usize>, Option<usize>),
    otherwise: SimulatedCache,
    departures: &mut Vec<String>,
) -> SimulatedCache {
    let mut assumed = Vec::new();
    let known_line = line_bytes.filter(|line| line.is_power_of_two() && *line >= LEAST_LINE_BYTES);
    let line_bytes = known_line.unwrap_or_else(|| {
        assumed.push("line");
        otherwise.line_bytes
    });
    let lines = (bytes / line_bytes).max(1);
    let ways = ways.filter(|ways| (1..=lines).contains(ways)).unwrap_or_else(|| {
        assumed.push("associativity");
        otherwise.ways.min(lines)
    });
    let sets = (lines / ways).max(1);
    // Down, not to the nearest: a working set that is said to fit then fits the real cache too.
    let simulated = 1 << sets.ilog2();
    let cache = SimulatedCache { bytes: simulated * ways * line_bytes, ways, line_bytes };
    if !assumed.is_empty() {
        departures.push(format!(
            "{name}: this system doesn't tell its {}; {} is simulated",
            assumed.join(" and "),
            spoken(cache)
        ));
    } else if cache.bytes != bytes {
        departures.push(format!(
            "{name}: {bytes} bytes in {ways} ways make {sets} sets, and the simulator takes a power of two; {} is \
             simulated",
            spoken(cache)
        ));
    }
    cache
}

fn spoken(cache: SimulatedCache) -> String {
    format!("{} bytes, {} ways, {}-byte lines", cache.bytes, cache.ways, cache.line_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::machine::Cache;

    fn cache(level: u8, kind: CacheKind, bytes: usize, ways: Option<usize>, line: Option<usize>) -> Cache {
        Cache { level, kind, bytes, line_bytes: line, ways, sets: None, cpus: Vec::new() }
    }

    fn card(caches: Vec<Cache>) -> Card {
        Card { caches, ..Card::blank() }
    }

    #[test]
    fn an_acceptable_geometry_is_taken_as_it_is() {
        let geometry = Geometry::of(&card(vec![
            cache(1, CacheKind::Data, 48 << 10, Some(12), Some(64)),
            cache(1, CacheKind::Instruction, 32 << 10, Some(8), Some(64)),
            cache(3, CacheKind::Unified, 32 << 20, Some(16), Some(64)),
        ]));
        assert_eq!(geometry.options(), ["--I1=32768,8,64", "--D1=49152,12,64", "--LL=33554432,16,64"]);
        assert!(geometry.departures.is_empty(), "{:?}", geometry.departures);
    }

    #[test]
    fn sets_that_are_no_power_of_two_are_rounded_down_and_said() {
        let geometry = Geometry::of(&card(vec![
            cache(1, CacheKind::Data, 32 << 10, Some(8), Some(64)),
            cache(1, CacheKind::Instruction, 32 << 10, Some(8), Some(64)),
            cache(2, CacheKind::Unified, 1 << 20, Some(8), Some(64)),
            cache(3, CacheKind::Unified, 36 << 20, Some(12), Some(64)),
        ]));
        assert_eq!(geometry.ll, SimulatedCache { bytes: 24 << 20, ways: 12, line_bytes: 64 });
        let [sets, between] = &geometry.departures[..] else { panic!("{:?}", geometry.departures) };
        assert!(sets.starts_with("LL: 37748736 bytes in 12 ways make 49152 sets"), "{sets}");
        assert!(between.contains("between"), "{between}");
    }

    #[test]
    fn what_the_system_does_not_tell_is_assumed_and_said() {
        let nothing = Geometry::of(&card(Vec::new()));
        assert_eq!((nothing.i1, nothing.d1, nothing.ll), (UNKNOWN_L1, UNKNOWN_L1, UNKNOWN_LL));
        assert_eq!(nothing.departures.len(), 3);
        let half = Geometry::of(&card(vec![cache(1, CacheKind::Data, 64 << 10, None, None)]));
        assert_eq!(half.d1, SimulatedCache { bytes: 64 << 10, ways: 8, line_bytes: 64 });
        assert!(half.departures.iter().any(|line| line.starts_with("D1") && line.contains("line and assoc")));
    }

    proptest! {
        #[test]
        fn whatever_the_card_says_the_simulator_takes_it(
            bytes in 0usize..1 << 30,
            ways in proptest::option::of(0usize..64),
            line in proptest::option::of(0usize..512),
        ) {
            let mut departures = Vec::new();
            let cache = acceptable("D1", (bytes, ways, line), UNKNOWN_L1, &mut departures);
            prop_assert!(cache.line_bytes.is_power_of_two() && cache.line_bytes >= LEAST_LINE_BYTES);
            prop_assert!(cache.ways >= 1 && cache.bytes.is_multiple_of(cache.ways * cache.line_bytes));
            prop_assert!((cache.bytes / cache.ways / cache.line_bytes).is_power_of_two());
            prop_assert!(cache.bytes <= bytes.max(cache.line_bytes));
            prop_assert_eq!(departures.is_empty(), cache.bytes == bytes && Some(cache.ways) == ways && Some(cache.line_bytes) == line);
        }
    }
}
