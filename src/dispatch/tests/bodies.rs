//! 2,048 handlers, no two alike.

use std::collections::HashSet;

use proptest::prelude::*;

use crate::dispatch::generated::{Code, Fields};
use crate::dispatch::objects::Objects;
use crate::dispatch::{Body, HandlerSet, HandlerSpec, MAX_HANDLERS, Outcome, Residual, audit, reference};
use crate::race::{Outcome as CheckOutcome, Placement};
use crate::traffic::Packet;

fn full(body: Body) -> HandlerSet {
    HandlerSet::standard(MAX_HANDLERS, body, 0.10, 7).unwrap()
}

#[test]
fn every_body_behaves_differently() {
    for body in [Body::Fat, Body::Tiny] {
        assert_eq!(audit::distinct_bodies(&full(body)).unwrap(), (1024, 1024), "{body}");
        assert_eq!(audit::bodies_check(&[&full(body)]).unwrap().outcome, CheckOutcome::Held);
    }
}

#[test]
fn identical_bodies_are_noticed() {
    let set = HandlerSet::standard(100, Body::Identical, 0.10, 7).unwrap();
    assert_eq!(audit::distinct_bodies(&set).unwrap(), (1, 100));
    assert_eq!(audit::bodies_check(&[&set]).unwrap().outcome, CheckOutcome::Failed);
}

#[test]
fn the_bodies_of_every_set_are_audited() {
    let sound = HandlerSet::standard(10, Body::Tiny, 0.10, 7).unwrap();
    let folded = HandlerSet::standard(10, Body::Identical, 0.10, 7).unwrap();
    for sets in [[&sound, &folded], [&folded, &sound]] {
        let check = audit::bodies_check(&sets).unwrap();
        assert_eq!(check.outcome, CheckOutcome::Failed, "{}", check.detail);
        assert!(
            check.detail.contains("10 different") && check.detail.contains("1 different"),
            "{}",
            check.detail
        );
    }
    assert_eq!(
        audit::bodies_check(&[&sound, &sound.clone()]).unwrap().detail.matches("different").count(),
        1
    );
}

/// One object, asked by each handler's `matches`: each finds another key in it, so no two are the same code.
#[test]
fn every_matches_behaves_differently() {
    let anybody = HandlerSpec { key: 0, residual: Residual::None };
    let fields: Fields = Code::of(Body::Fat, 0).fields(0, anybody);
    let mut placement = Placement::new(0);
    let placed = placement.place(fields).unwrap();
    let mut keys = HashSet::new();
    for body in [Body::Fat, Body::Tiny] {
        for n in 0..MAX_HANDLERS {
            // SAFETY: `placed` outlives the reference, and holds valid fields.
            let handler = unsafe { Code::of(body, n).attach(placed.as_non_null()).as_ref() };
            let mut packet = Packet { protocol: 0, length: 0, flow: 0, payload: [0; 24] };
            let hit = (0..=u16::MAX).find(|&key| {
                packet.protocol = key;
                handler.matches(&packet)
            });
            assert!(keys.insert(hit.expect("each matches takes exactly one key")));
        }
    }
    assert_eq!(keys.len(), 2 * MAX_HANDLERS);
}

#[test]
fn code_lies_apart() {
    let addresses: HashSet<usize> = [Body::Fat, Body::Tiny]
        .into_iter()
        .flat_map(|body| {
            let set = full(body);
            [audit::process_addresses(&set), audit::matches_addresses(&set)].concat()
        })
        .collect();
    assert_eq!(addresses.len(), 4 * MAX_HANDLERS);
    let identical = HandlerSet::standard(100, Body::Identical, 0.10, 7).unwrap();
    assert_eq!(audit::process_addresses(&identical).into_iter().collect::<HashSet<_>>().len(), 1);
}

#[test]
fn an_outcome_is_two_registers() {
    assert_eq!(size_of::<Outcome>(), 16);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The unrolled bodies against the reference's loop.
    #[test]
    fn bodies_compute_what_the_reference_says(n in 0..MAX_HANDLERS, payload: [u8; 24], flow: u32) {
        let packet = Packet { protocol: 1, length: 2, flow, payload };
        for body in Body::ALL {
            let set = full(body);
            let objects = Objects::place(&set, &mut Placement::new(5)).unwrap();
            // SAFETY: `objects` lives to the end of the block.
            let handler = unsafe { objects.pointers()[n].get() };
            let expected = Outcome { value: reference::value(body, n, &packet), handler: n as u16 };
            prop_assert_eq!(handler.process(&packet), expected);
        }
    }
}
