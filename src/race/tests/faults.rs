//! Things broken on purpose, and seen.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::machine::affinity;

fn sound() -> Vec<Entry> {
    vec![entry("sound", Role::Baseline, Fold { repeats: 8 })]
}

#[test]
fn an_arm_that_returns_a_constant() {
    let mut arms = sound();
    arms.push(entry("constant", Role::Arm, Custom(|_: &Input, _| Checksum(42))));
    let error = refused(race(arms));
    assert!(matches!(&error, Error::ChecksumMismatch { arm, got: 42, .. } if arm == "constant"), "{error}");
}

#[test]
fn an_arm_that_drops_a_packet_now_and_then() {
    let mut arms = sound();
    let run = |input: &Input, window: Window| {
        let count = if window.first == 0 { window.count - 1 } else { window.count };
        fold(input.items(), Window { count, ..window }, 8)
    };
    arms.push(entry("drops", Role::Arm, Custom(run)));
    assert!(matches!(refused(race(arms)), Error::ChecksumMismatch { arm, .. } if arm == "drops"));
}

#[test]
fn claims_of_the_same_work_with_different_references() {
    struct Other;
    impl Reference for Other {
        fn checksum(&self, _: &Source, _: Window) -> Checksum {
            Checksum(7)
        }
    }
    let mut arms = sound();
    let mut other = entry("other", Role::Arm, Custom(|_: &Input, _| Checksum(7)));
    other.reference = Arc::new(Other);
    arms.push(other);
    let error = refused(race(arms));
    assert!(
        matches!(&error, Error::ChecksumMismatch { arm, expected_by, .. } if arm == "other" && expected_by == "sound"),
        "{error}"
    );
}

#[test]
fn a_loop_that_was_deleted_is_past_the_ceiling() {
    // Knows its answers beforehand, as a loop does that the optimiser has hoisted out: right checksums, no work.
    let items: Vec<u64> = (0..4096u64).map(|item| item.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let known: Arc<std::sync::Mutex<std::collections::HashMap<(usize, usize), Checksum>>> = Arc::default();
    let run = move |_: &Input, window: Window| {
        let mut known = known.lock().expect("not poisoned");
        *known.entry((window.first, window.count)).or_insert_with(|| fold(&items, window, 0))
    };
    let ceiling =
        Ceiling { min_cycles: 3.0, formula: "a multiply a result".into(), source: "the test".into() };
    let mut arms = sound();
    for arm in [entry("deleted", Role::Arm, Custom(run)), entry("kept", Role::Arm, Fold { repeats: 8 })] {
        arms.push(Entry { ceiling: Some(ceiling.clone()), ..arm });
    }
    let cell = race(arms).expect("its checksums are right");
    if cell.arms[0].cycles.is_nan() {
        assert_eq!(check(&cell, "ceiling:deleted").outcome, Outcome::NotApplicable);
        return;
    }
    assert_eq!(check(&cell, "ceiling:deleted").outcome, Outcome::Failed);
    assert_eq!(check(&cell, "ceiling:kept").outcome, Outcome::Held);
    assert!(cell.arm("deleted").expect("there").flags.contains(&"artefact".into()));
    assert_eq!(cell.status, Status::NoVerdict);
    assert_eq!(cell.arm("deleted").expect("there").verdict, Some(Verdict::NotResolved));
}

#[test]
fn a_clock_with_a_coarse_tick() {
    let mut arms = sound();
    arms.push(entry("other", Role::Arm, Fold { repeats: 8 }));
    let cell = race_with(&plan(arms), &coarse()).expect("a race");
    assert_eq!(check(&cell, "tick").outcome, Outcome::Failed, "{:?}", check(&cell, "tick"));
    assert_eq!(cell.status, Status::NoVerdict);
}

#[test]
fn arm_major_order() {
    let mut arms = sound();
    arms.push(entry("other", Role::Arm, Fold { repeats: 80 }));
    let options = Options { order: Order::ArmMajor, ..quick() };
    let cell = race_with(&plan(arms), &options).expect("a race");
    assert_eq!(check(&cell, "order").outcome, Outcome::Failed);
    assert_eq!(cell.status, Status::NoVerdict);
}

#[test]
fn a_control_that_does_more_work() {
    let mut arms = sound();
    arms.push(entry("faster", Role::Arm, Fold { repeats: 1 }));
    arms.push(entry("control", Role::Control { against: "sound".into() }, Fold { repeats: 80 }));
    let cell = race(arms).expect("a race");
    assert_eq!(check(&cell, "control:control").outcome, Outcome::Failed);
    assert_eq!(cell.status, Status::NoVerdict);
    let voided = cell.arm("faster").expect("there");
    assert_eq!(
        (voided.verdict, voided.words.as_str()),
        (Some(Verdict::NotResolved), "no verdict against sound")
    );
}

#[test]
fn a_rep_that_migrated() {
    let allowed = affinity::allowed_cpus().expect("a mask");
    let [first, .., last] = allowed[..] else {
        // One CPU: nothing can migrate, and the placement check has nothing to see.
        return;
    };
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    // Now and then, moves the measuring thread to the other CPU in the middle of a rep.
    let run = move |input: &Input, window: Window| {
        if counted.fetch_add(1, Ordering::Relaxed) % 50 == 25 {
            let elsewhere = if affinity::current_cpu() == Some(first) { last } else { first };
            let core = core_affinity::CoreId { id: elsewhere };
            core_affinity::set_for_current(core);
        }
        fold(input.items(), window, 8)
    };
    let mut arms = sound();
    arms.push(entry("wanders", Role::Arm, Custom(run)));
    // Once moved it stays moved, so every later rep is seen elsewhere and no block can be completed.
    match race(arms) {
        Ok(cell) => {
            assert!(cell.disturbances.migrations > 0);
            assert_eq!(check(&cell, "placement").outcome, Outcome::Failed, "{:?}", check(&cell, "placement"));
            assert_eq!(cell.status, Status::NoVerdict);
        }
        Err(error) => assert!(matches!(error, Error::NotMeasurable { .. }), "{error}"),
    }
    assert!(calls.load(Ordering::Relaxed) > 25);
    assert_eq!(affinity::allowed_cpus().expect("a mask"), allowed, "restored all the same");
}

#[test]
fn a_rep_that_faults_pages_in_is_redone() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let run = move |input: &Input, window: Window| {
        if counted.fetch_add(1, Ordering::Relaxed) % 40 == 39 {
            // A mapping of its own each time: an allocator may hand out pages again that it has touched before.
            let fresh = Placement::new(0).place_slice(&[1u8; 256 * 1024], 64).expect("mapped");
            std::hint::black_box(&fresh[..]);
        }
        fold(input.items(), window, 8)
    };
    let mut arms = sound();
    arms.push(entry("faults", Role::Arm, Custom(run)));
    let cell = race(arms).expect("a race");
    assert!(cell.disturbances.page_faults > 0, "{:?}", cell.disturbances);
    assert!(cell.disturbances.rounds_redone > 0, "{:?}", cell.disturbances);
}
