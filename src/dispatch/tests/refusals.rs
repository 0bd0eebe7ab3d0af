//! What is refused, and that the message names the value.

use crate::Error;
use crate::dispatch::expected::expected_probes;
use crate::dispatch::{
    Body, HandlerSet, HandlerSpec, MAX_HANDLERS, MechanismArm, MechanismRecipe, ProposalArm, ProposalRecipe,
    Residual, SelectionArm, SelectionRecipe,
};
use crate::race::Watch;
use crate::traffic::Packet;

/// The message of an invalid argument; its value must stand in it.
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, value: &str) -> String {
    let error = result.expect_err("should be refused");
    assert!(matches!(error, Error::InvalidArgument { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains(value), "{message}");
    message
}

fn standard(n: usize, share: f64) -> Result<HandlerSet, Error> {
    HandlerSet::standard(n, Body::Tiny, share, 7)
}

#[test]
fn counts_outside_the_compiled_bodies() {
    refused(standard(0, 0.1), "0");
    refused(standard(MAX_HANDLERS + 1, 0.1), "1025");
    refused(HandlerSet::from_specs(vec![], Body::Fat), "0");
    let spec = HandlerSpec { key: 1, residual: Residual::None };
    refused(HandlerSet::from_specs(vec![spec; 1025], Body::Fat), "1025");
    let packets = [Packet { protocol: 6, length: 0, flow: 0, payload: [0; 24] }];
    refused(HandlerSet::from_packets(&packets, 0, Body::Fat, 1, &Watch::new()), "0");
    refused(HandlerSet::from_packets(&packets, 5000, Body::Fat, 1, &Watch::new()), "5000");
    refused(HandlerSet::from_packets(&[], 10, Body::Fat, 1, &Watch::new()), "0 packets");
    assert!(standard(1, 0.1).is_ok() && standard(MAX_HANDLERS, 1.0).is_ok());
}

#[test]
fn shares_that_are_none() {
    for share in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
        refused(standard(100, share), &share.to_string());
    }
}

#[test]
fn predicates_that_never_hold() {
    let set = |residual| HandlerSet::from_specs(vec![HandlerSpec { key: 1, residual }], Body::Tiny);
    refused(set(Residual::Mask { offset: 24, mask: 1, value: 1 }), "offset: 24");
    refused(set(Residual::Range { offset: 99, low: 0, high: 1 }), "offset: 99");
    refused(set(Residual::Mask { offset: 0, mask: 1, value: 2 }), "value: 2");
    refused(set(Residual::Range { offset: 0, low: 9, high: 8 }), "low: 9");
    assert!(set(Residual::Flow { active: 0 }).is_ok());
}

#[test]
fn orders_that_are_no_permutation() {
    let set = standard(3, 0.0).unwrap();
    refused(set.reordered(&[0, 1]), "2 handlers");
    refused(set.reordered(&[0, 1, 1]), "1");
    refused(set.reordered(&[0, 1, 3]), "3");
    refused(SelectionRecipe::scan_ordered(&set, vec![0, 0, 0]), "0");
    assert_eq!(set.reordered(&[2, 0, 1]).unwrap().order(), [2, 0, 1]);
}

#[test]
fn names_that_nobody_has() {
    let message = refused("table".parse::<SelectionArm>(), "table");
    assert!(SelectionArm::ALL.iter().all(|arm| message.contains(arm.name())));
    let message = refused("virtual".parse::<MechanismArm>(), "virtual");
    assert!(MechanismArm::ALL.iter().all(|arm| message.contains(arm.name())));
    refused("big".parse::<Body>(), "big");
    for arm in SelectionArm::ALL {
        assert_eq!(arm.name().parse::<SelectionArm>().unwrap(), arm);
    }
    for arm in MechanismArm::ALL {
        assert_eq!(arm.name().parse::<MechanismArm>().unwrap(), arm);
    }
    for body in Body::ALL {
        assert_eq!(body.to_string().parse::<Body>().unwrap(), body);
    }
}

#[test]
fn residual_lists_past_their_bound() {
    let set = standard(100, 0.10).unwrap();
    for arm in SelectionArm::ALL {
        let is_table =
            matches!(arm, SelectionArm::TableDirect16 | SelectionArm::TableCompact | SelectionArm::HashMap);
        let result = SelectionRecipe::new(arm, &set, Some(3));
        match result {
            Err(Error::ResidualBound { key, length, bound }) => {
                assert!(is_table);
                assert_eq!((key, length, bound), (901, 4, 3));
            }
            Ok(_) => assert!(!is_table),
            Err(error) => panic!("{error}"),
        }
        assert!(SelectionRecipe::new(arm, &set, Some(4)).is_ok());
    }
    let message = SelectionRecipe::new(SelectionArm::HashMap, &set, Some(0)).unwrap_err().to_string();
    assert!(message.contains("key 900") && message.contains("3 residual"), "{message}");
}

#[test]
fn an_ordinary_handler_at_the_end_is_no_residual_candidate() {
    let spec = |residual| HandlerSpec { key: 6, residual };
    let mask = Residual::Mask { offset: 0, mask: 3, value: 1 };
    let set = HandlerSet::from_specs(vec![spec(mask), spec(Residual::None), spec(mask)], Body::Tiny).unwrap();
    assert!(SelectionRecipe::new(SelectionArm::TableCompact, &set, Some(1)).is_ok());
    let first = HandlerSet::from_specs(vec![spec(Residual::None), spec(mask)], Body::Tiny).unwrap();
    assert!(SelectionRecipe::new(SelectionArm::TableCompact, &first, Some(0)).is_ok());
}

#[test]
fn weights_that_say_nothing() {
    let set = standard(3, 0.0).unwrap();
    let expected = |weights: &[f64], unmatched| expected_probes(SelectionArm::Scan, &set, weights, unmatched);
    refused(expected(&[1.0], 0.0), "1 weights");
    refused(expected(&[1.0, -1.0, 1.0], 0.0), "-1");
    refused(expected(&[1.0, f64::NAN, 1.0], 0.0), "NaN");
    refused(expected(&[0.0; 3], 0.0), "all 0");
    refused(expected(&[1.0; 3], 1.5), "1.5");
}

#[test]
fn what_was_not_known_when_compiled_is_refused_with_the_reason() {
    let standard = |n, body, share| HandlerSet::standard(n, body, share, 7).unwrap();
    let hundred = standard(100, Body::Fat, 0.10);
    let mut order = hundred.order().to_vec();
    order.swap(3, 4);
    let reordered = hundred.reordered(&order).unwrap();
    let cases = [
        (standard(30, Body::Fat, 0.10), "not for 30"),
        (standard(100, Body::Identical, 0.10), "identical"),
        (standard(100, Body::Tiny, 0.25), "residual_share 0.1"),
        (reordered.clone(), "in its own order"),
    ];
    for (set, part) in &cases {
        for arm in [MechanismArm::StaticMatch, MechanismArm::StaticInlined] {
            let message = refused(MechanismRecipe::new(arm, set), part);
            assert!(message.starts_with(&format!("mechanism = {arm}")), "{message}");
        }
        refused(ProposalRecipe::new(ProposalArm::StaticKeys, set), part);
    }
    refused(
        MechanismRecipe::new(MechanismArm::StaticInlined, &standard(1024, Body::Fat, 0.10)),
        "not for 1024",
    );
    assert!(MechanismRecipe::new(MechanismArm::StaticMatch, &standard(1024, Body::Fat, 0.10)).is_ok());
    refused(ProposalRecipe::new(ProposalArm::Static, &standard(30, Body::Fat, 0.10)), "not for 30");
    refused(ProposalRecipe::new(ProposalArm::Static, &reordered), "in the order of handler numbers");
    refused(ProposalRecipe::new(ProposalArm::Static, &standard(100, Body::Identical, 0.10)), "its own body");
    // Known types: whatever their keys are.
    assert!(ProposalRecipe::new(ProposalArm::Static, &standard(100, Body::Fat, 0.25)).is_ok());
    let message = refused("virtual".parse::<ProposalArm>(), "virtual");
    assert!(ProposalArm::ALL.iter().all(|arm| message.contains(arm.name())));
}
