//! The most probes that any packet can cost: a bound over all keys and payloads, which no clock is needed for.

use super::{HandlerSet, SelectionArm, expected};

/// The most probes that one packet can cost `arm` over `set`, whatever its key and payload, whatever came before it.
///
/// For scans that is every handler: 65,536 keys are more than any set claims, and an unclaimed one is asked of all. For
/// tables it is the lookup and the longest run of tests that some payload can cause, found by enumeration over everything
/// that the predicates can tell apart; where that is out of reach, the longest list, which no packet exceeds.
pub fn most_probes(arm: SelectionArm, set: &HandlerSet) -> u32 {
    match arm {
        SelectionArm::TableDirect16 | SelectionArm::TableCompact | SelectionArm::HashMap => {
            1 + expected::most_tests(set) as u32
        }
        _ => set.len() as u32,
    }
}
