//! Both experiments end to end: structure, counts and checks, never wall time.

use crate::race::{CODE_COPIES, Outcome, Report, Value};
use crate::run::tests::{measure, text, unless_busy};
use crate::{Error, catalogue};

const POOL: &[Value] = &[Value::Int(4096)];

fn names(report: &Report) -> Vec<&str> {
    report.contrasts.iter().map(|contrast| contrast.name.as_str()).collect()
}

fn listed(id: &str) -> Vec<&'static str> {
    catalogue::find(id).expect("there").arms().iter().map(|arm| arm.name).collect()
}

#[test]
fn every_way_is_raced_with_one_checksum_and_its_layouts_are_flagged() {
    let hot = [text("hot")];
    let Some(report) = unless_busy(measure("plugin.crossing", &[("traffic", &hot), ("pool", POOL)])) else {
        return;
    };
    let cell = &report.cells[0];
    let raced: Vec<&str> = cell.arms.iter().map(|arm| arm.arm.as_str()).collect();
    assert_eq!(raced, listed("plugin.crossing"));
    // An odd number of arms takes twice as many orders.
    assert_eq!(raced.len() % 2, 0);
    for arm in &cell.arms {
        assert_eq!(arm.checksum, cell.arms[0].checksum, "{}", arm.arm);
        let once =
            ["plugin", "plugin_again", "v1"].contains(&arm.arm.as_str()) || arm.arm.starts_with("batch_");
        assert_eq!(arm.code_layouts, CODE_COPIES, "{}", arm.arm);
        assert_eq!(arm.flags.contains(&"one code layout".to_string()), once, "{}", arm.arm);
    }
    let bytes = report.facts.iter().find(|fact| fact.name == "bytes:batch_64").expect("a fact");
    assert_eq!(bytes.value, Some(64.0 * 40.0));
    for name in ["dyn:hot", "crossing:hot", "recovered:64:hot", "call:64:hot", "arrays:64:hot"] {
        assert!(names(&report).contains(&name), "{name}");
    }
    let called = report.checks.iter().filter(|check| check.name.starts_with("indirect-call:"));
    assert!(called.clone().count() == 5 && called.clone().all(|check| check.outcome != Outcome::Failed));
}

#[test]
fn a_plugin_of_the_first_edition_has_no_batches_and_the_race_says_so() {
    let hot = [text("hot")];
    let path = crate::plugin::shipped::library("v1").expect("there");
    let library = [Value::Text(path.display().to_string())];
    let set: &[(&str, &[Value])] = &[("traffic", &hot), ("pool", POOL), ("library", &library)];
    let Some(report) = unless_busy(measure("plugin.crossing", set)) else { return };
    let cell = &report.cells[0];
    assert!(cell.arm("plugin").is_some() && cell.arm("internal_batch_64").is_some());
    assert!(cell.arms.iter().all(|arm| !arm.arm.starts_with("batch_")));
    let absent = cell.checks.iter().filter(|check| check.name.starts_with("absent:batch_"));
    assert_eq!(absent.count(), 9);
    let examined = cell.checks.iter().find(|check| check.name == "library-examined").expect("a check");
    assert!(examined.outcome == Outcome::NotApplicable && examined.detail.contains("plugin check"));
}

#[test]
fn a_library_that_is_no_such_plugin_is_refused() {
    let here = std::env::current_exe().expect("this test");
    let library = [Value::Text(here.display().to_string())];
    let refused = measure("plugin.crossing", &[("library", &library)]);
    assert!(matches!(refused, Err(Error::Plugin(_))), "{refused:?}");
}

#[test]
fn each_boundary_is_swept_and_its_own_cost_follows() {
    let all = ["internal", "plugin", "system_call", "pipe"].map(text);
    let Some(report) = unless_busy(measure("plugin.boundaries", &[("boundary", &all), ("pool", POOL)]))
    else {
        return;
    };
    for cell in &report.cells {
        let raced: Vec<&str> = cell.arms.iter().map(|arm| arm.arm.as_str()).collect();
        assert_eq!(raced, listed("plugin.boundaries"));
        assert_eq!(raced.len() % 2, 0);
        assert!(cell.arms.iter().all(|arm| arm.checksum == cell.arms[0].checksum));
        let boundary = cell.parameters["boundary"].to_string();
        for family in ["fixed", "recovered:64", "left:64"] {
            assert!(names(&report).contains(&format!("{family}:{boundary}").as_str()), "{family} {boundary}");
        }
    }
}
