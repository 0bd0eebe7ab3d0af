//! Per-operation timing by a clock whose time passes as a test wants, and every fault that must be noticed.

use std::cell::Cell as Counter;
use std::time::Duration;

use proptest::prelude::*;

use super::recorder::{Recorded, Recorder};
use super::{Part, PerOperation, Tail, Tails, checks, with_clock};
use crate::machine::{Card, OperationClock};
use crate::race::block::Bench;
use crate::race::report::{Check, Disturbances, Outcome};
use crate::race::schedule::williams_orders;
use crate::race::tests::{Custom, Fold, alone, entry, plan, quick, race_with};
use crate::race::{Checksum, Input, LEAST_BLOCKS, Options, Plan, Role, Station, Watch, Window};
use crate::{Error, Result};

thread_local! {
    static NOW: Counter<u64> = const { Counter::new(0) };
}

fn pass(counts: u64) {
    NOW.set(NOW.get() + counts);
}

/// Half a nanosecond a count; each reading takes `read` counts.
#[derive(Clone, Copy)]
struct Synthetic {
    read: u64,
}

impl OperationClock for Synthetic {
    fn begin(self) -> u64 {
        let now = NOW.get();
        pass(self.read);
        now
    }
    fn end(self) -> u64 {
        NOW.get()
    }
    fn ns_per_count(self) -> f64 {
        0.5
    }
    fn tick_ns(self) -> f64 {
        0.5
    }
}

/// The right result, after as many counts as `cost` says of the operation.
fn costing(cost: fn(usize) -> u64) -> Custom<impl Fn(&Input, Window) -> Checksum + Send + Sync + Clone> {
    Custom(move |input: &Input, window: Window| {
        (window.first..window.first + window.count).for_each(|at| pass(cost(at)));
        input.items::<u64>()[window.first..][..window.count]
            .iter()
            .fold(Checksum::EMPTY, |sum, item| sum.fold(*item, 1))
    })
}

const OPERATIONS: usize = 4096;

fn halves() -> Vec<Part> {
    let part = |name: &str, first| Part { name: name.into(), first, count: OPERATIONS / 2 };
    vec![part("before", 0), part("after", OPERATIONS / 2)]
}

fn timed_with(plan: &Plan, wanted: &PerOperation, clock: Synthetic) -> Result<Tails> {
    let _alone = alone();
    let (options, watch) = (Options { min_blocks: LEAST_BLOCKS, ..quick() }, Watch::new());
    let station = Station::take(&options, 0, &Card::read(), &watch)?;
    let bench = Bench {
        plan,
        options: &options,
        watch: &watch,
        station: &station,
        orders: williams_orders(plan.entries.len()),
        against: vec![0; plan.entries.len()],
        expected: Vec::new(),
        seen: Disturbances::default(),
        frequencies: Vec::new(),
    };
    with_clock(&bench, wanted, clock, Duration::from_secs(600), &|_| ())
}

/// A flat arm of 200 counts, and one with 60 of which every 50th operation costs 2,000, in the second half two of three.
fn two() -> Plan {
    let rare = |at: usize| match at {
        at if at >= OPERATIONS / 2 => 60 + 1940 * u64::from(at % 3 != 0),
        at => 60 + 1940 * u64::from(at % 50 == 0),
    };
    plan(vec![entry("flat", Role::Baseline, costing(|_| 200)), entry("rare", Role::Arm, costing(rare))])
}

fn of(tails: &Tails, at: usize) -> &Tail {
    &tails.arms[at]
}

#[test]
fn percentiles_parts_and_floor_are_what_the_clock_says() {
    let wanted = PerOperation { replays: 3, parts: halves(), ..PerOperation::default() };
    let tails = timed_with(&two(), &wanted, Synthetic { read: 20 }).expect("timed");
    let (flat, rare) = (of(&tails, 0), of(&tails, 1));
    assert_eq!(tails.arms.len(), 2);
    // 20 counts of half a nanosecond for the reading itself: the floor, which stays in every figure.
    for tail in [flat, rare] {
        assert_eq!((tail.floor.p50, tail.floor.p999, tail.floor.max), (10.0, 10.0, 10.0));
        assert_eq!((tail.placements, tail.replays), (LEAST_BLOCKS, 3));
        assert_eq!(tail.whole.all.count, (OPERATIONS * LEAST_BLOCKS * 3) as u64);
        assert_eq!(tail.whole.least.count, OPERATIONS as u64);
    }
    let close = |got: f64, wanted: f64| (got / wanted - 1.0).abs() < 0.001;
    assert!(close(flat.whole.all.percentiles.p50, 110.0) && flat.whole.all.percentiles.max == 110.0);
    let (before, after) = (rare.part("before").expect("there"), rare.part("after").expect("there"));
    assert!(close(before.all.percentiles.p50, 40.0), "{:?}", before.all.percentiles);
    assert!(close(before.all.percentiles.p90, 40.0));
    assert!(close(before.all.percentiles.p99, 1010.0));
    assert!(close(after.all.percentiles.p90, 1010.0) && after.all.percentiles.max == 1010.0);
    // 41 dear ones of 2,048 before, and those that three doesn't divide after.
    assert!(close(before.all.mean, 40.0 + 970.0 * 41.0 / 2048.0), "{}", before.all.mean);
    let dear = (OPERATIONS / 2..OPERATIONS).filter(|at| at % 3 != 0).count() as f64;
    assert!(close(after.least.mean, 40.0 + 970.0 * dear / 2048.0));
    assert_eq!((before.count, after.first), (OPERATIONS / 2, OPERATIONS / 2));
    for stretch in [before, after] {
        let p99 = stretch.typical.p99.expect("2,048 operations are enough");
        assert_eq!(stretch.blocks.len(), LEAST_BLOCKS);
        assert!(p99.low <= p99.estimate && p99.estimate <= p99.high && close(p99.estimate, 1010.0));
    }
    // The course shows where it changes.
    let course: Vec<f64> = rare.course.iter().map(|point| point.mean).collect();
    let half =
        rare.course.iter().position(|point| point.first == OPERATIONS / 2).expect("a bin begins at the edge");
    assert!(course[..half].iter().all(|&mean| mean < 150.0), "{course:?}");
    assert!(course[half..].iter().all(|&mean| mean > 500.0), "{course:?}");
    assert_eq!(rare.course.iter().map(|point| point.count).sum::<usize>(), OPERATIONS);
    let counts = || rare.course.iter().map(|point| point.count);
    assert!(counts().max().expect("bins") - counts().min().expect("bins") <= 1);
    let checks = [checks::COUNT, checks::FLOOR].map(|name| outcome(&tails.checks, name));
    // The second arm's median is 40 ns or so, the floor 10.
    assert_eq!(checks, [Outcome::Held, Outcome::Held]);
}

fn outcome(checks: &[Check], name: &str) -> Outcome {
    checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no {name}")).outcome
}

#[test]
fn a_timer_that_costs_as_much_as_the_arm_fails_its_check() {
    let tails = timed_with(&two(), &PerOperation::default(), Synthetic { read: 100 }).expect("timed");
    let floor = tails.checks.iter().find(|check| check.name == checks::FLOOR).expect("there");
    assert_eq!(floor.outcome, Outcome::Failed);
    assert!(floor.detail.contains("half of the median of rare: not resolved"), "{}", floor.detail);
    assert!(floor.is_about_measuring());
    assert!(checks::any_failed(&tails.checks));
}

#[test]
fn an_arm_that_is_wrong_in_windows_of_one_alone_is_found_out() {
    let lazy = Custom(|input: &Input, window: Window| {
        if window.count == 1 && window.first == 1234 {
            return Checksum::EMPTY;
        }
        input.items::<u64>()[window.first..][..window.count]
            .iter()
            .fold(Checksum::EMPTY, |sum, item| sum.fold(*item, 1))
    });
    let plan = plan(vec![entry("fold", Role::Baseline, Fold { repeats: 0 }), entry("lazy", Role::Arm, lazy)]);
    match timed_with(&plan, &PerOperation::default(), Synthetic { read: 1 }) {
        Err(Error::ChecksumMismatch { arm, first, count, .. }) => {
            assert_eq!((arm.as_str(), first, count), ("lazy", 1234, 1));
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn a_missing_time_is_noticed() {
    let tails = timed_with(&two(), &PerOperation::default(), Synthetic { read: 20 }).expect("timed");
    let named = |tails: &Tails| -> Check {
        let named: Vec<(&str, &Tail)> = ["flat", "rare"].into_iter().zip(&tails.arms).collect();
        checks::counted(&named, OPERATIONS, LEAST_BLOCKS)
    };
    assert_eq!(named(&tails).outcome, Outcome::Held);
    let mut broken = tails;
    broken.arms[1].whole.all.histogram[0].1 -= 1;
    let check = named(&broken);
    assert_eq!(check.outcome, Outcome::Failed);
    assert!(check.detail.contains("rare 81919"), "{}", check.detail);
}

#[test]
fn a_counter_that_cannot_be_trusted_fails_its_check() {
    let outcome =
        |promised, host, drift, backwards| checks::one_rate(promised, host, drift, backwards).outcome;
    assert_eq!(outcome(Some(true), None, 1e-5, 0), Outcome::Held);
    assert_eq!(outcome(Some(true), Some("KVM"), -1e-5, 0), Outcome::Held);
    assert_eq!(outcome(Some(true), None, 0.01, 0), Outcome::Failed);
    assert_eq!(outcome(Some(true), None, f64::NAN, 0), Outcome::Failed);
    assert_eq!(outcome(Some(true), None, 0.0, 1), Outcome::Failed);
    assert_eq!(outcome(Some(false), None, 0.0, 0), Outcome::Failed);
    assert_eq!(outcome(Some(false), Some("KVM"), 0.0, 0), Outcome::NotApplicable);
    assert_eq!(outcome(None, None, 0.0, 0), Outcome::NotApplicable);
    let caveat = checks::one_rate(Some(true), Some("KVM"), 0.0, 0).detail;
    assert!(caveat.contains("under KVM its rate is the host's affair"), "{caveat}");
}

#[test]
fn a_race_carries_tails_where_its_plan_asks_for_them() {
    let entries = || {
        vec![
            entry("fold", Role::Baseline, Fold { repeats: 200 }),
            entry("more", Role::Arm, Fold { repeats: 1000 }),
        ]
    };
    let without = race_with(&plan(entries()), &quick()).expect("a race");
    assert!(without.arms.iter().all(|arm| arm.tail.is_none()));
    let asked = Plan { per_operation: Some(PerOperation::default()), ..plan(entries()) };
    let cell = race_with(&asked, &quick()).expect("a race");
    let Some(tail) = &cell.arms[1].tail else {
        // No usable counter here: then a check says why.
        assert_eq!(outcome(&cell.checks, checks::COUNT), Outcome::NotApplicable);
        return;
    };
    let fold = cell.arms[0].tail.as_ref().expect("as the other");
    // Five times the work, whatever the machine does meanwhile.
    assert!(tail.whole.least.percentiles.p50 > 1.5 * fold.whole.least.percentiles.p50);
    assert!(tail.floor.p50 > 0.0 && tail.floor.p50 < tail.whole.all.percentiles.p50);
    let (least, all) = (&tail.whole.least.percentiles, &tail.whole.all.percentiles);
    assert!(least.p50 <= all.p50 && least.p99 <= all.p99 && least.max <= all.max);
    for name in [checks::COUNT, checks::FLOOR, checks::RATE] {
        assert!(cell.checks.iter().any(|check| check.name == name), "{name}");
    }
}

#[test]
fn differences_are_paired_by_placement_and_void_with_their_checks() {
    let wanted = PerOperation { parts: halves(), ..PerOperation::default() };
    let plan = Plan { per_operation: Some(wanted.clone()), ..two() };
    let mut cell = race_with(&plan, &quick()).expect("a race");
    cell.status = crate::race::Status::Held;
    // The race's own clock is the machine's; the synthetic one says what must come out.
    cell.checks.clear();
    timed_with(&plan, &wanted, Synthetic { read: 20 }).expect("timed").attach(&mut cell);
    let p99 = |cell: &crate::race::Cell, above, below| {
        super::difference(cell, (above, below), |of| of.p99, "name".into(), "what".into())
    };
    let above = p99(&cell, ("rare", Some("before")), ("flat", Some("before"))).expect("both are there");
    assert!((above.value - 900.0).abs() < 2.0 && above.low <= above.value && above.value <= above.high);
    assert!(!above.void && above.unit == "ns/iteration");
    let itself = p99(&cell, ("flat", None), ("flat", Some("after"))).expect("both are there");
    assert_eq!((itself.value, itself.low, itself.high), (0.0, 0.0, 0.0));
    for missing in [("nobody", None), ("flat", Some("middle"))] {
        assert!(p99(&cell, missing, ("flat", None)).is_none());
    }
    for name in [checks::COUNT, checks::FLOOR, checks::RATE, "control:tail-built-apart"] {
        let mut broken = cell.clone();
        broken.checks.push(Check::new(name, false, "broken on purpose"));
        assert!(p99(&broken, ("rare", None), ("flat", None)).expect("there").void, "{name}");
    }
    cell.status = crate::race::Status::NoVerdict;
    assert!(p99(&cell, ("rare", None), ("flat", None)).expect("there").void);
}

#[test]
fn unusable_wishes_are_refused_by_name() {
    let refused = |wanted: PerOperation| wanted.validate(100).expect_err("refused").to_string();
    let with = |change: fn(&mut PerOperation)| {
        let mut wanted = PerOperation::default();
        change(&mut wanted);
        refused(wanted)
    };
    assert!(with(|w| w.replays = 0).starts_with("replays = 0: wanted 1 to 1000"));
    assert!(with(|w| w.replays = 1001).starts_with("replays = 1001"));
    assert!(with(|w| w.turn = 0).starts_with("turn = 0: wanted 1 to 4096"));
    assert!(with(|w| w.turn = 4097).starts_with("turn = 4097"));
    let part = |first, count| PerOperation {
        parts: vec![Part { name: "half".into(), first, count }],
        ..PerOperation::default()
    };
    for (first, count) in [(0, 0), (0, 101), (100, 1), (usize::MAX, 2)] {
        assert!(refused(part(first, count)).starts_with("parts = half ("), "{first} {count}");
    }
    part(99, 1).validate(100).expect("the last operation");
    PerOperation::default().validate(1).expect("a single operation");
}

#[test]
fn a_stop_is_heard_before_the_next_turn() {
    let _alone = alone();
    let (options, watch) = (quick(), Watch::new());
    let plan = two();
    let station = Station::take(&options, 0, &Card::read(), &watch).expect("a station");
    watch.stop();
    let bench = Bench {
        plan: &plan,
        options: &options,
        watch: &watch,
        station: &station,
        orders: Vec::new(),
        against: vec![0; 2],
        expected: Vec::new(),
        seen: Disturbances::default(),
        frequencies: Vec::new(),
    };
    let stopped =
        with_clock(&bench, &PerOperation::default(), Synthetic { read: 1 }, Duration::from_secs(1), &|_| ());
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn times_below_zero_are_counted_and_not_believed() {
    let mut recorder = Recorder::new(4, &[]).expect("room");
    recorder.turn(0, &[5, 0u64.wrapping_sub(3), 7, 9]);
    recorder.end_of_placement(1.0);
    assert_eq!(recorder.disturbed.backwards, 1);
    let tail = recorder.finish(1, 1, 1.0, 1.0);
    assert_eq!((tail.whole.all.percentiles.max, tail.whole.all.count), (9.0, 4));
}

#[test]
fn a_placement_with_too_few_operations_gives_no_percentile_of_its_own() {
    let mut recorder = Recorder::new(400, &[]).expect("room");
    for _ in 0..20 {
        recorder.turn(0, &[10; 400]);
        recorder.end_of_placement(1.0);
    }
    let stretch = recorder.finish(20, 1, 1.0, 1.0).whole;
    assert!(stretch.typical.p99.is_some() && stretch.typical.p999.is_none());
    assert!(stretch.blocks.iter().all(|block| block.p999.is_nan() && block.max == 10.0));
}

proptest! {
    #[test]
    fn histograms_agree_with_sorted_times(counts in proptest::collection::vec(1u64..5_000_000, 1..600)) {
        let mut recorded = Recorded::new();
        counts.iter().for_each(|&count| recorded.record(count));
        let distribution = super::Distribution::of(&recorded, 1.0);
        let mut sorted = counts.clone();
        sorted.sort_unstable();
        let nearest = |share: f64| sorted[((share * sorted.len() as f64).ceil() as usize).max(1) - 1] as f64;
        let found = distribution.percentiles;
        for (found, share) in [(found.p50, 0.5), (found.p90, 0.9), (found.p99, 0.99), (found.p999, 0.999)] {
            // The bucket's upper end: at most a thousandth above, never below.
            prop_assert!(found >= nearest(share) && found <= nearest(share) * 1.001 + 1.0, "{found} {share}");
        }
        prop_assert_eq!(found.max, *sorted.last().unwrap() as f64);
        prop_assert!((distribution.mean * sorted.len() as f64 - sorted.iter().sum::<u64>() as f64).abs() < 1.0);
        let held: u64 = distribution.histogram.iter().map(|(_, count)| count).sum();
        prop_assert_eq!(held, counts.len() as u64);
        prop_assert!(distribution.histogram.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn turns_cover_every_operation_once_and_cross_no_edge(
        operations in 1usize..3000, turn in 1usize..400, cut in 0.0f64..1.0
    ) {
        let first = (cut * operations as f64) as usize;
        let parts = match first {
            0 => Vec::new(),
            first => vec![
                Part { name: "a".into(), first: 0, count: first },
                Part { name: "b".into(), first, count: operations - first },
            ],
        };
        let parts = parts.into_iter().filter(|part| part.count > 0).collect();
        let turns = PerOperation { replays: 1, turn, parts }.turns(operations);
        let mut next = 0;
        for window in &turns {
            prop_assert_eq!(window.first, next);
            prop_assert!(window.count >= 1 && window.count <= turn);
            prop_assert!(window.first >= first || window.first + window.count <= first);
            next += window.count;
        }
        prop_assert_eq!(next, operations);
    }
}
