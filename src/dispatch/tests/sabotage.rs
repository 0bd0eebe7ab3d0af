//! Broken arms are noticed by their checksums: each fault, in each arm that can have it.

use std::sync::Arc;

use proptest::prelude::*;

use super::{disjoint_specs, uniform, whole};
use crate::dispatch::{
    Body, DirectReference, HandlerSet, MechanismArm, MechanismRecipe, NullRecipe, NullReference, ProposalArm,
    ProposalRecipe, ScanReference, SelectionArm, SelectionRecipe, sabotage,
};
use crate::race::{Broken, Checksum, Entry, Fault, Placement, Recipe, Reference, Role, Source};

fn entries(set: &HandlerSet) -> Vec<Entry> {
    let entry = |name: &str, recipe: Arc<dyn Recipe>, reference: Arc<dyn Reference>| {
        Entry::new(name, Role::Arm, recipe, reference, "any")
    };
    let scan = || Arc::new(ScanReference::new(set)) as Arc<dyn Reference>;
    let mut entries = Vec::new();
    for arm in SelectionArm::ALL {
        let recipe = Arc::new(SelectionRecipe::new(arm, set, None).unwrap());
        entries.push(entry(arm.name(), recipe, scan()));
    }
    for arm in MechanismArm::ALL.into_iter().filter(|arm| arm.refuses(set).is_none()) {
        let reference =
            if arm == MechanismArm::Direct { Arc::new(DirectReference::new(set)) as _ } else { scan() };
        entries.push(entry(arm.name(), Arc::new(MechanismRecipe::new(arm, set).unwrap()), reference));
    }
    for arm in ProposalArm::ALL.into_iter().filter(|arm| arm.refuses(set).is_none()) {
        entries.push(entry(arm.name(), Arc::new(ProposalRecipe::new(arm, set).unwrap()), scan()));
    }
    entries
}

/// Arms whose handlers are part of their code.
const COMPILED_IN: [&str; 3] = ["static_match", "static_inlined", "scan_static_keys"];

fn pass(recipe: &dyn Recipe, source: &Source) -> Checksum {
    let mut placement = Placement::new(1);
    let input = source.place(&mut placement).unwrap();
    recipe.build(&input, &mut placement).unwrap().run(whole(source))
}

/// What the faulty arm, and what its sound twin compute, and what each should.
fn outcomes(entry: &Entry, broken: &Broken, source: &Source) -> [(Checksum, Checksum); 2] {
    let (twin, reference) = match &broken.sound {
        Some((recipe, reference)) => (recipe, reference),
        None => (&entry.recipe, &entry.reference),
    };
    let faulty = (pass(broken.recipe.as_ref(), source), broken.becomes.checksum(source, whole(source)));
    [faulty, (pass(twin.as_ref(), source), reference.checksum(source, whole(source)))]
}

#[test]
fn every_fault_shows_in_every_arm_that_can_have_it() {
    let set = HandlerSet::standard(100, Body::Tiny, 0.10, 7).unwrap();
    let source = Source::from_items(uniform(&set, 1000, 1));
    for entry in entries(&set) {
        for fault in Fault::ALL {
            let broken = match sabotage::broken(&entry, fault, &source) {
                Ok(broken) => broken,
                Err(reason) if COMPILED_IN.contains(&entry.name.as_str()) => {
                    assert!(reason.contains("compiled in"), "{}: {reason}", entry.name);
                    continue;
                }
                // Written out in one order.
                Err(reason) if entry.name == "scan_static" => {
                    assert_eq!(fault, Fault::WrongOrder, "{reason}");
                    continue;
                }
                Err(reason) => {
                    // Let off are arms whose handlers are compiled in, and for the order those that reorder by design.
                    if entry.name.starts_with("static_") {
                        assert!(reason.contains("compiled in"), "{}: {reason}", entry.name);
                        continue;
                    }
                    assert_eq!(fault, Fault::WrongOrder, "{}: {reason}", entry.name);
                    let arm: SelectionArm = entry.name.parse().expect("a selection");
                    assert!(!arm.keeps_order() && reason.contains("order"), "{}: {reason}", entry.name);
                    continue;
                }
            };
            let [(faulty, predicted), (sound, expected)] = outcomes(&entry, &broken, &source);
            assert_eq!(sound, expected, "{} is sound beside {fault}", entry.name);
            assert_eq!(faulty, predicted, "{} with {fault} does what plain code says", entry.name);
            assert_ne!(faulty, expected, "{} with {fault} isn't noticed", entry.name);
        }
    }
}

#[test]
fn arms_without_handlers_can_only_misread_and_misrun() {
    let set = HandlerSet::standard(10, Body::Tiny, 0.10, 7).unwrap();
    let source = Source::from_items(uniform(&set, 100, 1));
    let (recipe, reference) = (Arc::new(NullRecipe::new(&set)), Arc::new(NullReference::new(&set)));
    let entry = Entry::new("null", Role::Arm, recipe, reference, "floor");
    for fault in [Fault::SkipResidual, Fault::WrongOrder, Fault::WrongHandlerId] {
        assert!(sabotage::broken(&entry, fault, &source).is_err_and(|reason| reason.contains("handlers")));
    }
    for fault in [Fault::ConstantResult, Fault::DropPacket, Fault::StalePayload, Fault::SwappedKey] {
        let broken = sabotage::broken(&entry, fault, &source).unwrap_or_else(|reason| panic!("{reason}"));
        let [(faulty, _), (_, expected)] = outcomes(&entry, &broken, &source);
        assert_ne!(faulty, expected, "{fault}");
    }
}

#[test]
fn what_isnt_packets_isnt_misread() {
    let set = HandlerSet::standard(10, Body::Tiny, 0.10, 7).unwrap();
    let entry = entries(&set).remove(0);
    let source = Source::from_items(vec![1u64, 2, 3]);
    assert!(!source.holds::<crate::traffic::Packet>() && source.holds::<u64>());
    let refused = sabotage::broken(&entry, Fault::StalePayload, &source);
    assert!(refused.is_err_and(|reason| reason.contains("packets")));
}

#[test]
fn a_fault_that_the_handlers_cant_have_is_refused_with_the_reason() {
    let plain = HandlerSet::standard(100, Body::Tiny, 0.0, 7).unwrap();
    let source = Source::from_items(uniform(&plain, 100, 1));
    for entry in entries(&plain).iter().filter(|entry| !COMPILED_IN.contains(&entry.name.as_str())) {
        let refused = sabotage::broken(entry, Fault::SkipResidual, &source);
        assert!(refused.is_err_and(|reason| reason.contains("none of its 100 handlers")), "{}", entry.name);
    }
    let alone = HandlerSet::standard(1, Body::Tiny, 0.0, 7).unwrap();
    let scan = &entries(&alone)[0];
    for fault in [Fault::WrongOrder, Fault::WrongHandlerId] {
        assert!(sabotage::broken(scan, fault, &source).is_err_and(|reason| reason.contains("one handler")));
    }
}

#[test]
fn names_are_parsed_and_wrong_ones_offered_the_nearest() {
    for fault in Fault::ALL {
        assert_eq!(fault.name().parse::<Fault>().unwrap(), fault);
        assert!(!fault.help().is_empty());
    }
    let refused = "skip-residuals".parse::<Fault>().expect_err("refused").to_string();
    assert!(refused.starts_with("sabotage = skip-residuals: did you mean skip-residual?"), "{refused}");
    let refused = "zzz".parse::<Fault>().expect_err("refused").to_string();
    assert!(refused.contains("constant-result") && refused.contains("wrong-order"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn faulty_arms_do_what_plain_code_says_over_any_handlers(specs in disjoint_specs(), seed: u64) {
        let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
        let source = Source::from_items(super::packets(&set, 200, seed));
        for entry in entries(&set) {
            for fault in Fault::ALL {
                if let Ok(broken) = sabotage::broken(&entry, fault, &source) {
                    for (computed, said) in outcomes(&entry, &broken, &source) {
                        prop_assert_eq!(computed, said, "{} {}", entry.name, fault);
                    }
                }
            }
        }
    }
}
