use crate::machine::Card;
use crate::race::{Outcome, Value, Watch};
use crate::run::tests::{measure, text, unless_busy};
use crate::{catalogue, run};

#[test]
fn the_neighbour_walks_once_after_each_burst_and_lines_are_counted() {
    let set = 256 << 10;
    let given: &[(&str, &[Value])] = &[
        ("place", &[text("same_core")]),
        ("keys", &[text("kata"), text("random")]),
        ("working_set", &[Value::Int(set)]),
        ("burst", &[Value::Int(1000)]),
        ("body", &[text("tiny")]),
    ];
    let Some(report) = unless_busy(measure("dispatch.neighbour", given)) else { return };
    for cell in &report.cells {
        assert_eq!(cell.operations_per_rep, set as usize / 64);
        assert_eq!(cell.arms.len(), 6);
        assert!(cell.arms.iter().all(|arm| arm.checksum == cell.arms[0].checksum));
        assert_eq!(cell.arm("beside_nobody").unwrap().footprint_bytes, None);
        assert!(cell.arm("beside_table_direct16").unwrap().footprint_bytes >= Some(1 << 20));
    }
    let lines = |name: &str| report.facts.iter().find(|fact| fact.name == name).and_then(|fact| fact.value);
    if report.cells.len() == 2 {
        let (kata, random) = (lines("touched:kata:table_direct16"), lines("touched:random:table_direct16"));
        // A hundred slots side by side and 256 of the unmatched, four to a line; a thousand keys, nearly each its own.
        assert!(kata < Some(100.0) && random > Some(900.0), "{kata:?} {random:?}");
        assert!(lines("touched:random:table_compact") <= Some(384.0));
    }
}

#[test]
fn without_a_second_core_the_question_stays_open() {
    let mut card = Card::read();
    let experiment = catalogue::find("dispatch.neighbour").expect("there");
    card.allowed_cpus.truncate(1);
    let cells = run::cells(experiment, &Default::default(), &card).expect("cells");
    assert!(cells.iter().all(|cell| cell.text("place") == "same_core"));
    let [check] = &experiment.judge(&mut [], &card)[..] else { panic!("one check") };
    assert_eq!((check.name.as_str(), check.outcome), ("other-core", Outcome::NotApplicable));
}

#[test]
fn another_core_needs_a_helper_and_the_same_core_none() {
    let card = Card::read();
    let experiment = catalogue::find("dispatch.neighbour").expect("there");
    let given = [("keys", text("kata")), ("place", text("other_core"))];
    let given = given.map(|(name, value)| (name.to_string(), vec![value]));
    let cells = run::cells(experiment, &given.into(), &card).expect("cells");
    let plan = experiment.plan(&cells[0], 0, &card, &Watch::new()).expect("a plan");
    assert_eq!((plan.helpers, plan.rep_operations), (1, None));
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let refused = |name: &str, value: Value| {
        measure("dispatch.neighbour", &[(name, &[value])]).expect_err("refused").to_string()
    };
    assert!(refused("working_set", Value::Int(1024)).starts_with("working_set = 1024"));
    assert!(refused("burst", Value::Int(0)).starts_with("burst = 0"));
    assert!(refused("place", text("elsewhere")).starts_with("place = elsewhere"));
    assert!(refused("keys", text("sorted")).starts_with("keys = sorted"));
}
