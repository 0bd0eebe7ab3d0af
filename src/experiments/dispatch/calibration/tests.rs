use crate::machine::Card;
use crate::race::{Cell, Origin, Outcome, Report, Status, Value};
use crate::run::tests::{measure, text, unless_busy};

use super::{OPERATION, YARDSTICK, adds, set_check, table};
use crate::experiments::dispatch::calibration::operation::Operation;

fn some() -> Option<Report> {
    let operations =
        ["call_direct", "call_indirect", "branch_predicted", "branch_random", "load_l1", "load_l2"].map(text);
    let sets = [Value::Int(4096)];
    unless_busy(measure(
        "dispatch.calibration",
        &[("operation", &operations), ("l1_set", &sets), ("rate", &[Value::Float(1e6)])],
    ))
}

#[test]
fn every_operation_gets_its_line_and_the_yardstick_stands_beside_each() {
    let Some(report) = some() else { return };
    for cell in &report.cells {
        let names: Vec<&str> = cell.arms.iter().map(|arm| arm.arm.as_str()).collect();
        assert_eq!(names, [YARDSTICK, OPERATION, "operation_again"]);
        let name = format!("fills:{}", cell.parameters["operation"]);
        let fact = report.facts.iter().find(|fact| fact.name == name).expect("a line");
        assert_eq!(fact.origin, Origin::Computed);
        match cell.status {
            Status::NoVerdict => assert!(fact.value.is_none() && fact.text.contains("no verdict")),
            Status::Held => {
                let median = cell.arm(OPERATION).expect("there").median;
                // A microsecond a packet at a million of them.
                assert!((fact.value.expect("counted") * median / 1000.0 - 1.0).abs() < 1e-9);
            }
        }
    }
    assert_eq!(report.contrasts.len(), 2);
    assert!(report.checks.iter().any(|check| check.name == "control:yardstick"));
}

#[test]
fn a_yardstick_that_is_off_voids_its_race() {
    let Some(mut report) = some() else { return };
    let stood = report.cells[0].status;
    for arm in report.cells[0].arms.iter_mut().filter(|arm| arm.arm == YARDSTICK) {
        arm.cycles = adds::ADDS as f64 * 1.10;
    }
    let [check] = &table::yardstick_checks(&mut report.cells)[..] else { panic!("one check") };
    assert_eq!((check.outcome, report.cells[0].status), (Outcome::Failed, Status::NoVerdict));
    assert!(stood == Status::NoVerdict || report.cells[0].reason.as_ref().unwrap().contains("yardstick"));
}

#[test]
fn operations_the_wrong_way_round_are_an_artefact() {
    let Some(mut report) = some() else { return };
    let find = |cells: &[Cell], name: &str| {
        cells.iter().position(|cell| cell.parameters["operation"] == text(name)).expect("measured")
    };
    let pair = (find(&report.cells, "branch_predicted"), find(&report.cells, "branch_random"));
    let named = "order:branch_predicted:branch_random";
    let honest = table::order_checks(&mut report.cells);
    let honest = honest.iter().find(|check| check.name == named).expect("both are there");
    assert_ne!(honest.outcome, Outcome::Failed, "{}", honest.detail);
    for (at, name) in [(pair.0, "branch_random"), (pair.1, "branch_predicted")] {
        report.cells[at].parameters.insert("operation".into(), text(name));
    }
    let swapped = table::order_checks(&mut report.cells);
    let swapped = swapped.iter().find(|check| check.name == named).expect("both are there");
    if honest.outcome == Outcome::Held {
        assert_eq!(swapped.outcome, Outcome::Failed);
        assert!([pair.0, pair.1].iter().all(|&at| report.cells[at].status == Status::NoVerdict));
    }
}

#[test]
fn a_third_level_as_far_as_memory_is_no_third_level() {
    let Some(report) = some() else { return };
    for (l3, dram, held) in [(15.0, 180.0, true), (90.0, 180.0, true), (146.0, 180.0, false)] {
        let mut cells = report.cells.clone();
        for (cell, (name, ns)) in cells.iter_mut().zip([("load_l3", l3), ("load_dram", dram)]) {
            cell.status = Status::Held;
            cell.parameters.insert("operation".into(), text(name));
            cell.arms.iter_mut().find(|arm| arm.arm == OPERATION).expect("there").median = ns;
        }
        let check = table::share_check(&mut cells).expect("both are there");
        assert_eq!((check.outcome == Outcome::Held, cells[0].status == Status::Held), (held, held));
        assert!(held || check.is_about_measuring());
        assert_eq!(cells[1].status, Status::Held);
    }
    assert!(table::share_check(&mut report.cells.clone()).is_none(), "neither was measured");
}

#[test]
fn a_set_in_another_level_is_told() {
    let mut card = Card::read();
    card.caches.clear();
    assert_eq!(set_check(Operation::LoadL2, 1 << 18, &card).outcome, Outcome::NotApplicable);
    let card = Card::read();
    let (Some(l1), Some(l2)) = (card.l1d_bytes(), card.l2_bytes()) else { return };
    assert_eq!(set_check(Operation::LoadL1, l1 / 2, &card).outcome, Outcome::Held);
    assert_eq!(set_check(Operation::LoadL1, 2 * l1, &card).outcome, Outcome::Failed);
    assert_eq!(set_check(Operation::LoadL2, l1 / 2, &card).outcome, Outcome::Failed);
    assert_eq!(set_check(Operation::LoadL2, 2 * l2, &card).outcome, Outcome::Failed);
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let refused = |name: &str, value: Value| {
        measure("dispatch.calibration", &[(name, &[value])]).expect_err("refused").to_string()
    };
    assert!(refused("operation", text("multiply")).starts_with("operation = multiply: wanted one of"));
    assert!(refused("rate", Value::Float(0.0)).starts_with("rate = 0"));
    assert!(refused("rate", Value::Float(f64::NAN)).starts_with("rate = NaN"));
    assert!(refused("l1_set", Value::Int(64)).starts_with("l1_set = 64"));
    assert!(refused("dram_set", Value::Int(1 << 40)).starts_with("dram_set = "));
}
