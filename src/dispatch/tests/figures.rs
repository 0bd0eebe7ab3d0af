//! Figures that follow from the published definition, exactly.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{disjoint_specs, specs, uniform};
use crate::dispatch::expected::expected_probes;
use crate::dispatch::selection::{FIRST_SLOTS, TableCompact};
use crate::dispatch::{
    Body, HandlerSet, HandlerSpec, MAX_HANDLERS, MechanismArm, MechanismRecipe, Residual, SelectionArm,
    SelectionRecipe, order,
};
use crate::race::{Placement, Recipe, Watch};
use crate::traffic::Packet;

fn standard(n: usize) -> HandlerSet {
    HandlerSet::standard(n, Body::Tiny, 0.10, 7).unwrap()
}

/// Numbers of the residual handlers by their shared key.
fn groups(set: &HandlerSet) -> BTreeMap<u16, Vec<usize>> {
    let mut groups = BTreeMap::<u16, Vec<usize>>::new();
    for (n, spec) in set.specs().iter().enumerate() {
        if !spec.residual.is_none() {
            groups.entry(spec.key).or_default().push(n);
        }
    }
    groups
}

fn uniformly(arm: SelectionArm, set: &HandlerSet) -> f64 {
    expected_probes(arm, set, &vec![1.0; set.len()], 0.02).unwrap().unwrap()
}

#[test]
fn a_hundred_handlers_are_the_published_ones() {
    let set = standard(100);
    assert_eq!((set.len(), set.residual_count(), set.distinct_keys()), (100, 10, 93));
    let published = [(900, vec![27, 57, 87]), (901, vec![7, 37, 67, 97]), (902, vec![17, 47, 77])];
    assert_eq!(groups(&set), BTreeMap::from(published));
    for (n, spec) in set.specs().iter().enumerate() {
        let digit = ((n / 10) & 3) as u8;
        let expected = match n % 10 {
            7 => Residual::Mask { offset: 0, mask: 3, value: digit },
            _ => Residual::None,
        };
        assert_eq!(spec.residual, expected);
    }
    assert!(set.overlaps().is_empty());
}

#[test]
fn expected_probes_are_the_enumerated_ones() {
    for (n, expected) in [(10, "5.74"), (25, "13.95"), (50, "27.18"), (100, "52.18")] {
        let set = standard(n);
        assert_eq!(format!("{:.2}", uniformly(SelectionArm::Scan, &set)), expected);
        assert_eq!(format!("{:.2}", uniformly(SelectionArm::ScanKeys, &set)), expected);
    }
}

#[test]
fn counted_probes_come_close_to_the_expected() {
    let set = standard(100);
    let packets = uniform(&set, 100_000, 4);
    for arm in SelectionArm::ALL.into_iter().filter(|arm| arm.keeps_order()) {
        let recipe = SelectionRecipe::new(arm, &set, None).unwrap();
        let probes = recipe.pass(&packets, &Watch::new()).unwrap().probes;
        let mean = probes.iter().map(|&probes| f64::from(probes)).sum::<f64>() / packets.len() as f64;
        let square =
            probes.iter().map(|&probes| f64::from(probes).powi(2)).sum::<f64>() / packets.len() as f64;
        let error = ((square - mean * mean) / packets.len() as f64).sqrt();
        // Five standard errors: one false alarm in two million seeds, and the seed is fixed.
        assert!((mean - uniformly(arm, &set)).abs() < 5.0 * error, "{arm}: {mean}");
    }
}

#[test]
fn sorting_by_known_weights_is_expected_to_help_as_much_as_it_does() {
    let set = standard(100);
    let mut packets = uniform(&set, 50_000, 4);
    // Nineteen of twenty packets to two handlers at the end of the list.
    for (n, packet) in packets.iter_mut().enumerate().filter(|(n, _)| n % 20 != 0) {
        packet.protocol = if n % 2 == 0 { 98 } else { 99 };
    }
    let (counts, unmatched) = order::run_counts(&set, &packets, &Watch::new()).unwrap();
    let sorted = set.reordered(&order::frequency_order(&set, &packets, &Watch::new()).unwrap()).unwrap();
    let recipe = SelectionRecipe::new(SelectionArm::ScanOrdered, &set, None).unwrap();
    let probes: u64 =
        recipe.pass(&packets, &Watch::new()).unwrap().probes.iter().map(|&probes| u64::from(probes)).sum();
    let places: usize = sorted.order().iter().zip(1..).map(|(&id, place)| counts[id] * place).sum();
    assert_eq!(probes as usize, places + unmatched * set.len());
    assert!(probes < 5 * packets.len() as u64, "two hot handlers first, so few probes: {probes}");
}

#[test]
fn footprints_are_the_published_ones() {
    let ordinary = HandlerSet::standard(100, Body::Tiny, 0.0, 7).unwrap();
    let bytes =
        |arm, set: &HandlerSet| SelectionRecipe::new(arm, set, None).unwrap().footprint_bytes().unwrap();
    assert_eq!(bytes(SelectionArm::TableDirect16, &ordinary), 1 << 20);
    assert_eq!(bytes(SelectionArm::TableCompact, &ordinary), 24 << 10);
    let set = standard(100);
    // Ten candidates of 16 bytes besides.
    assert_eq!(bytes(SelectionArm::TableDirect16, &set), (1 << 20) + 160);
    assert_eq!(bytes(SelectionArm::TableCompact, &set), (24 << 10) + 160);
    for arm in [
        SelectionArm::Scan,
        SelectionArm::ScanOrdered,
        SelectionArm::ScanTranspose,
        SelectionArm::ScanMoveToFront,
    ] {
        assert_eq!(bytes(arm, &set), 1600);
    }
    assert_eq!(bytes(SelectionArm::ScanKeys, &set), 100 * (2 + 1 + 16));
    // 93 keys need 128 buckets of 24 bytes and one control byte.
    assert_eq!(bytes(SelectionArm::HashMap, &set), 128 * 25 + 16 + 160);
    let mechanism = MechanismRecipe::new(MechanismArm::Direct, &set).unwrap();
    assert_eq!(mechanism.footprint_bytes(), Some((24 << 10) + 160));
}

#[test]
fn a_compact_table_grows_until_keys_are_apart() {
    let slots = |keys: &[u16]| {
        let specs = keys.iter().map(|&key| HandlerSpec { key, residual: Residual::None }).collect();
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        TableCompact::build(&set, None, &mut Placement::new(0)).unwrap().slots()
    };
    assert_eq!(slots(&[0, 1023]), FIRST_SLOTS);
    assert_eq!(slots(&[0, 1024]), 2048);
    assert_eq!(slots(&[5, 5 + 1024, 5 + 2048]), 4096);
    assert_eq!(slots(&[0, 1 << 15]), 1 << 16);
}

#[test]
fn beyond_a_hundred_handlers_shared_keys_stay_above_the_ordinary_and_below_the_unmatched() {
    for n in [101, 128, 250, 512, 1000, MAX_HANDLERS] {
        let set = standard(n);
        let groups = groups(&set);
        assert_eq!(set.residual_count(), (0..n).filter(|n| n % 10 == 7).count());
        assert!(groups.values().all(|group| (3..=4).contains(&group.len())), "{n}: {groups:?}");
        assert!(groups.keys().all(|&key| usize::from(key) >= n.max(900) && key < 4096));
        assert!(set.overlaps().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_share_gives_that_many_residual_handlers(n in 1..=MAX_HANDLERS, share in 0.0..=1.0_f64, seed: u64) {
        prop_assume!(share != 0.10);
        let set = HandlerSet::standard(n, Body::Tiny, share, seed).unwrap();
        prop_assert_eq!(set.residual_count(), (share * n as f64).round() as usize);
        prop_assert!(set.overlaps().is_empty());
        let sizes: Vec<usize> = groups(&set).values().map(Vec::len).collect();
        prop_assert!(sizes.iter().all(|&size| size <= 4));
        prop_assert_eq!(sizes.len(), set.residual_count().div_ceil(4));
        let again = HandlerSet::standard(n, Body::Tiny, share, seed).unwrap();
        prop_assert_eq!(again.specs(), set.specs());
    }

    /// Against packets that take every value of the bytes and flows that are read.
    #[test]
    fn expected_probes_equal_an_exhaustive_count(
        low in 0_u8..=255, high in 0_u8..=255, mask: u8, value: u8, active: u64, last_is_ordinary: bool,
        heavy in 1.0..9.0_f64, unmatched in 0.0..1.0_f64,
    ) {
        let residuals = [
            Residual::Range { offset: 3, low: low.min(high), high: low.max(high) },
            Residual::Flow { active },
            Residual::Mask { offset: 3, mask, value: value & mask },
            if last_is_ordinary { Residual::None } else { Residual::Flow { active: !active & 0xFFFF_FFFF } },
        ];
        let mut specs: Vec<HandlerSpec> =
            residuals.into_iter().map(|residual| HandlerSpec { key: 6, residual }).collect();
        specs.insert(1, HandlerSpec { key: 17, residual: Residual::None });
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        let weights = [1.0, heavy, 2.0, 0.0, 0.5];
        for arm in SelectionArm::ALL.into_iter().filter(|arm| arm.keeps_order()) {
            let recipe = SelectionRecipe::new(arm, &set, None).unwrap();
            let mean = |protocol: u16| {
                let packets: Vec<Packet> = (0..256 * 64_u32).map(|n| {
                    let mut packet = Packet { protocol, length: 0, flow: n / 256, payload: [0; 24] };
                    packet.payload[3] = n as u8;
                    packet
                }).collect();
                let probes = recipe.pass(&packets, &Watch::new()).unwrap().probes;
                probes.iter().map(|&probes| f64::from(probes)).sum::<f64>() / packets.len() as f64
            };
            let matched = (3.5 * mean(6) + heavy * mean(17)) / (3.5 + heavy);
            let exhaustive = (1.0 - unmatched) * matched + unmatched * mean(99);
            let expected = expected_probes(arm, &set, &weights, unmatched).unwrap().unwrap();
            prop_assert!((expected - exhaustive).abs() < 1e-9, "{}: {} {}", arm, expected, exhaustive);
        }
    }

    #[test]
    fn overlaps_are_those_that_packets_find(specs in specs()) {
        // Necessary: where two handlers match one packet, the pair is listed.
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        let overlaps = set.overlaps();
        for packet in super::packets(&set, 200, 1) {
            let matching: Vec<usize> = (0..set.len())
                .filter(|&n| crate::dispatch::reference::matches(set.specs()[n], &packet))
                .collect();
            for (at, &a) in matching.iter().enumerate() {
                for &b in &matching[at + 1..] {
                    prop_assert!(overlaps.contains(&(a, b)));
                }
            }
        }
    }

    #[test]
    fn where_nothing_overlaps_order_changes_nobody(specs in disjoint_specs(), seed: u64) {
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        let reversed: Vec<usize> = (0..set.len()).rev().collect();
        let packets = super::packets(&set, 100, seed);
        prop_assert_eq!(order::changed_handlers(&set, &packets, set.order(), &reversed, &Watch::new()).unwrap(), 0);
    }
}

#[test]
fn overlaps_are_exact_on_one_byte_and_on_flows() {
    let overlap = |a, b| {
        let specs = [a, b].map(|residual| HandlerSpec { key: 6, residual }).to_vec();
        !HandlerSet::from_specs(specs, Body::Tiny).unwrap().overlaps().is_empty()
    };
    let mask = |mask, value| Residual::Mask { offset: 0, mask, value };
    let range = |low, high| Residual::Range { offset: 0, low, high };
    let flow = |active| Residual::Flow { active };
    assert!(!overlap(mask(3, 1), mask(3, 2)));
    assert!(overlap(mask(3, 1), mask(4, 4)));
    assert!(!overlap(range(1, 3), range(4, 9)));
    assert!(overlap(range(1, 4), range(4, 9)));
    assert!(!overlap(mask(1, 1), range(2, 2)));
    assert!(!overlap(flow(0b01), flow(0b10)));
    assert!(overlap(flow(0b11), flow(0b10)));
    assert!(overlap(flow(1), mask(3, 1)));
    assert!(!overlap(flow(0), Residual::None));
    assert!(overlap(Residual::None, mask(0xFF, 7)));
    assert!(overlap(Residual::None, Residual::None));
}

#[test]
fn a_law_out_of_reach_is_not_guessed() {
    let specs = (0..24)
        .flat_map(|offset| {
            (0..4).map(move |digit| HandlerSpec {
                key: 6,
                residual: Residual::Mask { offset, mask: 3, value: digit },
            })
        })
        .collect();
    let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
    assert_eq!(expected_probes(SelectionArm::Scan, &set, &[1.0; 96], 0.0).unwrap(), None);
    // Few combinations, but a thousand predicates to look at in each.
    let specs = (0..MAX_HANDLERS)
        .map(|n| HandlerSpec {
            key: 6,
            residual: Residual::Mask { offset: (n % 10) as u8, mask: 3, value: (n / 10 % 4) as u8 },
        })
        .collect();
    let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
    assert_eq!(expected_probes(SelectionArm::Scan, &set, &[1.0; MAX_HANDLERS], 0.0).unwrap(), None);
    // And out of reach only together: each key by itself takes a twentieth of the steps.
    let many = |keys: u16| {
        let specs = (0..keys)
            .flat_map(|key| (0..32_u8).map(move |n| (key, n)))
            .map(|(key, n)| HandlerSpec {
                key,
                residual: Residual::Mask { offset: n % 6, mask: 3, value: n / 6 % 4 },
            })
            .collect();
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        expected_probes(SelectionArm::Scan, &set, &vec![1.0; set.len()], 0.0).unwrap()
    };
    assert!(many(1).is_some() && many(32).is_none());
    let mtf = expected_probes(SelectionArm::ScanMoveToFront, &standard(10), &[1.0; 10], 0.0);
    assert_eq!(mtf.unwrap(), None);
}
