use crate::Error;
use crate::race::{Check, Origin, Outcome, Report, Status, Value};
use crate::run::tests::{measure, text, unless_busy};

use super::{expect_the_flag, findings};

fn small(traffic: &[Value], permutations: i64) -> crate::Result<Report> {
    measure(
        "dispatch.distribution",
        &[
            ("traffic", traffic),
            ("permutations", &[Value::Int(permutations)]),
            ("handlers", &[Value::Int(20)]),
            ("pool", &[Value::Int(2000)]),
            ("body", &[text("tiny")]),
        ],
    )
}

#[test]
fn the_share_is_given_for_each_permutation_and_the_rigged_list_is_flagged() {
    let Some(report) = unless_busy(small(&[text("skewed"), text("skewed_rigged")], 2)) else { return };
    let Ok(cells) = <&[_; 4]>::try_from(&report.cells[..]) else { return };
    assert_eq!(cells.iter().map(|cell| cell.arms.len()).collect::<Vec<_>>(), [10, 3, 3, 10]);
    let flagged =
        cells[3].checks.iter().find(|check| check.name == "rigged-list-is-flagged").expect("checked");
    assert_eq!(flagged.outcome, Outcome::Held);
    assert!(report.all_checks().any(|check| check.name == "control:captured:skewed"));
    let fact = |name: &str| report.facts.iter().find(|fact| fact.name == name);
    assert!(fact("spread:skewed").is_some() && fact("rigged:skewed_rigged").is_some());
    // Twenty handlers aren't what was published.
    assert!(report.facts.iter().all(|fact| fact.origin != Origin::Published));
    let names: Vec<&str> = report.contrasts.iter().map(|contrast| contrast.name.as_str()).collect();
    assert!(names.iter().all(|name| name.starts_with("captured:skewed")));
}

#[test]
fn races_that_disagree_on_the_share_void_it() {
    let Some(mut report) = unless_busy(small(&[text("skewed")], 1)) else { return };
    if report.cells.len() < 2 {
        return;
    }
    let table = report.cells[0].arm("table_compact").expect("there").blocks.clone();
    // As if nothing were won by sorting beside all arms, and everything beside two.
    for (cell, sorted) in report.cells.iter_mut().zip([400.0, 0.0]) {
        for (arm, add) in [("scan", 400.0), ("scan_ordered", sorted), ("table_compact", 0.0)] {
            let count = cell.block_numbers.len();
            let arm = cell.arms.iter_mut().find(|it| it.arm == arm).expect("there");
            arm.blocks = table.iter().cycle().take(count).map(|cost| cost + add).collect();
        }
    }
    let [check] = &findings::judge(&mut report.cells)[..] else { panic!("one pair") };
    if check.outcome == Outcome::NotApplicable {
        // Too few blocks in common on a busy machine.
        return;
    }
    assert_eq!(check.outcome, Outcome::Failed, "{}", check.detail);
    assert!(report.cells.iter().all(|cell| cell.status == Status::NoVerdict));
    let contrasts = findings::contrasts(&report.cells);
    assert!(contrasts.iter().all(|contrast| contrast.void), "{contrasts:?}");
}

#[test]
fn an_audit_that_misses_the_rigged_list_fails() {
    let mut checks = vec![
        Check::new("list-not-sorted-beforehand", true, "place 50"),
        Check::new("bodies-distinct", true, "all"),
    ];
    expect_the_flag(&mut checks);
    assert_eq!((checks[0].name.as_str(), checks[0].outcome), ("rigged-list-is-flagged", Outcome::Failed));
    assert_eq!(checks[1].outcome, Outcome::Held);
}

#[test]
fn weights_of_ones_own_are_traffic_and_bad_ones_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, body: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, body).expect("written");
        text(path.to_str().expect("plain"))
    };
    let twenty = (1..=20).map(|weight| format!("{weight}\n")).collect::<String>();
    if let Some(report) = unless_busy(small(&[file("mine.csv", &twenty)], 1)) {
        assert!(report.cells.iter().all(|cell| cell.arms[0].probes.as_ref().unwrap().expected.is_some()));
    }
    let refused = |path: Value| match small(&[path], 1) {
        Err(Error::InvalidArgument { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(file("few.csv", "1 2 3")), "weights");
    assert_eq!(refused(file("word.txt", "1 two 3")), "weights");
    assert_eq!(refused(file("zero.txt", &"0 ".repeat(20))), "weights");
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let refused = |name: &str, value: Value| {
        measure("dispatch.distribution", &[(name, &[value])]).expect_err("refused").to_string()
    };
    assert!(refused("permutations", Value::Int(0)).starts_with("permutations = 0"));
    assert!(refused("permutations", Value::Int(61)).starts_with("permutations = 61"));
    assert!(refused("permutations", Value::Int(60)).starts_with("cells = 125"));
    assert!(refused("traffic", text("zipf_sorted")).starts_with("traffic = zipf_sorted"));
    assert!(refused("selections", text("some")).starts_with("selections = some"));
}
