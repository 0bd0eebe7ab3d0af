//! Counters around one pass of each arm, apart from anything timed.

use super::block::Bench;
use super::report::CounterResult;
use super::sizing::Sizing;
use crate::machine::counters::{self, KNOWN};
use crate::machine::{CounterStatus, Counters, Reading};
use crate::{Error, Result};

/// Windows that are counted at the most: counters need no repeats, and a pass of a slow arm is long.
const MOST_WINDOWS: usize = 16;
/// Likeness from which on a name is offered as what was meant: Jaro–Winkler's usual threshold for "mistyped".
const LIKELY_THE_SAME: f64 = 0.8;

/// Which counters a race reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CounterChoice {
    /// All that this machine has.
    #[default]
    All,
    /// None: no pass is counted.
    None,
    /// These, by name; see [`KNOWN`].
    Named(Vec<String>),
}

impl CounterChoice {
    /// A choice of names.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a name that no counter has, with the nearest that one has, and for no name at all.
    pub fn named(names: Vec<String>) -> Result<Self> {
        let all = || KNOWN.map(|(name, _)| name).join(", ");
        if names.is_empty() {
            let wanted = format!("wanted at least one of {}; or false for none", all());
            return Err(Error::invalid("counters", "[]", wanted));
        }
        let Some(unknown) = names.iter().find(|name| KNOWN.iter().all(|(known, _)| known != name)) else {
            return Ok(CounterChoice::Named(names));
        };
        let likeness = |known: &str| strsim::jaro_winkler(unknown, known);
        let near = KNOWN.iter().map(|(known, _)| *known).max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let wanted = match near.filter(|near| likeness(near) > LIKELY_THE_SAME) {
            Some(near) => format!("no counter is called that; did you mean {near}?"),
            None => format!("no counter is called that; there are {}", all()),
        };
        Err(Error::invalid("counters", unknown, wanted))
    }

    fn wants(&self, name: &str) -> bool {
        match self {
            CounterChoice::All => true,
            CounterChoice::None => false,
            CounterChoice::Named(names) => names.iter().any(|wanted| wanted == name),
        }
    }
}

/// Reads the chosen counters around up to [`MOST_WINDOWS`] windows of each arm, built anew. One list an arm, with every chosen
/// counter in it: with its value, or with the reason why it has none.
pub(super) fn around_passes(bench: &Bench, sizing: &Sizing) -> Result<Vec<Vec<CounterResult>>> {
    let choice = &bench.options.counters;
    if *choice == CounterChoice::None {
        return Ok(vec![Vec::new(); bench.plan.entries.len()]);
    }
    let (mut arms, _placement) = bench.build(u64::MAX)?;
    let windows = sizing.windows.min(MOST_WINDOWS);
    let statuses = counters::available();
    let mut counters = Counters::open_those(|name| choice.wants(name));
    let mut results = Vec::with_capacity(arms.len());
    for arm in &mut arms {
        bench.watch.check()?;
        // Settled first: what is counted is the arm at work, not its first page faults.
        std::hint::black_box(arm.run(sizing.at(0)));
        counters.start();
        for index in 0..windows {
            std::hint::black_box(arm.run(sizing.at(index)));
        }
        let readings = counters.stop();
        let operations = (windows * sizing.window) as f64;
        let chosen = statuses.iter().filter(|status| choice.wants(status.name));
        results.push(chosen.map(|status| result(status, &readings, operations)).collect());
    }
    Ok(results)
}

/// One counter's result: what was read of it, or why nothing was.
fn result(status: &CounterStatus, readings: &[Reading], operations: f64) -> CounterResult {
    let reading = readings.iter().find(|reading| reading.name == status.name);
    let note = match reading {
        None if status.available => {
            Some("the processor has no room for it beside the others; ask for fewer counters".into())
        }
        None => status.reason.clone(),
        Some(reading) if reading.value.is_none() => {
            Some("never ran: more counters than the hardware has".into())
        }
        Some(reading) if reading.running_share < 1.0 => {
            Some(format!("estimated from {:.0} % of the time", 100.0 * reading.running_share))
        }
        Some(_) => None,
    };
    let value = reading.and_then(|reading| reading.value);
    CounterResult {
        name: status.name.to_string(),
        per_operation: value.map(|value| value as f64 / operations),
        note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CounterKind;

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let refused = |names: &[&str]| {
            CounterChoice::named(names.iter().map(|name| name.to_string()).collect())
                .expect_err("refused")
                .to_string()
        };
        assert!(refused(&["instructons"]).contains("did you mean instructions?"));
        assert!(refused(&["cycles", "branchmisses"]).contains("counters = branchmisses"));
        assert!(refused(&["zzz"]).contains("there are cycles, instructions"));
        assert!(refused(&[]).contains("wanted at least one"));
        assert!(CounterChoice::named(vec!["cycles".into()]).expect("known").wants("cycles"));
        assert!(!CounterChoice::None.wants("cycles") && CounterChoice::All.wants("cycles"));
    }

    fn status(available: bool) -> CounterStatus {
        let reason = (!available).then(|| "EACCES: perf_event_paranoid is 3".to_owned());
        CounterStatus { name: "cycles", kind: CounterKind::Hardware, available, reason }
    }

    #[test]
    fn each_chosen_counter_has_a_value_or_a_reason() {
        let reading = |value, running_share| [Reading { name: "cycles", value, running_share }];
        let of = |available, readings: &[Reading]| result(&status(available), readings, 4.0);
        assert_eq!(of(true, &reading(Some(10), 1.0)).per_operation, Some(2.5));
        assert_eq!(of(true, &reading(Some(10), 1.0)).note, None);
        assert_eq!(of(true, &reading(Some(10), 0.5)).note.expect("said"), "estimated from 50 % of the time");
        for (result, why) in [
            (of(false, &[]), "EACCES"),
            (of(true, &[]), "no room"),
            (of(true, &reading(None, 0.0)), "never ran"),
        ] {
            assert_eq!(result.per_operation, None);
            assert!(result.note.as_deref().is_some_and(|note| note.contains(why)), "{result:?}");
        }
    }
}
