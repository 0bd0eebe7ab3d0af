//! Simulates an experiment of the catalogue: the arms of its plans under callgrind, a process each.

mod findings;
mod job;
mod processes;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZero;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use findings::Repeats;
pub use job::{Job, perform};
use processes::{Found, Processes, Task};

use crate::catalogue;
use crate::machine::Card;
use crate::race::simulate::child::{Performer, Valgrind};
use crate::race::simulate::{Geometry, SimulatedArm, SimulatedCell, Simulation};
use crate::race::{Experiment, Plan, Role, Value, Values, Watch};
use crate::run;
use crate::{Error, Result};

/// Most settings that one simulation takes.
const MOST_CELLS: usize = 64;
/// Most passes and most runs: what repeats exactly needs few.
const MOST_PASSES: u32 = 1000;
const MOST_RUNS: u32 = 16;

/// How an experiment is simulated.
#[derive(Debug, Clone)]
pub struct SimulateOptions {
    /// Arms to simulate; without any, all but the controls.
    pub arms: Vec<String>,
    /// Measured passes over the whole input.
    pub passes: u32,
    /// Processes that each arm runs in; two or more show that counts repeat.
    pub runs: u32,
    /// How long an arm may take.
    pub timeout: Duration,
    /// Processes at once; as many as this process may use CPUs without. Counts don't depend on it.
    pub jobs: Option<NonZero<usize>>,
    /// Seed of input and placement.
    pub seed: u64,
    /// Directories in which valgrind is looked for, as `PATH` is written.
    pub path: OsString,
    /// What performs a job.
    pub performer: Performer,
}

impl SimulateOptions {
    /// The defaults: one pass, two runs, two minutes an arm.
    pub fn new(performer: Performer, path: OsString) -> Self {
        let timeout = Duration::from_secs(120);
        SimulateOptions {
            arms: Vec::new(),
            passes: 1,
            runs: 2,
            timeout,
            jobs: None,
            seed: 0,
            path,
            performer,
        }
    }

    fn validate(&self) -> Result<()> {
        let within = |name: &str, value: u32, most: u32| match value {
            value if (1..=most).contains(&value) => Ok(()),
            value => Err(Error::invalid(name, value, format!("wanted a whole number from 1 to {most}"))),
        };
        within("passes", self.passes, MOST_PASSES)?;
        within("runs", self.runs, MOST_RUNS)?;
        if self.timeout.is_zero() || self.timeout > Duration::from_secs(86_400) {
            let seconds = self.timeout.as_secs_f64();
            return Err(Error::invalid("timeout", seconds, "wanted more than 0 s, at most 86400"));
        }
        Ok(())
    }
}

/// Every setting that `given` asks for. Any parameter may be a list here: settings take no turns, so none has to be a
/// series.
///
/// # Errors
/// As [`run::cells`].
pub fn cells(
    experiment: &dyn Experiment,
    given: &BTreeMap<String, Vec<Value>>,
    card: &Card,
) -> Result<Vec<Values>> {
    let single: Vec<_> =
        experiment.parameters(card).into_iter().filter(|parameter| !parameter.series).collect();
    let mut settings = vec![given.clone()];
    for parameter in single {
        let Some(values) = given.get(parameter.name).filter(|values| values.len() > 1) else { continue };
        settings = settings
            .iter()
            .flat_map(|setting| {
                values.iter().map(|value| {
                    let mut one = setting.clone();
                    one.insert(parameter.name.to_owned(), vec![value.clone()]);
                    one
                })
            })
            .collect();
        too_many(settings.len(), parameter.name)?;
    }
    let mut cells = Vec::new();
    for setting in &settings {
        cells.extend(run::cells(experiment, setting, card)?);
        too_many(cells.len(), "settings")?;
    }
    Ok(cells)
}

fn too_many(cells: usize, name: &str) -> Result<()> {
    if cells <= MOST_CELLS {
        return Ok(());
    }
    Err(Error::invalid(
        name,
        format!("{cells} settings"),
        format!("wanted at most {MOST_CELLS} in one simulation"),
    ))
}

/// Simulates `id` with `given` parameters. Every arm of every setting runs in a process of its own, so that what it finds in
/// caches and predictors doesn't depend on which other arms were asked for.
///
/// # Errors
/// Unknown experiment, parameter or arm, unusable values (all before anything runs); [`Error::NotMeasurable`] where there is
/// no valgrind, it fails, an arm takes too long, or needs threads that run side by side; [`Error::ChecksumMismatch`];
/// [`Error::Interrupted`] once `watch` is stopped. No process is left in any case.
pub fn simulate(
    id: &str,
    given: &BTreeMap<String, Vec<Value>>,
    options: &SimulateOptions,
    card: &Card,
    watch: &Watch,
) -> Result<Simulation> {
    let experiment = catalogue::find(id)?;
    options.validate()?;
    let cells = cells(experiment, given, card)?;
    let valgrind = Valgrind::find(&options.path)?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let begun = Instant::now();
    watch.section(&format!("{id}, simulated"), 0.0, 1.0);
    let mut simulated = Vec::with_capacity(cells.len());
    let mut tasks = Vec::new();
    for (at, values) in cells.iter().enumerate() {
        let plan = experiment.plan(values, options.seed, card, &watch.silent())?;
        let chosen = chosen(&plan, &options.arms)?;
        one_thread(id, &plan)?;
        tasks.extend(chosen.iter().map(|arm| Task { cell: at, arm: arm.clone() }));
        let arms = plan.entries.iter().filter(|entry| chosen.contains(&entry.name));
        let roles: Vec<_> =
            arms.map(|entry| (entry.name.clone(), role(&entry.role), entry.recipe.varies())).collect();
        simulated.push((
            SimulatedCell {
                parameters: values.0.clone(),
                arms: Vec::new(),
                checks: findings::audits(plan.checks),
            },
            roles,
        ));
    }
    let geometry = Geometry::of(card);
    let found = Processes { id, cells: &cells, options, valgrind: &valgrind, geometry: &geometry }
        .run(&tasks, watch)?;
    let mut found = tasks.iter().zip(found);
    let mut repeats = Repeats::default();
    for (cell, roles) in &mut simulated {
        for (arm, role, varies) in roles.drain(..) {
            let (task, mut runs) = found.next().expect("one a task");
            debug_assert_eq!(task.arm, arm);
            repeats.look(&arm, varies, &runs);
            let first = runs.swap_remove(0);
            cell.arms.push(simulated_arm(arm, role, varies, first));
        }
    }
    let cells: Vec<SimulatedCell> = simulated.into_iter().map(|(cell, _)| cell).collect();
    let mut checks = repeats.checks(options.runs);
    checks.push(findings::empty_region(&cells));
    let unit = serde_json::to_value(experiment.unit()).ok();
    let unit = unit.as_ref().and_then(|unit| unit.as_str()).unwrap_or_default();
    watch.advance(1.0);
    Ok(Simulation {
        experiment: id.to_owned(),
        title: experiment.title().to_owned(),
        operation: unit.split('/').next_back().unwrap_or("operation").to_owned(),
        checks,
        facts: findings::facts(&geometry),
        cells,
        valgrind: valgrind.version,
        geometry,
        passes: options.passes,
        runs: options.runs,
        started,
        seconds: begun.elapsed().as_secs_f64(),
        seed: options.seed,
    })
}

fn simulated_arm(
    arm: String,
    role: &'static str,
    varies: Option<&'static str>,
    found: Found,
) -> SimulatedArm {
    let Found { ran, totals, empty, profile } = found;
    let operations = ran.operations.max(1) as f64;
    let per_operation = totals.named().map(|(name, count)| (name, count as f64 / operations));
    SimulatedArm {
        arm,
        role,
        operations: ran.operations,
        totals,
        per_operation: per_operation.into(),
        empty,
        profile,
        checksum: format!("{:#018x}", ran.checksum),
        varies,
    }
}

/// The arms of a plan that were asked for, in the plan's order; without any, all but the controls, which do another arm's
/// work by construction and would be simulated twice for nothing.
fn chosen(plan: &Plan, asked: &[String]) -> Result<Vec<String>> {
    let known = || plan.entries.iter().map(|entry| entry.name.as_str());
    if let Some(unknown) = asked.iter().find(|arm| !known().any(|name| name == **arm)) {
        return Err(Error::invalid("arms", unknown, catalogue::nearest(unknown, known())));
    }
    let entries = plan.entries.iter().filter(|entry| match asked {
        [] => !matches!(entry.role, Role::Control { .. }),
        asked => asked.contains(&entry.name),
    });
    Ok(entries.map(|entry| entry.name.clone()).collect())
}

/// valgrind runs one thread at a time, so that threads which wait for each other see nothing of the machine's.
fn one_thread(id: &str, plan: &Plan) -> Result<()> {
    if plan.helpers == 0 {
        return Ok(());
    }
    Err(Error::NotMeasurable {
        what: format!("a simulation of {id}"),
        reason: "its arms run several threads, and valgrind runs one at a time; `run` measures it".into(),
    })
}

fn role(role: &Role) -> &'static str {
    match role {
        Role::Arm => "arm",
        Role::Baseline => "baseline",
        Role::Control { .. } => "control",
    }
}

#[cfg(test)]
mod tests;
