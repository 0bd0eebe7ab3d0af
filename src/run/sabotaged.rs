//! A run in which every arm is broken on purpose: the checksums have to catch each of them.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::{RunOptions, setting};
use crate::dispatch::sabotage;
use crate::machine::Card;
use crate::race::{
    self, Broken, Check, Entry, Experiment, Fault, Options, Outcome, Plan, Report, Role, Values, Watch,
};
use crate::{Error, Result};

/// The arm's sound twin in the race that must fail.
const SOUND: &str = "sound";

/// Races each arm, with `fault` built in, against its sound twin; one check an arm and cell, failed where it was caught.
///
/// # Errors
/// [`Error::InvalidArgument`] where no arm can have the fault; whatever a race refuses.
pub(super) fn run(
    experiment: &dyn Experiment,
    cells: &[Values],
    fault: Fault,
    options: &RunOptions,
    card: &Card,
    watch: &Watch,
) -> Result<Report> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let begun = Instant::now();
    let parameters = experiment.parameters(card);
    let mut checks = Vec::new();
    watch.section(&format!("{}, sabotaged: {fault}", experiment.id()), 0.0, 1.0);
    for (number, values) in cells.iter().enumerate() {
        let plan = experiment.plan(values, options.race.seed, card, watch)?;
        let arms = plan.entries.iter().filter(|entry| !matches!(entry.role, Role::Control { .. }));
        let arms: Vec<&Entry> = arms.collect();
        for (at, entry) in arms.iter().enumerate() {
            watch.check()?;
            let where_ = match setting(&parameters, values) {
                setting if setting.is_empty() => entry.name.clone(),
                setting => format!("{} ({setting})", entry.name),
            };
            checks.push(sabotaged(&plan, entry, fault, &where_, &options.race, experiment, card, watch)?);
            let share = (at + 1) as f64 / arms.len() as f64;
            watch.advance((number as f64 + share) / cells.len() as f64);
        }
    }
    if let Some(reason) = nobody_can(&checks) {
        let wanted = format!("no arm of {} can have it: {reason}", experiment.id());
        return Err(Error::invalid("sabotage", fault, wanted));
    }
    Ok(Report {
        experiment: experiment.id().into(),
        title: experiment.title().into(),
        cells: Vec::new(),
        checks,
        contrasts: Vec::new(),
        facts: Vec::new(),
        trap: None,
        sabotage: Some(fault.name()),
        companions: Vec::new(),
        started,
        seconds: begun.elapsed().as_secs_f64(),
        seed: options.race.seed,
    })
}

/// The reason, where every arm was let off.
fn nobody_can(checks: &[Check]) -> Option<&str> {
    let all = checks.iter().all(|check| check.outcome == Outcome::NotApplicable);
    all.then(|| checks.first().map_or("it has no arms", |check| check.detail.as_str()))
}

/// One arm of one cell: broken, raced against its sound twin, and whether the checksum caught it.
#[allow(clippy::too_many_arguments, reason = "an arm, its fault, and what every race takes")]
fn sabotaged(
    plan: &Plan,
    entry: &Entry,
    fault: Fault,
    place: &str,
    options: &Options,
    experiment: &dyn Experiment,
    card: &Card,
    watch: &Watch,
) -> Result<Check> {
    let name = format!("checksum:{place}");
    let broken = match sabotage::broken(entry, fault, &plan.source) {
        Ok(broken) => broken,
        Err(reason) => return Ok(Check::not_applicable(name, reason)),
    };
    let own = || (Arc::clone(&entry.recipe), Arc::clone(&entry.reference));
    let Broken { recipe, becomes, sound } = broken;
    let (twin, reference) = sound.unwrap_or_else(own);
    let whole = race::Window { first: 0, count: plan.source.operations() };
    if becomes.checksum(&plan.source, whole) == reference.checksum(&plan.source, whole) {
        return Ok(Check::not_applicable(
            name,
            "nothing in this input shows the fault: the results are the same",
        ));
    }
    let entries = vec![
        Entry::new(SOUND, Role::Baseline, twin, Arc::clone(&reference), "sound"),
        Entry::new(entry.name.clone(), Role::Arm, recipe, reference, "sound"),
    ];
    let race = Plan {
        helpers: plan.helpers,
        min_rep: plan.min_rep,
        // The first reps tell; if they don't, the fewest blocks may.
        patience: Some(1),
        ..Plan::new(plan.source.clone(), entries)
    };
    let values = Values::default();
    match race::run(&race, experiment.unit(), &values, card, options, watch) {
        Err(Error::ChecksumMismatch { arm, got, expected, first, count, .. }) if arm == entry.name => {
            let detail = format!(
                "caught: computed {got:#018x} where {expected:#018x} was expected, over {count} operations from {first}"
            );
            Ok(Check::new(name, false, detail))
        }
        Err(error) => Err(error),
        Ok(_) => {
            let name = format!("unnoticed:{place}");
            Ok(Check::new(name, false, "its results are wrong, and a whole race didn't notice"))
        }
    }
}
