//! The least that dispatching a packet can cost; a figure below is an artefact.

use super::SelectionArm;
use crate::race::{Ceiling, Probes};

/// Every result goes through the checksum's multiply (3 cycles on every current core) and its xor before the next may:
/// Agner Fog's instruction tables; Arm's optimisation guides.
const FOLD_CYCLES: f64 = 4.0;

/// What every arm pays for the checksum, whatever it finds or calls.
pub fn fold() -> Ceiling {
    Ceiling {
        min_cycles: FOLD_CYCLES,
        formula: "fold: multiply and xor in a chain".into(),
        source: "Agner Fog's instruction tables".into(),
    }
}

/// What an arm that selects pays at least, with the probes that were counted of it.
pub fn selection(arm: SelectionArm, probes: Option<&Probes>) -> Ceiling {
    let calls = match arm {
        SelectionArm::Scan | SelectionArm::ScanOrdered => probes.map_or(0.0, |probes| probes.mean),
        _ => 0.0,
    };
    Ceiling {
        // A call and a return are two taken branches, and no core takes more than two a cycle.
        min_cycles: FOLD_CYCLES.max(calls),
        formula: "max(fold: multiply and xor in a chain, one cycle for each indirect call and its return)"
            .into(),
        source: "Agner Fog's instruction tables and microarchitecture manual".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_where_each_probe_is_one() {
        let probes = Probes::of(vec![50; 10], None);
        let cycles = |arm, probes| selection(arm, probes).min_cycles;
        assert_eq!(cycles(SelectionArm::Scan, Some(&probes)), 50.0);
        assert_eq!(cycles(SelectionArm::ScanOrdered, Some(&probes)), 50.0);
        assert_eq!(cycles(SelectionArm::ScanKeys, Some(&probes)), fold().min_cycles);
        let one = Probes::of(vec![1], None);
        assert_eq!(cycles(SelectionArm::Scan, Some(&one)), fold().min_cycles);
        assert_eq!(cycles(SelectionArm::Scan, None), fold().min_cycles);
    }
}
