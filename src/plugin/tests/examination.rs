//! Examinations of plugins that are known to be good, in this very process, and of files that no code is run of.

use std::path::Path;

use crate::plugin::examination::{Event, Stage, examine};
use crate::plugin::shipped;
use crate::race::Outcome;

fn events(path: &Path) -> Vec<Event> {
    let mut events = Vec::new();
    // SAFETY: this build's own plugins, and files that are none.
    unsafe { examine(path, &mut |event| events.push(event.clone())) };
    events
}

fn ends(events: &[Event]) -> Vec<(Stage, Outcome, &str)> {
    let end = |event| match event {
        &Event::End { stage, outcome, ref detail } => Some((stage, outcome, detail.as_str())),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

#[test]
fn the_shipped_plugins_hold_every_stage_once_and_in_order() {
    for (name, without) in [("v1", Some(Stage::Batch)), ("v2", None)] {
        let events = events(&shipped::library(name).expect("built with this"));
        let ends = ends(&events);
        assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), Stage::ALL);
        for (stage, outcome, detail) in ends {
            // Other tests' threads come and go in this process, and others hold the same library.
            if matches!(stage, Stage::Threads | Stage::Descriptors | Stage::Unload) {
                continue;
            }
            let expected = if Some(stage) == without { Outcome::NotApplicable } else { Outcome::Held };
            assert_eq!(outcome, expected, "{name}, {}: {detail}", stage.name());
        }
        assert_eq!(events.last(), Some(&Event::Done));
    }
}

#[test]
fn nothing_is_begun_after_what_all_rests_on() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    for path in [file.path(), Path::new("/nowhere/absent.so"), Path::new("/")] {
        let events = events(path);
        let ends = ends(&events);
        assert_eq!(
            ends.iter().map(|end| (end.0, end.1)).collect::<Vec<_>>(),
            [(Stage::File, Outcome::Failed)]
        );
        assert_eq!(events.len(), 3);
    }
}

#[test]
fn a_stage_is_reported_by_the_name_that_it_has_in_lines() {
    for stage in Stage::ALL {
        assert_eq!(serde_json::to_value(stage).expect("plain"), stage.name());
    }
}
