//! Simulations end to end where valgrind is installed; what is refused, and checks that can fail, everywhere.

use std::path::PathBuf;

use super::findings::{Repeats, empty_region};
use super::processes::Found;
use super::*;
use crate::race::simulate::{Events, Part, Profile, Ran};
use crate::race::{Outcome, simulate::request};

/// Set in the process that performs a job: its file.
const JOB: &str = "NANOKATA_TEST_JOB";

/// Not a test of anything by itself: what the process under valgrind runs, since a test's own binary is the one program
/// that there is.
#[test]
fn performs_the_job_that_it_is_given() {
    let Some(file) = std::env::args().find(|argument| argument.ends_with("job.json")) else { return };
    assert!(std::env::var_os(JOB).is_some() && request::running_on_valgrind());
    perform(&PathBuf::from(file)).expect("performed");
}

fn options() -> SimulateOptions {
    let program = std::env::current_exe().expect("this binary");
    let name = "simulate::tests::performs_the_job_that_it_is_given";
    let arguments = ["--test-threads=1", "--exact", name].map(str::to_owned).to_vec();
    let environment = vec![(JOB.to_owned(), "1".to_owned())];
    let path = std::env::var_os("PATH").unwrap_or_default();
    SimulateOptions::new(Performer { program, arguments, environment }, path)
}

fn given(set: &[(&str, &[Value])]) -> BTreeMap<String, Vec<Value>> {
    set.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect()
}

fn text(word: &str) -> Value {
    Value::Text(word.into())
}

fn refused(id: &str, set: &[(&str, &[Value])], change: impl Fn(&mut SimulateOptions)) -> String {
    let mut options = options();
    change(&mut options);
    let watch = Watch::new();
    match simulate(id, &given(set), &options, &Card::read(), &watch) {
        Ok(_) => panic!("simulated"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn unusable_requests_are_refused_before_anything_runs() {
    let none: &[(&str, &[Value])] = &[];
    assert!(refused("dispatch.mechnism", none, |_| ()).contains("did you mean dispatch.mechanism"));
    assert!(refused("dispatch.mechanism", &[("handlrs", &[Value::Int(3)])], |_| ()).contains("handlers"));
    assert!(refused("dispatch.mechanism", none, |options| options.passes = 0).starts_with("passes = 0"));
    assert!(refused("dispatch.mechanism", none, |options| options.runs = 17).starts_with("runs = 17"));
    let no_time = |options: &mut SimulateOptions| options.timeout = Duration::ZERO;
    assert!(refused("dispatch.mechanism", none, no_time).starts_with("timeout = 0"));
    let absent = refused("dispatch.mechanism", none, |options| options.path = OsString::new());
    assert!(absent.contains("install"), "{absent}");
    let many: Vec<Value> = (1..=65).map(Value::Int).collect();
    let many = refused("dispatch.mechanism", &[("handlers", &many)], |_| ());
    assert!(many.contains("at most 64"), "{many}");
}

#[test]
fn any_parameter_may_be_a_list() {
    let experiment = catalogue::find("dispatch.mechanism").expect("there");
    let set = given(&[
        ("body", &[text("fat"), text("tiny")]),
        ("traffic", &[text("hot"), text("zipf")]),
        ("handlers", &[Value::Int(5)]),
    ]);
    let cells = cells(experiment, &set, &Card::read()).expect("four settings");
    let seen: std::collections::BTreeSet<(&str, &str)> =
        cells.iter().map(|cell| (cell.text("body"), cell.text("traffic"))).collect();
    assert_eq!((cells.len(), seen.len()), (4, 4));
}

fn found(instructions: u64, d1_misses: u64) -> Found {
    let totals = Events { instructions, d1_misses, ..Events::default() };
    let profile = Profile { parts: Vec::new(), functions: Vec::new() };
    Found { ran: Ran { operations: 1, checksum: 0 }, totals, empty: Events::default(), profile }
}

fn repeats(varies: Option<&'static str>, runs: &[Found]) -> Vec<crate::race::Check> {
    let mut repeats = Repeats::default();
    repeats.look("scan", varies, runs);
    repeats.checks(runs.len() as u32)
}

#[test]
fn counts_that_differ_between_runs_fail_their_check() {
    let outcome = |checks: &[crate::race::Check]| checks[0].outcome;
    assert_eq!(outcome(&repeats(None, &[found(5, 1), found(5, 1)])), Outcome::Held);
    let differs = repeats(None, &[found(5, 1), found(6, 1)]);
    assert_eq!(outcome(&differs), Outcome::Failed);
    assert!(differs[0].detail.contains("scan: instructions 5 and 6"), "{}", differs[0].detail);
    let data = repeats(None, &[found(5, 1), found(5, 2)]);
    assert!(data[0].outcome == Outcome::Held && data[0].detail.contains("d1_misses 1 and 2"));
    assert_eq!(outcome(&repeats(None, &[found(5, 1)])), Outcome::NotApplicable);
    let varies = repeats(Some("random keys"), &[found(5, 1), found(6, 1)]);
    assert_eq!((varies.len(), outcome(&varies)), (1, Outcome::NotApplicable));
    assert!(varies[0].detail.contains("random keys") && varies[0].detail.contains("5 and 6"));
}

#[test]
fn audits_stand_but_for_the_level_that_is_not_simulated() {
    let failed = |name: &str| crate::race::Check::new(name, false, "seen");
    let audited = findings::audits(vec![failed("pool-in-cache"), failed("bodies-distinct")]);
    assert_eq!(audited[0].outcome, Outcome::NotApplicable);
    assert!(audited[0].detail.ends_with("seen"));
    assert_eq!(audited[1].outcome, Outcome::Failed);
}

#[test]
fn an_empty_region_that_reads_something_fails_its_check() {
    let cell = |empty: Events| {
        let mut arm = simulated_arm("scan".into(), "arm", None, found(1, 0));
        arm.empty = empty;
        SimulatedCell { parameters: BTreeMap::new(), arms: vec![arm], checks: Vec::new() }
    };
    let outcome = |empty| empty_region(&[cell(empty)]).outcome;
    assert_eq!(outcome(Events { instructions: 20, data_reads: 5, ..Events::default() }), Outcome::Held);
    assert_eq!(outcome(Events { instructions: 5000, ..Events::default() }), Outcome::Failed);
    assert_eq!(outcome(Events { i1_misses: 100, ..Events::default() }), Outcome::Failed);
}

/// Where valgrind is: everything that the process does, in this debug build.
#[test]
fn scans_probe_as_often_as_counted_and_counts_repeat() {
    let options = SimulateOptions { arms: vec!["scan".into(), "table_compact".into()], ..options() };
    if let Err(absent) = Valgrind::find(&options.path) {
        eprintln!("not applicable: {absent}");
        return;
    }
    let set =
        given(&[("handlers", &[Value::Int(20)]), ("body", &[text("tiny")]), ("pool", &[Value::Int(4096)])]);
    let card = Card::read();
    let watch = Watch::new();
    let report = simulate("dispatch.selection", &set, &options, &card, &watch).expect("simulated");
    assert_eq!(report.exit_code(), 0, "{:?}", report.checks);
    let [cell] = &report.cells[..] else { panic!("one setting") };
    let [scan, table] = &cell.arms[..] else { panic!("two arms") };
    assert_eq!((scan.operations, &scan.checksum), (4096, &table.checksum));
    // Counted by callgrind as calls, and by the experiment in a pass of its own: the same number, to the last digit.
    let experiment = catalogue::find("dispatch.selection").expect("there");
    let values = cells(experiment, &set, &card).expect("one setting").remove(0);
    let plan = experiment.plan(&values, 0, &card, &watch).expect("a plan");
    let probes = plan.entries[0].probes.as_ref().expect("scans probe").mean;
    let matches = scan.profile.parts.iter().find(|cost| cost.part == Part::Matches).expect("listed");
    assert_eq!(matches.calls as f64 / 4096.0, probes);
    let processed = |arm: &SimulatedArm| {
        arm.profile.parts.iter().find(|cost| cost.part == Part::Process).expect("listed").calls
    };
    // Unmatched packets reach no handler; all others reach the same one whichever way it is found.
    assert_eq!(processed(scan), processed(table));
    assert!((1..4096).contains(&processed(scan)), "{}", processed(scan));
    assert!(scan.totals.instructions > 2 * table.totals.instructions);
    let looping = &scan.profile.parts[0];
    assert!(looping.inclusive.instructions as f64 > 0.99 * scan.totals.instructions as f64);
}
