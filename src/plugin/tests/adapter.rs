//! Plugins in one table with built-in handlers.

use proptest::prelude::*;

use super::load;
use crate::dispatch::{
    Body, HandlerSet, HandlerSpec, MechanismArm, MechanismRecipe, NO_HANDLER, ProposalArm, ProposalRecipe,
    Residual, ScanReference, SelectionArm, SelectionRecipe,
};
use crate::plugin::{pass, with_plugin};
use crate::race::{Reference, Source, Watch, Window};
use crate::traffic::Packet;
use crate::{Error, Result};

/// Built-in handlers of keys 0 to 9, of which key 3 has a residual one first; and one behind v1's residual key.
fn mixed() -> Result<HandlerSet> {
    let mut specs: Vec<HandlerSpec> =
        (0..10).map(|key| HandlerSpec { key, residual: Residual::None }).collect();
    specs[3].residual = Residual::Mask { offset: 1, mask: 1, value: 0 };
    // The residual claim of v1 stands behind this one, and gets what it leaves.
    specs.push(HandlerSpec { key: 2003, residual: Residual::Range { offset: 1, low: 0, high: 99 } });
    with_plugin(&with_plugin(&HandlerSet::from_specs(specs, Body::Tiny)?, &load("v1"))?, &load("v2"))
}

fn packet() -> impl Strategy<Value = Packet> {
    let key = prop_oneof![0..12_u16, 1998..2016_u16];
    (key, any::<[u8; 24]>(), any::<u32>()).prop_map(|(protocol, payload, flow)| Packet {
        protocol,
        length: 60,
        flow,
        payload,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_selection_agrees_with_plain_code(packets in prop::collection::vec(packet(), 1..200)) {
        let set = mixed().expect("keys apart");
        prop_assert_eq!((set.built_in(), set.len()), (11, 19));
        let window = Window { first: 0, count: packets.len() };
        let expected = ScanReference::new(&set).checksum(&Source::from_items(packets.clone()), window);
        for arm in SelectionArm::ALL.into_iter().filter(|arm| arm.keeps_order()) {
            let recipe = SelectionRecipe::new(arm, &set, None).expect("built");
            let pass = recipe.pass(&packets, &Watch::new()).expect("passes");
            prop_assert_eq!(pass.checksum, expected, "{}", arm);
        }
    }

    #[test]
    fn what_a_plugin_computes_alone_is_what_it_computes_in_a_table(packets in prop::collection::vec(packet(), 1..200)) {
        let v2 = load("v2");
        let set = with_plugin(&HandlerSet::standard(10, Body::Fat, 0.1, 0).expect("valid"), &v2).expect("keys apart");
        let recipe = SelectionRecipe::new(SelectionArm::TableCompact, &set, None).expect("built");
        let ran = recipe.pass(&packets, &Watch::new()).expect("passes");
        for batch in [None, Some(1), Some(7), Some(4096)] {
            let alone = pass(&v2, &packets, batch, &Watch::new()).expect("passes");
            for ((packet, &handler), result) in packets.iter().zip(&ran.handlers).zip(alone) {
                let claimed = v2.claims().iter().position(|claim| claim.key == packet.protocol);
                let expected = claimed.filter(|_| result.status == 0).map(|place| (10 + place) as u16);
                let of_plugin = (handler >= 10 && handler != NO_HANDLER).then_some(handler);
                prop_assert_eq!(of_plugin, expected, "batch {:?}, key {}", batch, packet.protocol);
            }
        }
    }
}

#[test]
fn residual_claims_enter_residual_lists_only() {
    let set = with_plugin(&HandlerSet::standard(10, Body::Tiny, 0.0, 0).expect("valid"), &load("v2"))
        .expect("keys apart");
    let packet = |protocol, first| {
        let mut payload = [0; 24];
        payload[0] = first;
        Packet { protocol, length: 60, flow: 0, payload }
    };
    let packets = [packet(2010, 0), packet(2013, 3), packet(2013, 0)];
    let recipe = SelectionRecipe::new(SelectionArm::TableCompact, &set, None).expect("built");
    let pass = recipe.pass(&packets, &Watch::new()).expect("passes");
    // A slot's own handler costs no test; a residual one costs one, also where it isn't its packet.
    assert_eq!(pass.probes, [1, 2, 2]);
    assert_eq!(pass.handlers, [10, 13, NO_HANDLER]);
    assert!(matches!(
        SelectionRecipe::new(SelectionArm::TableCompact, &set, Some(0)),
        Err(Error::ResidualBound { key: 2013, length: 1, bound: 0 })
    ));
}

#[test]
fn handlers_keep_the_library() {
    let plugin = load("v2");
    let library = std::sync::Arc::downgrade(plugin.library());
    let set = with_plugin(&HandlerSet::standard(10, Body::Tiny, 0.0, 0).expect("valid"), &plugin)
        .expect("keys apart");
    drop(plugin);
    let recipe = SelectionRecipe::new(SelectionArm::Scan, &set, None).expect("built");
    drop(set);
    assert!(library.upgrade().is_some());
    drop(recipe);
    assert!(library.upgrade().is_none(), "closed with the last that needs it");
}

#[test]
fn a_claim_that_could_never_run_is_refused() {
    let taken = [HandlerSpec { key: 2011, residual: Residual::None }];
    let set = HandlerSet::from_specs(taken.to_vec(), Body::Tiny).expect("valid");
    let error = with_plugin(&set, &load("v2")).expect_err("key 2011 is taken");
    assert!(error.to_string().contains("key 2011"), "{error}");
    let twice = with_plugin(&with_plugin(&mixed_less(), &load("v2")).expect("keys apart"), &load("v2"));
    assert!(twice.expect_err("the same keys").to_string().contains("key 2010"));
}

fn mixed_less() -> HandlerSet {
    HandlerSet::standard(10, Body::Tiny, 0.1, 0).expect("valid")
}

#[test]
fn who_cannot_name_a_plugin_refuses() {
    let set = mixed().expect("keys apart");
    for arm in MechanismArm::ALL {
        assert!(MechanismRecipe::new(arm, &set).is_err(), "{arm}");
    }
    for arm in ProposalArm::ALL {
        assert!(ProposalRecipe::new(arm, &set).is_err(), "{arm}");
    }
}

#[test]
fn too_many_handlers_are_refused() {
    let set = HandlerSet::standard(1022, Body::Tiny, 0.0, 0).expect("valid");
    let error = with_plugin(&set, &load("v1")).expect_err("1,026 handlers");
    assert!(error.to_string().contains("1026"), "{error}");
}
