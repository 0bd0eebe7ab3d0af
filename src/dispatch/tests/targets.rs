//! Indirect calls in an order of choice: sequences, results, refusals.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{packets, whole};
use crate::dispatch::{Body, HandlerSet, TargetOrder, TargetsRecipe, TargetsReference};
use crate::race::{Placement, Recipe, Reference, Source, Watch, Window};
use crate::{Error, dispatch};

fn set(targets: usize, body: Body) -> HandlerSet {
    HandlerSet::standard(targets, body, 0.0, 0).unwrap()
}

fn recipe(set: &HandlerSet, order: TargetOrder, count: usize, seed: u64) -> TargetsRecipe {
    TargetsRecipe::new(set, order, count, seed, &Watch::new()).unwrap()
}

#[test]
fn sequences_are_what_they_say() {
    let set = set(7, Body::Tiny);
    assert!(recipe(&set, TargetOrder::One, 500, 1).sequence().iter().all(|&target| target == 0));
    let periodic = recipe(&set, TargetOrder::Periodic, 500, 1);
    assert!(periodic.sequence().iter().enumerate().all(|(at, &target)| usize::from(target) == at % 7));
    let random = recipe(&set, TargetOrder::Random, 7000, 1);
    let count = |wanted| random.sequence().iter().filter(|&&target| target == wanted).count();
    // A thousand each, give or take five standard deviations.
    assert!((0..7).all(|target| count(target).abs_diff(1000) < 150));
    // What follows a target is as likely any: a periodic order would have a single successor.
    let pairs: BTreeSet<[u16; 2]> = random.sequence().windows(2).map(|pair| [pair[0], pair[1]]).collect();
    assert_eq!(pairs.len(), 49);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn arms_call_what_the_reference_says(targets in 1usize..200, first in 0usize..300, count in 0usize..300, seed: u64) {
        for body in [Body::Tiny, Body::Fat] {
            let set = set(targets, body);
            let source = Source::from_items(packets(&set, 600, seed));
            let mut placement = Placement::new(seed);
            let input = source.place(&mut placement).unwrap();
            for order in TargetOrder::ALL {
                let recipe = recipe(&set, order, 600, seed);
                let mut arm = recipe.build(&input, &mut placement).unwrap();
                let window = Window { first, count };
                prop_assert_eq!(arm.run(window), TargetsReference::new(&recipe).checksum(&source, window));
            }
        }
    }
}

#[test]
fn targets_are_numbers_not_places_in_the_list() {
    let listed = set(5, Body::Tiny);
    let reordered = listed.reordered(&[4, 2, 0, 1, 3]).unwrap();
    let source = Source::from_items(packets(&listed, 100, 1));
    let fold = |set: &HandlerSet| {
        let mut placement = Placement::new(1);
        let input = source.place(&mut placement).unwrap();
        recipe(set, TargetOrder::Periodic, 100, 1).build(&input, &mut placement).unwrap().run(whole(&source))
    };
    assert_eq!(fold(&listed), fold(&reordered));
}

/// Another order of the same calls folds to something else: an arm that kept to one target would be found.
#[test]
fn orders_are_told_apart_by_their_results() {
    let set = set(5, Body::Tiny);
    let source = Source::from_items(packets(&set, 100, 1));
    let sums: Vec<_> = TargetOrder::ALL
        .map(|order| TargetsReference::new(&recipe(&set, order, 100, 1)).checksum(&source, whole(&source)))
        .to_vec();
    assert!(sums[0] != sums[1] && sums[1] != sums[2] && sums[0] != sums[2], "{sums:?}");
}

/// Layouts of an order are different code, so that one order's calls aren't predicted by another's.
#[test]
fn no_two_orders_share_a_call_site() {
    let loops: Vec<usize> =
        TargetOrder::ALL.into_iter().flat_map(dispatch::targets::loop_addresses).collect();
    let distinct: BTreeSet<usize> = loops.iter().copied().collect();
    assert_eq!((loops.len(), distinct.len()), (24, 24));
}

#[test]
fn a_pool_past_the_order_is_refused_and_a_stop_is_heard() {
    let set = set(5, Body::Tiny);
    let source = Source::from_items(packets(&set, 101, 1));
    let mut placement = Placement::new(1);
    let input = source.place(&mut placement).unwrap();
    let Err(Error::InvalidArgument { name, .. }) =
        recipe(&set, TargetOrder::One, 100, 1).build(&input, &mut placement)
    else {
        panic!("taken");
    };
    assert_eq!(name, "packets");
    let watch = Watch::new();
    watch.stop();
    let stopped = TargetsRecipe::new(&set, TargetOrder::Random, 100, 1, &watch);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn code_sizes_come_from_symbols() {
    let bytes = |body, count| dispatch::footprint::process_bytes(&set(count, body)).unwrap();
    let (fat, tiny) = (bytes(Body::Fat, 100), bytes(Body::Tiny, 100));
    assert_eq!((fat.functions, tiny.functions), (100, 100));
    // 48 rounds with two 64-bit constants each can't be smaller; the public kata's are 1,800 bytes.
    assert!((1200.0..4000.0).contains(&fat.each()), "{fat:?}");
    assert!((40.0..300.0).contains(&tiny.each()), "{tiny:?}");
    assert_eq!(fat.fit(fat.total), 100);
    assert_eq!(bytes(Body::Identical, 100).functions, 1);
}
