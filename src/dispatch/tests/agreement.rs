//! Every arm computes what the plain reference computes.

use proptest::prelude::*;

use proptest::collection::vec;

use super::{disjoint_specs, key, packets, residual, specs, whole};
use crate::dispatch::{
    Body, DirectReference, HandlerSet, HandlerSpec, KNOWN_SIZES, MechanismArm, MechanismRecipe, NullRecipe,
    NullReference, ProposalArm, ProposalRecipe, ScanReference, SelectionArm, SelectionRecipe, reference,
};
use crate::race::{Checksum, Placement, Recipe, Reference, Settle, Source, Watch, Window};
use crate::traffic::Packet;

fn bodies() -> impl Strategy<Value = Body> {
    prop_oneof![Just(Body::Fat), Just(Body::Tiny), Just(Body::Identical)]
}

/// Builds an arm and replays two windows and then everything.
fn replayed(recipe: &dyn Recipe, source: &Source, seed: u64) -> [(Window, Checksum); 3] {
    let mut placement = Placement::new(seed);
    let input = source.place(&mut placement).unwrap();
    let mut arm = recipe.build(&input, &mut placement).unwrap();
    let half = source.operations() / 2;
    [Window { first: 0, count: half }, Window { first: half, count: 7 }, whole(source)]
        .map(|window| (window, arm.run(window)))
}

fn agrees(recipe: &dyn Recipe, reference: &dyn Reference, source: &Source, seed: u64) -> bool {
    replayed(recipe, source, seed).iter().all(|&(window, sum)| sum == reference.checksum(source, window))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_selection_agrees_where_nothing_overlaps(
        specs in disjoint_specs(), body in bodies(), seed: u64, shuffle: u64,
    ) {
        let set = shuffled(&HandlerSet::from_specs(specs, body).unwrap(), shuffle);
        prop_assert!(set.overlaps().is_empty());
        let packets = packets(&set, 300, seed);
        let source = Source::from_items(packets.clone());
        let reference = ScanReference::new(&set);
        for arm in SelectionArm::ALL {
            let recipe = SelectionRecipe::new(arm, &set, None).unwrap();
            prop_assert!(agrees(&recipe, &reference, &source, seed), "{arm}");
            let pass = recipe.pass(&packets, &Watch::new()).unwrap();
            prop_assert_eq!(pass.checksum, reference.checksum(&source, whole(&source)), "{}", arm);
            prop_assert_eq!(&pass.handlers, &who_runs(&set, &packets));
        }
    }

    #[test]
    fn selections_that_keep_order_agree_on_overlaps(specs in specs(), seed: u64, shuffle: u64) {
        let set = shuffled(&HandlerSet::from_specs(specs, Body::Tiny).unwrap(), shuffle);
        let packets = packets(&set, 300, seed);
        let source = Source::from_items(packets);
        let reference = ScanReference::new(&set);
        for arm in SelectionArm::ALL.into_iter().filter(|arm| arm.keeps_order()) {
            let recipe = SelectionRecipe::new(arm, &set, None).unwrap();
            prop_assert!(agrees(&recipe, &reference, &source, seed), "{arm}");
        }
    }

    #[test]
    fn mechanisms_and_floor_agree_with_their_references(specs in specs(), body in bodies(), seed: u64) {
        let set = HandlerSet::from_specs(specs, body).unwrap();
        let source = Source::from_items(packets(&set, 300, seed));
        let scan = ScanReference::new(&set);
        let direct = DirectReference::new(&set);
        for arm in MechanismArm::ALL.into_iter().filter(|arm| arm.refuses(&set).is_none()) {
            let recipe = MechanismRecipe::new(arm, &set).unwrap();
            let reference: &dyn Reference = if arm == MechanismArm::Direct { &direct } else { &scan };
            prop_assert!(agrees(&recipe, reference, &source, seed), "{arm}");
        }
        prop_assert!(agrees(&NullRecipe::new(&set), &NullReference::new(&set), &source, seed));
    }

    #[test]
    fn what_is_known_when_compiled_agrees_too(
        size in prop::sample::select(KNOWN_SIZES.to_vec()),
        body in prop_oneof![Just(Body::Fat), Just(Body::Tiny)],
        seed: u64,
    ) {
        let set = HandlerSet::standard(size, body, 0.10, seed).unwrap();
        let source = Source::from_items(packets(&set, 300, seed));
        let scan = ScanReference::new(&set);
        for arm in [MechanismArm::StaticMatch, MechanismArm::StaticInlined] {
            prop_assert_eq!(arm.refuses(&set).is_some(), arm == MechanismArm::StaticInlined && size == 1024);
            if arm.refuses(&set).is_none() {
                let recipe = MechanismRecipe::new(arm, &set).unwrap();
                prop_assert!(agrees(&recipe, &scan, &source, seed), "{arm}");
            }
        }
        for arm in ProposalArm::ALL.into_iter().filter(|arm| arm.refuses(&set).is_none()) {
            let recipe = ProposalRecipe::new(arm, &set).unwrap();
            prop_assert!(agrees(&recipe, &scan, &source, seed), "{arm}");
        }
    }

    /// Any keys and predicates, overlapping ones too, in any order: proposals keep the loop's order.
    #[test]
    fn proposals_agree_with_the_scan(specs in specs(), body in bodies(), seed: u64, shuffle: u64) {
        let set = shuffled(&HandlerSet::from_specs(specs, body).unwrap(), shuffle);
        let source = Source::from_items(packets(&set, 300, seed));
        let reference = ScanReference::new(&set);
        for arm in ProposalArm::ALL.into_iter().filter(|arm| arm.refuses(&set).is_none()) {
            let recipe = ProposalRecipe::new(arm, &set).unwrap();
            prop_assert!(agrees(&recipe, &reference, &source, seed), "{arm}");
        }
    }

    /// Known types with objects of their own: keys and predicates are whatever they are.
    #[test]
    fn known_types_take_any_keys(
        specs in vec((key(), residual()).prop_map(|(key, residual)| HandlerSpec { key, residual }), 25),
        seed: u64,
    ) {
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        let source = Source::from_items(packets(&set, 300, seed));
        let recipe = ProposalRecipe::new(ProposalArm::Static, &set).unwrap();
        prop_assert!(agrees(&recipe, &ScanReference::new(&set), &source, seed));
    }

    #[test]
    fn self_organising_lists_move_as_their_rules_say(specs in specs(), seed: u64) {
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        let packets = packets(&set, 200, seed);
        for arm in [SelectionArm::ScanTranspose, SelectionArm::ScanMoveToFront] {
            let mut list: Vec<usize> = set.order().to_vec();
            let expected: Vec<(u16, u32)> = packets.iter().map(|packet| {
                let Some(at) = list.iter().position(|&id| reference::matches(set.specs()[id], packet)) else {
                    return (0xFFFF, list.len() as u32);
                };
                let id = list.remove(at);
                let to = if arm == SelectionArm::ScanMoveToFront { 0 } else { at.saturating_sub(1) };
                list.insert(to, id);
                (id as u16, at as u32 + 1)
            }).collect();
            let pass = SelectionRecipe::new(arm, &set, None).unwrap().pass(&packets, &Watch::new()).unwrap();
            let got: Vec<(u16, u32)> = pass.handlers.into_iter().zip(pass.probes).collect();
            prop_assert_eq!(got, expected);
        }
    }
}

fn shuffled(set: &HandlerSet, seed: u64) -> HandlerSet {
    use rand::SeedableRng;
    use rand::seq::SliceRandom;
    let mut order = set.order().to_vec();
    order.shuffle(&mut rand::rngs::Xoshiro256PlusPlus::seed_from_u64(seed));
    set.reordered(&order).unwrap()
}

fn who_runs(set: &HandlerSet, packets: &[Packet]) -> Vec<u16> {
    packets.iter().map(|packet| reference::running(set, packet).map_or(0xFFFF, |id| id as u16)).collect()
}

#[test]
fn every_code_copy_of_every_arm_agrees() {
    let set = HandlerSet::standard(100, Body::Fat, 0.10, 7).unwrap();
    let source = Source::from_items(packets(&set, 500, 3));
    let scan = ScanReference::new(&set);
    let mut recipes: Vec<Box<dyn Recipe>> = Vec::new();
    // Held to a reference of its own, or compiled once.
    let apart = [MechanismArm::Direct, MechanismArm::StaticInlined];
    for arm in MechanismArm::ALL.into_iter().filter(|arm| !apart.contains(arm)) {
        recipes.push(Box::new(MechanismRecipe::new(arm, &set).unwrap()));
    }
    for arm in ProposalArm::ALL {
        recipes.push(Box::new(ProposalRecipe::new(arm, &set).unwrap()));
    }
    for arm in SelectionArm::ALL {
        recipes.push(Box::new(SelectionRecipe::new(arm, &set, None).unwrap()));
    }
    let expected = scan.checksum(&source, whole(&source));
    for recipe in recipes {
        let mut placement = Placement::new(11);
        let input = source.place(&mut placement).unwrap();
        let mut arm = recipe.build(&input, &mut placement).unwrap();
        assert_eq!(arm.layouts(), crate::race::CODE_COPIES);
        for layout in 0..arm.layouts() {
            arm.use_layout(layout);
            assert_eq!(arm.run(whole(&source)), expected);
        }
    }
}

#[test]
fn only_lists_that_learn_need_a_pass() {
    let set = HandlerSet::standard(10, Body::Tiny, 0.10, 7).unwrap();
    for arm in SelectionArm::ALL {
        let settle = SelectionRecipe::new(arm, &set, None).unwrap().settle();
        assert_eq!(settle == Settle::Pass, arm.organises_itself(), "{arm}");
    }
}

#[test]
fn a_reordering_arm_differs_from_the_loop_where_predicates_overlap() {
    use crate::dispatch::{HandlerSpec, Residual};
    let spec = |residual| HandlerSpec { key: 6, residual };
    let narrow = spec(Residual::Mask { offset: 0, mask: 7, value: 0 });
    let set = HandlerSet::from_specs(vec![narrow, spec(Residual::None)], Body::Tiny).unwrap();
    let packets: Vec<Packet> =
        (0..64).map(|n| Packet { protocol: 6, length: 32, flow: 0, payload: [n; 24] }).collect();
    let source = Source::from_items(packets);
    let recipe = SelectionRecipe::new(SelectionArm::ScanOrdered, &set, None).unwrap();
    assert!(!agrees(&recipe, &ScanReference::new(&set), &source, 1));
}

#[test]
fn a_pass_can_be_stopped() {
    let set = HandlerSet::standard(10, Body::Tiny, 0.10, 7).unwrap();
    let watch = Watch::new();
    watch.stop();
    let recipe = SelectionRecipe::new(SelectionArm::Scan, &set, None).unwrap();
    assert!(matches!(recipe.pass(&packets(&set, 10, 1), &watch), Err(crate::Error::Interrupted)));
}
