//! Races of arms that a caller put together.

use std::collections::BTreeMap;
use std::time::Duration;

use pyo3::prelude::*;

use super::dispatch::{PyArm, SELECTION_ALONE};
use super::document::{document, started_now};
use super::errors::OrRaise;
use super::machine::card;
use super::{arrays, worker};
use crate::dispatch::{HandlerSet, audit, input_audit};
use crate::race::{
    self as races, CounterChoice, Entry, Options, Order, PerOperation, Plan, Probes, Report, Role, Source,
    Unit, Value, Values, Watch,
};
use crate::traffic::Packet;
use crate::{Error, Result};

/// What callers may set of a race.
#[derive(Default)]
pub struct Settings {
    pub quick: bool,
    pub seconds: Option<f64>,
    pub precision: Option<f64>,
    pub margin: Option<f64>,
    /// What doctor measured on this machine, if it has.
    pub layout_spread: Option<f64>,
    pub seed: u64,
    pub cpu: Option<usize>,
    /// `None` for all counters, an empty list for none.
    pub counters: Option<Vec<String>>,
}

impl Settings {
    /// The core's options: its own defaults where nothing is set.
    pub fn options(self) -> Result<Options> {
        let mut options = if self.quick { Options::quick() } else { Options::default() };
        if let Some(seconds) = self.seconds {
            options.bound = Duration::try_from_secs_f64(seconds)
                .map_err(|_| Error::invalid("seconds", seconds, "wanted more than 0, at most 86400"))?;
        }
        options.precision = self.precision.unwrap_or(options.precision);
        options.margin = self.margin.unwrap_or(options.margin);
        options.one_layout_margin = self.layout_spread.unwrap_or(options.one_layout_margin);
        options.seed = self.seed;
        options.cpu = self.cpu;
        options.counters = match self.counters {
            None => CounterChoice::All,
            Some(names) if names.is_empty() => CounterChoice::None,
            Some(names) => CounterChoice::named(names)?,
        };
        options.validate()?;
        Ok(options)
    }
}

/// Races `arms` over `packets`; a JSON document with one cell.
#[pyfunction]
#[pyo3(signature = (arms, packets, *, baseline, control, quick, seconds, precision, margin, layout_spread, order, tails, seed, cpu, counters, progress))]
#[allow(clippy::too_many_arguments, reason = "all but two are keywords, documented in nanokata.race")]
pub fn race(
    py: Python<'_>,
    arms: Vec<(String, Py<PyArm>)>,
    packets: &Bound<'_, PyAny>,
    baseline: String,
    control: BTreeMap<String, String>,
    quick: bool,
    seconds: Option<f64>,
    precision: Option<f64>,
    margin: Option<f64>,
    layout_spread: Option<f64>,
    order: &str,
    tails: bool,
    seed: u64,
    cpu: Option<usize>,
    counters: Option<Vec<String>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let packets = arrays::packets(py, "packets", packets)?;
    let settings = Settings { quick, seconds, precision, margin, layout_spread, seed, cpu, counters };
    let mut options = settings.options().or_raise(py)?;
    options.order = order_named(order).or_raise(py)?;
    names_known(&arms, &baseline, &control).or_raise(py)?;
    let (started, begun) = started_now();
    // Arms are shared with the worker by reference; the handles stay here.
    let arms: Vec<(String, &PyArm)> = arms.iter().map(|(name, arm)| (name.clone(), arm.get())).collect();
    let cell = worker::run_unpinned(py, progress, |watch| {
        let plan = plan(&arms, packets, &baseline, &control, watch)?;
        let plan = Plan { per_operation: tails.then(PerOperation::default), ..plan };
        watch.section("race", 0.0, 1.0);
        let values =
            Values(BTreeMap::from([("packets".to_string(), Value::Int(plan.source.operations() as i64))]));
        races::run(&plan, Unit::NsPerPacket, &values, card(), &options, watch)
    })?;
    let report = Report {
        experiment: "race".into(),
        title: format!("{} arms over the same packets", cell.arms.len()),
        cells: vec![cell],
        checks: Vec::new(),
        contrasts: Vec::new(),
        facts: Vec::new(),
        trap: None,
        sabotage: None,
        companions: Vec::new(),
        started,
        seconds: begun.elapsed().as_secs_f64(),
        seed,
    };
    Ok(document(&report, None))
}

fn order_named(name: &str) -> Result<Order> {
    match name {
        "balanced" => Ok(Order::Balanced),
        "arm-major" => Ok(Order::ArmMajor),
        other => Err(Error::invalid("order", other, "wanted balanced or arm-major")),
    }
}

fn names_known(
    arms: &[(String, Py<PyArm>)],
    baseline: &str,
    control: &BTreeMap<String, String>,
) -> Result<()> {
    let known = || arms.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    if arms.len() < 2 {
        return Err(Error::invalid("arms", format!("{} arms", arms.len()), "wanted at least two to race"));
    }
    for (argument, name) in control
        .iter()
        .flat_map(|(a, b)| [("control", a.as_str()), ("control", b.as_str())])
        .chain([("baseline", baseline)])
    {
        if !known().contains(&name) {
            return Err(Error::invalid(argument, name, format!("wanted one of {}", known().join(", "))));
        }
    }
    if control.contains_key(baseline) {
        return Err(Error::invalid(
            "control",
            baseline,
            "the baseline can't be a control; name another baseline",
        ));
    }
    Ok(())
}

fn plan(
    arms: &[(String, &PyArm)],
    packets: Vec<Packet>,
    baseline: &str,
    control: &BTreeMap<String, String>,
    watch: &Watch,
) -> Result<Plan> {
    let mut entries = Vec::with_capacity(arms.len());
    for (name, arm) in arms {
        let (reference, claim) = arm.reference();
        let role = match control.get(name) {
            Some(against) => Role::Control { against: against.clone() },
            None if name == baseline => Role::Baseline,
            None => Role::Arm,
        };
        let arm = arm.settled_for(&packets, watch)?;
        let probes = arm.counted(&packets, watch)?.map(|pass| Probes::of(pass.probes, None));
        let ceiling = Some(arm.ceiling(probes.as_ref()));
        entries.push(Entry { probes, ceiling, ..Entry::new(name, role, arm.recipe(), reference, claim) });
    }
    let alone = |entry: &&Entry| entry.claim == SELECTION_ALONE;
    if let (Some(alone), Some(other)) =
        (entries.iter().find(alone), entries.iter().find(|entry| !alone(entry)))
    {
        let wanted = format!(
            "selections alone or none: {} says who runs and runs nobody, so that it does less than {}; \
             nanokata.plugin.select takes built-in selections by name, behind the same call",
            alone.name, other.name
        );
        return Err(Error::invalid("arms", &alone.name, wanted));
    }
    let sets: Vec<&HandlerSet> = arms.iter().map(|(_, arm)| arm.handler_set()).collect();
    let mut checks = audit::checks(&sets, &packets, card(), watch)?;
    // Arms may have sets of their own; what packets reach and how they vary is the same question for all of them.
    checks.extend(input_audit::checks(sets[0], &packets, None, watch)?);
    Ok(Plan { checks, ..Plan::new(Source::from_items(packets), entries) })
}
