//! What a simulation says of itself: whether counts repeat, whether nothing reads nothing, and what isn't simulated.

use std::collections::BTreeMap;

use super::processes::Found;
use crate::race::simulate::{Events, Geometry, SimulatedCell};
use crate::race::{Check, Fact, Origin};

/// Whether what ran several times counted the same each time.
#[derive(Default)]
pub(super) struct Repeats {
    arms: usize,
    differ: Vec<String>,
    data_differ: Vec<String>,
    vary: BTreeMap<String, String>,
}

impl Repeats {
    /// Compares the runs of one arm in one setting.
    pub fn look(&mut self, arm: &str, varies: Option<&'static str>, runs: &[Found]) {
        let first = &runs[0].totals;
        let differences = |strict: bool| {
            let kept = |events: Events| if strict { events.without_data_misses() } else { events };
            let one = kept(*first);
            runs[1..].iter().flat_map(|run| one.differences(&kept(run.totals))).collect::<Vec<_>>()
        };
        if let Some(reason) = varies {
            let seen = differences(false);
            let seen = if seen.is_empty() { "none seen here".to_owned() } else { seen.join(", ") };
            self.vary.insert(arm.to_owned(), format!("{reason}; differences between runs: {seen}"));
            return;
        }
        self.arms += 1;
        let line = |seen: Vec<String>| (!seen.is_empty()).then(|| format!("{arm}: {}", seen.join(", ")));
        let strict = line(differences(true));
        if strict.is_none() {
            self.data_differ.extend(line(differences(false)));
        }
        self.differ.extend(strict);
    }

    /// What came out over all arms and settings.
    pub fn checks(self, runs: u32) -> Vec<Check> {
        const NAME: &str = "control:repeats";
        let mut checks = Vec::new();
        if runs < 2 {
            checks.push(Check::not_applicable(
                NAME,
                "each arm ran in one process; two show that counts repeat",
            ));
        } else if self.arms > 0 {
            let detail = if !self.differ.is_empty() {
                format!("counts differ between {runs} runs: {}", self.differ.join("; "))
            } else if !self.data_differ.is_empty() {
                let data = self.data_differ.join("; ");
                format!(
                    "instructions, I1 misses and branches are equal in {runs} runs; data misses aren't: {data}"
                )
            } else {
                format!("every count is equal to the last digit in {runs} runs of each arm and setting")
            };
            checks.push(Check::new(NAME, self.differ.is_empty(), detail));
        }
        let varying = self.vary.into_iter();
        checks.extend(varying.map(|(arm, why)| Check::not_applicable(format!("{NAME}:{arm}"), why)));
        checks
    }
}

/// A plan's audits, as far as they concern a simulation: whether the pool fits a level that isn't simulated doesn't.
pub(super) fn audits(checks: Vec<Check>) -> Vec<Check> {
    let audit = |check: Check| match check.name.as_str() {
        "pool-in-cache" => {
            let reason =
                format!("the simulation has no second level, and counts no time; here: {}", check.detail);
            Check::not_applicable(check.name, reason)
        }
        _ => check,
    };
    checks.into_iter().map(audit).collect()
}

/// Instructions that the requests around a region may cost: a few loads of constants and the requests themselves.
const MOST_EMPTY_INSTRUCTIONS: u64 = 64;
/// Any other event of a region without work: its own few lines of code, and its stack.
const MOST_EMPTY_EVENTS: u64 = 32;

/// A region in which nothing runs reads nothing: what is counted lies between the requests.
pub(super) fn empty_region(cells: &[SimulatedCell]) -> Check {
    let regions = cells.iter().flat_map(|cell| &cell.arms).map(|arm| arm.empty);
    let most = regions.max_by_key(|events| events.named().map(|(_, count)| count).iter().sum::<u64>());
    let most = most.unwrap_or_default();
    let small = most.named().iter().all(|&(name, count)| {
        count <= if name == "instructions" { MOST_EMPTY_INSTRUCTIONS } else { MOST_EMPTY_EVENTS }
    });
    let seen = most
        .named()
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"));
    let seen = seen.collect::<Vec<_>>().join(", ");
    let detail =
        format!("a region without work reads {}", if seen.is_empty() { "nothing".to_owned() } else { seen });
    Check::new("control:empty-region", small, detail)
}

/// What was simulated, and what a simulation doesn't know.
pub(super) fn facts(geometry: &Geometry) -> Vec<Fact> {
    let fact = |name: &str, text: String, origin| Fact {
        name: name.to_owned(),
        text,
        value: None,
        unit: String::new(),
        origin,
    };
    let mut facts = vec![
        fact(
            "simulation:counts",
            "these are counts of a simulated machine, exact and repeatable; they are no times".into(),
            Origin::Simulated,
        ),
        fact(
            "simulation:indirect",
            "its predictor of indirect branches knows each site's last target only, so indirect mispredictions are an \
             upper bound: a periodic order counts as mispredicted each time"
                .into(),
            Origin::Simulated,
        ),
        fact(
            "simulation:data",
            "data misses depend on where data lie: they move by a few with the environment".into(),
            Origin::Simulated,
        ),
    ];
    facts.extend(
        geometry.departures.iter().map(|line| fact("simulation:caches", line.clone(), Origin::Simulated)),
    );
    facts
}
