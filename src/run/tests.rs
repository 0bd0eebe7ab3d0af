//! Experiments end to end, and their faults: structure, counts and checks, never wall time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::{RunOptions, cells, monotonic_checks, run};
use crate::experiments::doctor::{DoctorOptions, examine};
use crate::experiments::instrument;
use crate::machine::{Card, affinity};
use crate::race::{
    self, Check, Fault, LEAST_BLOCKS, Options, Outcome, Parameter, Report, Status, Value, Watch,
};
use crate::{Error, Result, catalogue};

mod calling;
mod icache;

/// Races of tests that run at once would all be pinned to the same CPU: one at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(crate) fn quick() -> RunOptions {
    let race = Options {
        bound: Duration::from_millis(300),
        max_blocks: LEAST_BLOCKS,
        allow_debug_build: true,
        ..Options::quick()
    };
    RunOptions { race, companions: false, sabotage: None }
}

pub(crate) fn given(set: &[(&str, &[Value])]) -> BTreeMap<String, Vec<Value>> {
    set.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect()
}

pub(crate) fn text(word: &str) -> Value {
    Value::Text(word.into())
}

pub(crate) fn measure(id: &str, set: &[(&str, &[Value])]) -> Result<Report> {
    let _alone = alone();
    run(id, &given(set), &quick(), &Card::read(), &Watch::new())
}

/// The report, or `None` where others keep the CPU so busy that no round goes undisturbed: refused with that reason, and
/// nothing can be said of the report then.
pub(crate) fn unless_busy(result: Result<Report>) -> Option<Report> {
    match result {
        Err(Error::NotMeasurable { reason, .. }) if reason.contains("undisturbed") => None,
        other => Some(other.expect("a run")),
    }
}

fn check<'a>(report: &'a Report, name: &str) -> &'a Check {
    report.all_checks().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"))
}

fn small<'a>() -> Vec<(&'a str, &'a [Value])> {
    const FEW: &[Value] = &[Value::Int(10)];
    const POOL: &[Value] = &[Value::Int(4096)];
    vec![("handlers", FEW), ("pool", POOL)]
}

#[test]
fn selection_reports_every_arm_with_exact_probes() {
    let Some(report) =
        unless_busy(measure("dispatch.selection", &[small(), vec![("body", &[text("tiny")])]].concat()))
    else {
        return;
    };
    let cell = &report.cells[0];
    let names: Vec<&str> = cell.arms.iter().map(|arm| arm.arm.as_str()).collect();
    let listed: Vec<&str> =
        catalogue::find("dispatch.selection").expect("there").arms().iter().map(|arm| arm.name).collect();
    assert_eq!(names, listed);
    let scan = cell.arm("scan").expect("there").probes.as_ref().expect("counted");
    let expected = scan.expected.expect("enumerated");
    // 5.74 at ten handlers, uniform, 2 % unmatched; the pool's own mean lies near it.
    assert!((expected - 5.74).abs() < 0.005, "{expected}");
    assert!((scan.mean - expected).abs() < 0.3 && scan.max == 10, "{scan:?}");
    for arm in &cell.arms {
        assert_eq!(arm.code_layouts, race::CODE_COPIES, "{}", arm.arm);
        assert_eq!(arm.checksum, cell.arms[0].checksum, "{}", arm.arm);
        assert!(arm.footprint_bytes.is_some_and(|bytes| bytes > 0));
    }
    assert!(report.contrasts.iter().any(|contrast| contrast.name == "finding:tiny:10"));
    let failed: Vec<_> = report.all_checks().filter(|check| check.outcome == Outcome::Failed).collect();
    assert!(
        failed.iter().all(|check| check.name.starts_with("control:") || check.name == "quiet"),
        "{failed:?}"
    );
}

#[test]
fn companions_are_run_beside() {
    let _alone = alone();
    let mut options = quick();
    options.companions = true;
    let set = given(&[small(), vec![("body", &[text("tiny")])]].concat());
    let Some(report) = unless_busy(run("dispatch.selection", &set, &options, &Card::read(), &Watch::new()))
    else {
        return;
    };
    let [beside] = &report.companions[..] else { panic!("one companion") };
    if beside.checks.iter().any(|check| check.name.starts_with("measured:")) {
        // Others kept one of its races from being measured.
        return;
    }
    assert_eq!((beside.experiment.as_str(), beside.cells.len()), ("dispatch.mechanism", 2));
    let calling: Vec<&str> = beside.contrasts.iter().map(|contrast| contrast.name.as_str()).collect();
    for law in ["hot", "uniform"] {
        assert!(calling.iter().any(|name| name.starts_with("calling:") && name.contains(law)), "{calling:?}");
    }
}

#[test]
fn two_threads_and_no_packets_go_through_the_same_contract() {
    let Some(report) =
        unless_busy(measure("cache.levels", &[("working_set", &[Value::Int(4096), Value::Int(16_384)])]))
    else {
        return;
    };
    assert_eq!(report.cells.len(), 2);
    assert!(report.cells[0].arm("random_cycle").expect("there").cycles >= 3.0);
    if affinity::allowed_cpus().expect("a mask").len() < 2 {
        let refused = measure("sharing.line", &[("distance", &[Value::Int(4)])]);
        assert!(matches!(refused, Err(Error::NotMeasurable { .. })));
        return;
    }
    let Some(report) = unless_busy(measure("sharing.line", &[("distance", &[Value::Int(4)])])) else {
        return;
    };
    let cell = &report.cells[0];
    assert_eq!(cell.helper_cpus.len(), 1);
    assert_ne!(Some(cell.helper_cpus[0]), cell.cpu);
}

#[test]
fn tails_come_with_their_bounds_their_controls_and_their_shift() {
    let Some(report) =
        unless_busy(measure("dispatch.tail", &[small(), vec![("body", &[text("tiny")])]].concat()))
    else {
        return;
    };
    let probes = report
        .facts
        .iter()
        .find(|fact| fact.name == "probes:scan_ordered")
        .expect("there")
        .value
        .expect("one");
    // Ten handlers, 95/5 over two: some 1.7 probes before, 10 under the adversary.
    assert!((4.0..8.0).contains(&probes), "{probes}");
    assert!(
        report.facts.iter().any(|fact| fact.name.starts_with("most-probes:") && fact.value == Some(10.0))
    );
    for cell in &report.cells {
        let Value::Int(pool) = cell.parameters["pool"] else { panic!("a whole number") };
        let half = pool as usize / 2;
        let of = |name: &str| cell.checks.iter().find(|check| check.name == name);
        assert_eq!(of("worst-probes").expect("there").outcome, Outcome::Held);
        if of("operations-timed").expect("there").outcome == Outcome::NotApplicable {
            continue; // no usable counter here, and the check says why
        }
        assert_eq!(of("operations-timed").expect("there").outcome, Outcome::Held);
        assert!(of("control:tail-built-apart").is_some());
        for arm in &cell.arms {
            let tail = arm.tail.as_ref().expect("timed");
            let counts: Vec<(&str, usize)> =
                tail.parts.iter().map(|part| (part.name.as_str(), part.count)).collect();
            assert_eq!(counts, [("before", half), ("after", half)], "{}", arm.arm);
        }
    }
    let expected = if report.cells.len() < 2 || report.cells[0].arms[0].tail.is_none() { 0 } else { 7 };
    assert!(report.contrasts.len() >= expected, "{:?}", report.contrasts);
}

#[test]
fn a_pool_past_the_cache_is_flagged() {
    let _alone = alone();
    let mut card = Card::read();
    // This machine's L2 shrunk to less than the pool: what a fixed pool is on a smaller machine.
    card.caches.iter_mut().filter(|cache| cache.level == 2).for_each(|cache| cache.bytes = 16 * 1024);
    if card.l2_bytes().is_none() {
        return;
    }
    let set = given(&[small(), vec![("body", &[text("tiny")])]].concat());
    let Some(report) = unless_busy(run("dispatch.selection", &set, &quick(), &card, &Watch::new())) else {
        return;
    };
    assert_eq!(check(&report, "pool-in-cache").outcome, Outcome::Failed);
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn the_rigged_generator_is_flagged() {
    let rigged =
        [("traffic", &[text("skewed")][..]), ("shuffle", &[Value::Flag(false)]), ("body", &[text("tiny")])];
    let Some(report) = unless_busy(measure("dispatch.selection", &[small(), rigged.to_vec()].concat()))
    else {
        return;
    };
    assert_eq!(check(&report, "list-not-sorted-beforehand").outcome, Outcome::Failed);
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn identical_bodies_are_flagged() {
    let Some(report) =
        unless_busy(measure("dispatch.selection", &[small(), vec![("body", &[text("identical")])]].concat()))
    else {
        return;
    };
    assert_eq!(check(&report, "bodies-distinct").outcome, Outcome::Failed);
}

#[test]
fn sabotaged_arms_are_caught_one_by_one() {
    let _alone = alone();
    let sabotage = |id: &str, set: &[(&str, &[Value])], fault: Fault| {
        let options = RunOptions { sabotage: Some(fault), ..quick() };
        run(id, &given(set), &options, &Card::read(), &Watch::new())
    };
    // Of five handlers none tests more than its key, of ten one does.
    let counts: &[Value] = &[Value::Int(5), Value::Int(10)];
    let set = [("handlers", counts), ("pool", &[Value::Int(4096)]), ("body", &[text("tiny")])];
    let report = sabotage("dispatch.selection", &set, Fault::SkipResidual).expect("a run");
    assert_eq!((report.sabotage, report.exit_code()), (Some("skip-residual"), 1));
    assert!(report.cells.is_empty() && report.companions.is_empty());
    let arms = catalogue::find("dispatch.selection").expect("there").arms();
    for arm in arms.iter().filter(|arm| !arm.name.ends_with("_again")) {
        let of = |handlers: usize| {
            check(&report, &format!("checksum:{} (handlers {handlers}, body tiny)", arm.name))
        };
        assert_eq!(of(5).outcome, Outcome::NotApplicable, "{}", arm.name);
        assert_eq!(of(10).outcome, Outcome::Failed, "{}", arm.name);
        assert!(of(10).detail.starts_with("caught: computed 0x"), "{}", of(10).detail);
    }
    let none = sabotage("dispatch.selection", &[("handlers", &counts[..1])], Fault::SkipResidual);
    assert!(matches!(none, Err(Error::InvalidArgument { name, .. }) if name == "sabotage"));
    let loads = [("working_set", &[Value::Int(4096)][..])];
    let report = sabotage("cache.levels", &loads, Fault::ConstantResult).expect("a run");
    assert_eq!(report.exit_code(), 1);
    let refused = sabotage("cache.levels", &loads, Fault::StalePayload).expect_err("replays no packets");
    assert!(refused.to_string().contains("no arm of cache.levels can have it"), "{refused}");
}

/// Traps whose check follows from what they are, not from how fast anything is.
#[test]
fn traps_are_caught_by_the_checks_of_every_race() {
    let mut certain = vec![
        "traps.coarse_clock",
        "traps.arm_major",
        "traps.constant_inputs",
        "traps.one_handler",
        "traps.identical_bodies",
        "traps.addresses",
        "traps.learned_pool",
    ];
    if affinity::current_cpu().is_some() {
        certain.push("traps.unpinned");
    }
    let pool: &[Value] = &[Value::Int(2048)];
    for id in certain {
        let lengths: &[Value] = &[Value::Int(64), Value::Int(4096)];
        let set = [("pool", if id == "traps.learned_pool" { lengths } else { pool })];
        let Some(report) = unless_busy(measure(id, &set)) else { continue };
        let Some(trap) = &report.trap else {
            // A race that others kept from being measured has a check that says so.
            assert!(report.checks.iter().any(|check| check.name.starts_with("measured:")), "{id}");
            continue;
        };
        assert_eq!(trap.fires, Outcome::Held, "{id}: {}", trap.wrong_detail);
        assert_eq!(check(&report, "trap-fires").outcome, Outcome::Held, "{id}");
        if trap.holds != Outcome::Held {
            // A busy machine may fail the right race on what is about measuring, and on nothing else.
            let right = report.cells.iter().find(|cell| !cell.faulty).expect("a right race");
            assert_eq!(right.status, Status::NoVerdict, "{id}: {}", trap.right_detail);
        }
        assert!(report.cells.iter().any(|cell| cell.faulty) && report.cells.iter().any(|cell| !cell.faulty));
    }
}

#[test]
fn a_trap_needs_both_its_races() {
    let right = [("configuration", &[text("right")][..]), ("pool", &[Value::Int(2048)])];
    let Some(report) = unless_busy(measure("traps.coarse_clock", &right)) else { return };
    assert!(report.trap.is_none() && report.checks.iter().all(|check| !check.name.starts_with("trap")));
}

#[test]
fn a_cost_that_falls_where_it_cannot_is_not_a_finding() {
    // A pool past the cache at the lower setting: random loads over 64 MiB; within the cache at the higher one. The
    // number of handlers that such a run would be labelled with can only raise its cost, and yet it falls.
    let Some(mut report) =
        unless_busy(measure("cache.levels", &[("working_set", &[Value::Int(4096), Value::Int(64 << 20)])]))
    else {
        return;
    };
    if report.cells.len() < 2 {
        // Others kept one of the two from being measured.
        return;
    }
    let parameters = catalogue::find("cache.levels").expect("there").parameters(&Card::read());
    let honest = monotonic_checks(&parameters[0], &mut report.cells);
    assert!(honest.iter().all(|check| check.outcome == Outcome::Held), "{honest:?}");
    for (cell, handlers) in report.cells.iter_mut().zip([100, 50]) {
        cell.parameters = BTreeMap::from([("handlers".to_string(), Value::Int(handlers))]);
    }
    let handlers = Parameter { name: "handlers", ..parameters[0].clone() };
    let checks = monotonic_checks(&handlers, &mut report.cells);
    if checks[0].outcome == Outcome::NotApplicable {
        // On a machine that others keep busy too few blocks may be left to pair.
        assert!(report.cells.iter().any(|cell| cell.blocks < 6), "{checks:?}");
        return;
    }
    assert_eq!(checks[0].outcome, Outcome::Failed, "{checks:?}");
    assert!(checks[0].name.starts_with("monotonic:handlers"));
    for cell in &report.cells {
        assert_eq!(cell.status, Status::NoVerdict);
        // Another fault may have voided it first; then that stands as the reason.
        assert!(cell.reason.is_some());
        assert_eq!(cell.arm("sequential_cycle").expect("there").verdict, Some(race::Verdict::NotResolved));
    }
    report.checks.extend(checks);
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn bad_parameters_are_refused_before_anything_runs() {
    let refused = |id: &str, set: &[(&str, &[Value])]| match measure(id, set) {
        Ok(_) => panic!("{id} accepted {set:?}"),
        Err(error) => error.to_string(),
    };
    let selection = |name: &'static str, value: Value| refused("dispatch.selection", &[(name, &[value])]);
    assert!(
        selection("handlers", Value::Int(0))
            .starts_with("handlers = 0: wanted a whole number from 1 to 1024")
    );
    assert!(selection("handlers", Value::Int(1025)).starts_with("handlers = 1025"));
    assert!(selection("handlers", Value::Float(2.5)).starts_with("handlers = 2.5"));
    assert!(selection("exponent", Value::Float(f64::NAN)).starts_with("exponent = NaN"));
    assert!(selection("exponent", Value::Float(f64::INFINITY)).starts_with("exponent = inf"));
    assert!(selection("exponent", Value::Float(-1.0)).starts_with("exponent = -1"));
    assert!(selection("unmatched", Value::Float(1.5)).starts_with("unmatched = 1.5"));
    assert!(selection("pool", Value::Int(0)).starts_with("pool = 0"));
    assert!(selection("body", text("huge")).starts_with("body = huge: wanted one of"));
    assert!(selection("traffic", text("absent.pcap")).starts_with("traffic = absent.pcap"));
    assert!(selection("handler", Value::Int(5)).contains("did you mean handlers?"));
    assert!(refused("dispatch.selection", &[("handlers", &[])]).starts_with("handlers = []"));
    let several = refused("dispatch.selection", &[("pool", &[Value::Int(10), Value::Int(20)])]);
    assert!(several.contains("use a sweep"), "{several}");
    let many: Vec<Value> = (1..=100).map(Value::Int).collect();
    assert!(refused("dispatch.selection", &[("handlers", &many)]).contains("more than 64"));
    let tail = |name: &'static str, value: Value| refused("dispatch.tail", &[(name, &[value])]);
    assert!(tail("replays", Value::Int(0)).starts_with("replays = 0"));
    assert!(tail("turn", Value::Int(4097)).starts_with("turn = 4097: wanted a whole number from 1 to 4096"));
    assert!(tail("shift", text("gentle")).starts_with("shift = gentle: wanted one of"));
    assert!(tail("pool", Value::Int(1)).starts_with("pool = 1: wanted at least 2"));
    assert!(refused("sharing.line", &[("distance", &[Value::Int(5)])]).starts_with("distance = 5"));
    assert!(matches!(measure("dispatch.selektion", &[]), Err(Error::UnknownExperiment { .. })));
}

#[test]
fn a_debug_build_publishes_nothing() {
    let card = Card::read();
    if !card.is_debug_build() {
        return;
    }
    let mut options = quick();
    options.race.allow_debug_build = false;
    let error = run("cache.levels", &BTreeMap::new(), &options, &card, &Watch::new()).expect_err("refused");
    assert!(error.to_string().contains("debug build"), "{error}");
}

#[test]
fn doctor_counts_what_it_says() {
    let _alone = alone();
    let race = Options { max_blocks: LEAST_BLOCKS, allow_debug_build: true, ..Options::quick() };
    let mut options = DoctorOptions { trials: Some(2), trial: Duration::from_millis(200), race };
    let doctor = examine(&options, &Card::read(), &Watch::new()).expect("examined");
    assert_eq!((doctor.method, doctor.bodies.len()), ("trials", 2));
    for body in &doctor.bodies {
        assert_eq!(body.raw_exclusion_rate.trials, 2);
        assert!(body.half_width > 0.0 && body.ns_per_packet > 0.0);
        assert!(body.false_verdict_rate.low <= body.false_verdict_rate.rate);
    }
    options.trials = None;
    let short = examine(&options, &Card::read(), &Watch::new()).expect("examined");
    assert_eq!(short.method, "resampled blocks");
    options.trials = Some(0);
    let error = examine(&options, &Card::read(), &Watch::new()).expect_err("refused");
    assert!(error.to_string().starts_with("trials = 0"), "{error}");
}

#[test]
fn the_instrument_tells_its_floor() {
    let _alone = alone();
    let seen = instrument::look(&quick().race, &Card::read(), &Watch::new()).expect("looked");
    assert!(seen.tick_ns > 0.0 && seen.clock_read_ns > 0.0);
    assert!(seen.floor_low_ns <= seen.floor_ns && seen.floor_ns <= seen.floor_high_ns && seen.floor_ns > 0.0);
    assert!(!seen.counters.is_empty());
    assert!(seen.counters.iter().all(|counter| counter.available != counter.reason.is_some()));
    assert!(matches!(seen.status, Status::Held | Status::NoVerdict));
}
