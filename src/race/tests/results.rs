//! What a sound race reports.

use super::*;
use crate::machine::affinity;
use crate::race::report::Ended;

#[test]
fn more_work_is_slower_and_everything_is_reported() {
    let cell = race(vec![
        entry("four", Role::Baseline, Fold { repeats: 4 }),
        entry("forty", Role::Arm, Fold { repeats: 40 }),
    ])
    .expect("a race");
    let (base, more) = (cell.arm("four").expect("there"), cell.arm("forty").expect("there"));
    // Ten times the work; a factor of two is a wide margin.
    let ratio = more.ratio.expect("compared");
    assert!(ratio > 2.0, "{ratio}");
    assert!(more.ratio_low.expect("low") <= ratio && ratio <= more.ratio_high.expect("high"));
    assert_eq!((base.role, base.ratio, base.verdict), ("baseline", None, None));
    assert_eq!(more.against, "four");
    assert!(base.min <= base.low && base.low <= base.median && base.median <= base.high);
    assert!(
        cell.blocks >= LEAST_BLOCKS
            && base.blocks.len() == cell.blocks
            && more.log_ratios.len() == cell.blocks
    );
    assert_eq!(base.checksum, more.checksum);
    assert_eq!(more.flags, ["one code layout"]);
    assert_eq!(check(&cell, "checksums").outcome, Outcome::Held);
    assert_eq!(cell.level, 0.95);
    if cell.status == Status::Held {
        assert_eq!(more.verdict, Some(Verdict::Slower));
        assert!(more.words.ends_with("× slower than four"), "{}", more.words);
    }
}

#[test]
fn the_callers_affinity_is_left_as_it_was() {
    let before = affinity::allowed_cpus().expect("a mask");
    let base =
        || vec![entry("a", Role::Baseline, Fold { repeats: 1 }), entry("b", Role::Arm, Fold { repeats: 1 })];
    race(base()).expect("a race");
    assert_eq!(affinity::allowed_cpus().expect("a mask"), before);
    let mut failing = base();
    failing.push(entry("c", Role::Arm, Custom(|_: &Input, _| Checksum(1))));
    race(failing).expect_err("its checksum is wrong");
    assert_eq!(affinity::allowed_cpus().expect("a mask"), before);
}

#[test]
fn cells_run_together_pair_their_blocks() {
    let options = quick();
    let plans: Vec<Plan> = [4, 40]
        .map(|repeats| {
            plan(vec![
                entry("work", Role::Baseline, Fold { repeats }),
                entry("same", Role::Arm, Fold { repeats }),
            ])
        })
        .into();
    let values = Values::default();
    let together: Vec<_> = plans.iter().map(|plan| (&values, plan)).collect();
    let cells = run_together(&together, Unit::NsPerIteration, &Card::read(), &options, &Watch::new())
        .expect("races")
        .into_iter()
        .map(|cell| cell.expect("a cell"))
        .collect::<Vec<_>>();
    let rise =
        contrast::linear(&[(1.0, &cells[1], "work"), (-1.0, &cells[0], "work")], "rise".into(), "".into());
    let rise = rise.expect("both arms are there");
    assert!(rise.low > 0.0, "{rise:?}");
    assert!(contrast::linear(&[(1.0, &cells[0], "absent")], "x".into(), "".into()).is_none());
}

#[test]
fn a_short_input_is_replayed_until_a_rep_is_long_enough() {
    let mut short = plan(vec![
        entry("a", Role::Baseline, Fold { repeats: 1 }),
        entry("b", Role::Arm, Fold { repeats: 1 }),
    ]);
    short.source = Source::from_items(vec![1u64, 2, 3]);
    let cell = race_with(&short, &quick()).expect("a race");
    assert!(cell.operations_per_rep >= 3000, "{}", cell.operations_per_rep);
    assert_eq!(cell.operations_per_rep % 3, 0);
    assert_eq!(check(&cell, "tick").outcome, Outcome::Held, "{:?}", check(&cell, "tick"));
}

#[test]
fn the_same_seed_folds_the_same() {
    let arms =
        || vec![entry("a", Role::Baseline, Fold { repeats: 1 }), entry("b", Role::Arm, Fold { repeats: 2 })];
    let mut fixed = plan(arms());
    // One window whatever the machine's speed.
    fixed.source = Source::from_items(vec![9u64; 64]);
    let [first, second] =
        [0, 1].map(|_| race_with(&fixed, &quick()).expect("a race").arms[0].checksum.clone());
    assert_eq!(first, second);
}

#[test]
fn a_plan_that_wants_figures_only_ends_after_its_blocks() {
    let entries =
        || vec![entry("a", Role::Baseline, Fold { repeats: 1 }), entry("b", Role::Arm, Fold { repeats: 1 })];
    // Never precise enough, and with time for many more blocks.
    let options = Options { precision: 1e-9, bound: Duration::from_secs(60), ..quick() };
    let block = Some(Duration::from_millis(1));
    let brief = Plan { patience: Some(1), block, ..plan(entries()) };
    let cell = race_with(&brief, &options).expect("a race");
    assert_eq!((cell.blocks, cell.ended), (LEAST_BLOCKS, Ended::BlockBound));
    let longer = Plan { patience: Some(2), block, ..plan(entries()) };
    let capped = Options { max_blocks: LEAST_BLOCKS + 5, ..options };
    assert_eq!(race_with(&longer, &capped).expect("a race").blocks, LEAST_BLOCKS + 5);
}

#[test]
fn a_rep_that_means_something_keeps_its_length() {
    let entries =
        vec![entry("a", Role::Baseline, Fold { repeats: 1 }), entry("b", Role::Arm, Fold { repeats: 9 })];
    let fixed = Plan { rep_operations: Some(1000), ..plan(entries) };
    assert_eq!(race_with(&fixed, &quick()).expect("a race").operations_per_rep, 1000);
}
