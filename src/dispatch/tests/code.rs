//! What the compiler made of the arms, decoded from this very test program. The wheel's code is looked at by the Python
//! tests; what holds here holds whatever the optimiser's level.

use crate::binary::Image;
use crate::dispatch::{
    ArmCode, Body, HandlerSet, MechanismArm, MechanismRecipe, ProposalArm, ProposalRecipe,
};
use crate::race::CODE_COPIES;

fn set(handlers: usize, body: Body) -> HandlerSet {
    HandlerSet::standard(handlers, body, 0.10, 7).unwrap()
}

fn code(arm: MechanismArm, set: &HandlerSet) -> ArmCode {
    let image = Image::of_this_code().unwrap();
    MechanismRecipe::new(arm, set).unwrap().code(&image).unwrap()
}

/// A closed match could have become one merged body, or an array of function pointers: it is neither.
#[test]
fn the_closed_sum_is_a_jump_table_to_the_shared_bodies() {
    for body in [Body::Fat, Body::Tiny] {
        let code = code(MechanismArm::EnumMatch, &set(1024, body));
        assert_eq!((code.bodies, code.jump_tables, code.indirect_calls), (1024, 1, 0), "{body}");
        assert!(code.body_bytes > 1024 * 40, "bodies of their own: {}", code.body_bytes);
    }
}

#[test]
fn bodies_that_are_one_are_counted_once() {
    let identical = set(100, Body::Identical);
    for arm in [MechanismArm::DynTrait, MechanismArm::Thin, MechanismArm::Erased, MechanismArm::EnumMatch] {
        assert_eq!(code(arm, &identical).bodies, 1, "{arm}");
    }
}

#[test]
fn the_static_match_leads_to_the_shared_bodies() {
    for body in [Body::Fat, Body::Tiny] {
        for handlers in [10, 100, 1024] {
            let code = code(MechanismArm::StaticMatch, &set(handlers, body));
            assert_eq!((code.bodies, code.indirect_calls), (handlers, 0), "{handlers} {body}");
        }
    }
}

#[test]
fn inlined_bodies_are_counted_and_lie_in_the_arm() {
    for body in [Body::Fat, Body::Tiny] {
        let code = code(MechanismArm::StaticInlined, &set(100, body));
        assert!((1..=100).contains(&code.bodies), "{}", code.bodies);
        let copies = if body == Body::Fat { 1 } else { CODE_COPIES };
        assert_eq!((code.body_bytes, code.loop_copies), (0, copies));
    }
}

#[test]
fn every_proposal_reaches_every_body() {
    let set = set(100, Body::Fat);
    let image = Image::of_this_code().unwrap();
    for arm in ProposalArm::ALL {
        let code = ProposalRecipe::new(arm, &set).unwrap().code(&image).unwrap();
        assert_eq!((code.bodies, code.loads), (100, None), "{arm}");
        assert_eq!(code.indirect_calls > 0, arm == ProposalArm::Erased, "{arm}");
    }
}
