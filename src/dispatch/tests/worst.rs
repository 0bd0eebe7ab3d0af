//! The bound on probes: never exceeded, reached where it can be, and not larger than it need be.

use proptest::prelude::*;

use super::{packets, specs};
use crate::dispatch::worst::most_probes;
use crate::dispatch::{Body, HandlerSet, HandlerSpec, Residual, SelectionArm, SelectionRecipe};
use crate::race::Watch;
use crate::traffic::Packet;

const TABLES: [SelectionArm; 3] =
    [SelectionArm::TableDirect16, SelectionArm::TableCompact, SelectionArm::HashMap];

fn set(specs: &[HandlerSpec]) -> HandlerSet {
    HandlerSet::from_specs(specs.to_vec(), Body::Tiny).unwrap()
}

fn most_counted(arm: SelectionArm, set: &HandlerSet, packets: &[Packet]) -> u32 {
    let recipe = SelectionRecipe::new(arm, set, None).unwrap();
    recipe.pass(packets, &Watch::new()).unwrap().probes.into_iter().max().unwrap()
}

fn low_bits(value: u8) -> Residual {
    Residual::Mask { offset: 0, mask: 3, value }
}

/// Handlers of one key with these predicates.
fn sharing(residuals: &[Residual]) -> HandlerSet {
    set(&residuals.iter().map(|&residual| HandlerSpec { key: 7, residual }).collect::<Vec<_>>())
}

/// Every first payload byte, for the shared key and for one that nobody claims.
fn every_first_byte() -> Vec<Packet> {
    let packet = |protocol, byte: u8| {
        let mut payload = [0; 24];
        payload[0] = byte;
        Packet { protocol, length: 32, flow: 0, payload }
    };
    (0..=255).flat_map(|byte| [packet(7, byte), packet(9, byte)]).collect()
}

#[test]
fn the_published_table_is_bounded_by_its_longest_list() {
    let published = HandlerSet::standard(100, Body::Tiny, 0.10, 7).unwrap();
    // Key 901 has four candidates, one for each value of two bits: a lookup, and four tests for the last.
    for arm in TABLES {
        assert_eq!(most_probes(arm, &published), 5, "{arm}");
    }
    for arm in [SelectionArm::Scan, SelectionArm::ScanMoveToFront, SelectionArm::ScanKeys] {
        assert_eq!(most_probes(arm, &published), 100, "{arm}");
    }
}

#[test]
fn a_bound_is_reached_by_some_packet_and_no_larger() {
    let never_reached = [low_bits(0), low_bits(1), low_bits(2), low_bits(3), low_bits(0), low_bits(1)];
    let cases = [
        // Somebody always matches by the fourth test, so the two behind are never tested.
        (sharing(&never_reached), 1 + 4),
        // Nobody may match: all three are tested.
        (sharing(&never_reached[..3]), 1 + 3),
        (sharing(&[low_bits(1), Residual::None, low_bits(2)]), 1 + 2),
        (sharing(&[Residual::None, low_bits(2)]), 1),
        (sharing(&[Residual::Flow { active: 0 }]), 1 + 1),
    ];
    for (set, bound) in cases {
        for arm in TABLES {
            assert_eq!(most_probes(arm, &set), bound, "{arm} {:?}", set.specs());
            assert_eq!(most_counted(arm, &set, &every_first_byte()), bound, "{arm} {:?}", set.specs());
        }
        let all = set.len() as u32;
        assert_eq!(most_probes(SelectionArm::Scan, &set), all);
        assert_eq!(most_counted(SelectionArm::Scan, &set, &every_first_byte()), all);
    }
}

proptest! {
    #[test]
    fn no_packet_exceeds_the_bound(specs in specs(), seed in any::<u64>()) {
        let set = set(&specs);
        let packets = packets(&set, 400, seed);
        for arm in SelectionArm::ALL {
            let (counted, bound) = (most_counted(arm, &set, &packets), most_probes(arm, &set));
            prop_assert!(counted <= bound, "{arm}: {counted} of at most {bound}");
        }
    }
}
