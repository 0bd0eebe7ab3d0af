use crate::dispatch::{Body, HandlerSet, HandlerSpec, Residual};
use crate::race::{Outcome, Value};
use crate::run::tests::{measure, text, unless_busy};

use super::exclusive_check;

#[test]
fn each_length_gets_its_crossing_in_time_and_in_probes() {
    let shares = [0.0, 1.0].map(Value::Float);
    let set: &[(&str, &[Value])] = &[
        ("residual_share", &shares),
        ("list_length", &[Value::Int(2), Value::Int(16)]),
        ("handlers", &[Value::Int(16)]),
        ("pool", &[Value::Int(2000)]),
        ("body", &[text("tiny")]),
        ("traffic", &[text("uniform")]),
        ("unmatched", &[Value::Float(0.0)]),
    ];
    let Some(report) = unless_busy(measure("dispatch.residual", set)) else { return };
    let fact = |name: &str| report.facts.iter().find(|fact| fact.name == name).expect("a fact");
    for length in [2, 16] {
        for rival in ["scan_ordered", "scan_keys"] {
            fact(&format!("crossing:{rival}:{length}"));
        }
    }
    // Sixteen handlers: a lookup and 8.5 tests against 8.5 calls. No clock needed.
    let found = fact("crossing-probes:scan_ordered:16");
    assert!(
        found.text.contains("between a residual share of 0 and 1") && found.value.is_some(),
        "{}",
        found.text
    );
    let never = fact("crossing-probes:scan_ordered:2");
    assert!(never.text.contains("cheaper throughout") && never.value.is_none(), "{}", never.text);
    for cell in &report.cells {
        let probes = cell.arm("table_compact").expect("there").probes.as_ref().expect("counted");
        let residual = cell.parameters["residual_share"] == Value::Float(1.0);
        let expected = match (&cell.parameters["list_length"], residual) {
            (_, false) => 1.0,
            (Value::Int(length), true) => 1.0 + (*length as f64 + 1.0) / 2.0,
            _ => unreachable!("a whole number"),
        };
        assert!((probes.expected.expect("enumerated") - expected).abs() < 1e-9, "{probes:?}");
    }
}

#[test]
fn overlapping_predicates_are_told() {
    let spec = |low, high| HandlerSpec { key: 7, residual: Residual::Range { offset: 0, low, high } };
    let set = |specs: [HandlerSpec; 2]| HandlerSet::from_specs(specs.to_vec(), Body::Tiny).unwrap();
    assert_eq!(exclusive_check(&set([spec(0, 100), spec(101, 255)])).outcome, Outcome::Held);
    assert_eq!(exclusive_check(&set([spec(0, 101), spec(101, 255)])).outcome, Outcome::Failed);
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let refused = |name: &str, value: Value| {
        measure("dispatch.residual", &[(name, &[value])]).expect_err("refused").to_string()
    };
    assert!(refused("list_length", Value::Int(0)).starts_with("list_length = 0"));
    assert!(refused("list_length", Value::Int(257)).starts_with("list_length = 257"));
    assert!(refused("residual_share", Value::Float(1.1)).starts_with("residual_share = 1.1"));
    assert!(refused("traffic", text("capture.pcap")).starts_with("traffic = capture.pcap"));
}
