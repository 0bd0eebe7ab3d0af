//! Runs an experiment of the catalogue: values in, a report out.

mod sabotaged;

use std::collections::BTreeMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::catalogue;
use crate::machine::Card;
use crate::race::{
    self, Cell, Check, Experiment, Fault, Options, Parameter, Plan, Report, Trap, Value, Values, Watch,
    contrast,
};
use crate::{Error, Result};

/// Most cells that one run takes; more belong to a sweep.
const MOST_CELLS: usize = 64;

/// How an experiment is run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Settings of each race.
    pub race: Options,
    /// Whether experiments that belong beside this one are run too.
    pub companions: bool,
    /// A fault to build into each arm that can have it: then nothing is timed, and the checksums have to catch it.
    pub sabotage: Option<Fault>,
}

impl RunOptions {
    /// Whether the instrument is worth a look before `id` is run: neither before a trap, which is brief and about the
    /// instrument itself, nor where nothing is timed.
    pub fn looks_first(&self, id: &str) -> bool {
        let is_trap = catalogue::find(id).is_ok_and(|experiment| experiment.area() == catalogue::TRAPS);
        self.sabotage.is_none() && !is_trap
    }
}

/// Runs `id` with `given` parameters (a list of several values only where the parameter is a series; the rest take
/// their defaults), one race a cell.
///
/// # Errors
/// Unknown experiment or parameter, unusable values (all checked before anything runs), and whatever a race refuses.
pub fn run(
    id: &str,
    given: &BTreeMap<String, Vec<Value>>,
    options: &RunOptions,
    card: &Card,
    watch: &Watch,
) -> Result<Report> {
    let experiment = catalogue::find(id)?;
    let cells = cells(experiment, given, card)?;
    options.race.validate()?;
    if let Some(fault) = options.sabotage {
        return sabotaged::run(experiment, &cells, fault, options, card, watch);
    }
    let companions = if options.companions { experiment.companions() } else { Vec::new() };
    let mut planned = vec![(experiment, cells)];
    for companion in companions {
        let set = companion.set.into_iter().map(|(name, values)| (name.to_string(), values)).collect();
        let other = catalogue::find(companion.experiment)?;
        planned.push((other, self::cells(other, &set, card)?));
    }
    let whole: usize = planned.iter().map(|(_, cells)| cells.len()).sum();
    let mut done = 0;
    let mut reports = Vec::new();
    for (experiment, cells) in planned {
        let share = |cells: usize| cells as f64 / whole as f64;
        let doing = match cells.len() {
            1 => experiment.id().to_string(),
            count => format!("{}, {count} cells in turn", experiment.id()),
        };
        watch.section(&doing, share(done), share(done + cells.len()));
        done += cells.len();
        reports.push(report(experiment, &cells, options, card, watch)?);
    }
    let mut own = reports.remove(0);
    own.companions = reports;
    watch.advance(1.0);
    Ok(own)
}

fn report(
    experiment: &dyn Experiment,
    cells: &[Values],
    options: &RunOptions,
    card: &Card,
    watch: &Watch,
) -> Result<Report> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let begun = Instant::now();
    let parameters = experiment.parameters(card);
    let plans = cells
        .iter()
        .map(|values| experiment.plan(values, options.race.seed, card, watch))
        .collect::<Result<Vec<_>>>()?;
    let together: Vec<(&Values, &Plan)> = cells.iter().zip(&plans).collect();
    let raced = race::run_together(&together, experiment.unit(), card, &options.race, watch)?;
    let mut measured = Vec::with_capacity(raced.len());
    let mut checks = Vec::new();
    let whole = raced.len();
    for (values, cell) in cells.iter().zip(raced) {
        match cell {
            Ok(cell) => measured.push(cell),
            // The only cell: there is nothing to report without it.
            Err(error) if whole == 1 => return Err(error),
            Err(error) => checks.push(Check::new(
                format!("measured:{}", setting(&parameters, values)),
                false,
                error.to_string(),
            )),
        }
    }
    if measured.is_empty() {
        let reason = checks.first().map_or(String::new(), |check| check.detail.clone());
        return Err(Error::NotMeasurable { what: experiment.id().into(), reason });
    }
    checks.extend(parameters.iter().flat_map(|parameter| monotonic_checks(parameter, &mut measured)));
    checks.extend(experiment.judge(&mut measured, card));
    let trap = experiment.trap(&measured);
    checks.extend(trap.iter().flat_map(Trap::checks));
    Ok(Report {
        experiment: experiment.id().into(),
        title: experiment.title().into(),
        checks,
        contrasts: experiment.contrasts(&measured),
        facts: experiment.facts(&measured, card, watch)?,
        cells: measured,
        trap,
        sabotage: None,
        companions: Vec::new(),
        started,
        seconds: begun.elapsed().as_secs_f64(),
        seed: options.race.seed,
    })
}

/// "handlers 100, body fat": what varies from cell to cell.
fn setting(parameters: &[Parameter], values: &Values) -> String {
    let series = parameters.iter().filter(|parameter| parameter.series);
    series
        .map(|parameter| format!("{} {}", parameter.name, values.0[parameter.name]))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Resolves given values against an experiment's parameters: every combination of the series, in order.
pub fn cells(
    experiment: &dyn Experiment,
    given: &BTreeMap<String, Vec<Value>>,
    card: &Card,
) -> Result<Vec<Values>> {
    let parameters = experiment.parameters(card);
    if let Some(unknown) =
        given.keys().find(|name| parameters.iter().all(|parameter| parameter.name != **name))
    {
        let hint = catalogue::nearest(unknown, parameters.iter().map(|parameter| parameter.name));
        return Err(Error::invalid(
            unknown,
            list(&given[unknown]),
            format!("{} has no such parameter; {hint}", experiment.id()),
        ));
    }
    let mut cells = vec![Values::default()];
    for parameter in &parameters {
        let values = given.get(parameter.name).unwrap_or(&parameter.default);
        if values.is_empty() {
            return Err(Error::invalid(parameter.name, "[]", "wanted at least one value"));
        }
        if values.len() > 1 && !parameter.series {
            let wanted = "takes one value in a run; use a sweep for several";
            return Err(Error::invalid(parameter.name, list(values), wanted));
        }
        let mut accepted: Vec<Value> = Vec::new();
        for value in values {
            let value = parameter.accept(value)?;
            if accepted.len() > MOST_CELLS {
                break;
            }
            if !accepted.contains(&value) {
                accepted.push(value);
            }
        }
        cells = cells
            .into_iter()
            .flat_map(|cell| {
                accepted.iter().map(move |value| {
                    let mut cell = cell.clone();
                    cell.0.insert(parameter.name.into(), value.clone());
                    cell
                })
            })
            .collect();
        if cells.len() > MOST_CELLS {
            let wanted =
                format!("makes {} cells, more than {MOST_CELLS} in one run; use a sweep", cells.len());
            return Err(Error::invalid(parameter.name, list(values), wanted));
        }
    }
    let cells = experiment.cells(cells);
    if cells.len() > MOST_CELLS {
        let wanted = format!("at most {MOST_CELLS} in one run; use a sweep, or ask for fewer repeats");
        return Err(Error::invalid("cells", cells.len(), wanted));
    }
    Ok(cells)
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

/// A fall within this share is left alone: one cell's data may happen to lie better than another's.
const MONOTONIC_SLACK: f64 = 0.02;

/// Where cost can't fall as a parameter rises, a fall beyond the intervals is a symptom, not a finding: the cells between
/// which it falls lose their verdicts.
pub fn monotonic_checks(parameter: &Parameter, cells: &mut [Cell]) -> Vec<Check> {
    let mut checks = Vec::new();
    for arm in &parameter.monotonic {
        let pairs = comparable(parameter, cells);
        let judged: Option<Vec<bool>> = pairs.iter().map(|&pair| falls(cells, arm, pair)).collect();
        if pairs.is_empty() {
            continue;
        }
        let name = format!("monotonic:{}:{arm}", parameter.name);
        let Some(judged) = judged else {
            checks.push(Check::not_applicable(name, "too few blocks that the cells have in common"));
            continue;
        };
        let fallen: Vec<(usize, usize)> =
            pairs.iter().zip(judged).filter(|(_, falls)| *falls).map(|(pair, _)| *pair).collect();
        if fallen.is_empty() {
            let detail = format!("{arm} never falls as {} rises, {} pairs", parameter.name, pairs.len());
            checks.push(Check::new(name, true, detail));
            continue;
        }
        let at = |index: usize| {
            let cell = &cells[index];
            format!(
                "{:.2} at {}",
                cell.arm(arm).map_or(f64::NAN, |arm| arm.median),
                cell.parameters[parameter.name]
            )
        };
        let list: Vec<String> =
            fallen.iter().map(|&(low, high)| format!("{} but {}", at(low), at(high))).collect();
        let detail =
            format!("{arm} falls as {} rises: {}; find the artefact", parameter.name, list.join("; "));
        for (low, high) in fallen {
            for index in [low, high] {
                cells[index].void(format!("{name}: {detail}"));
            }
        }
        checks.push(Check::new(name, false, detail));
    }
    checks
}

/// Pairs of cells that differ in this parameter alone, the lower value first.
fn comparable(parameter: &Parameter, cells: &[Cell]) -> Vec<(usize, usize)> {
    let number = |cell: &Cell| match cell.parameters.get(parameter.name) {
        Some(Value::Int(value)) => *value as f64,
        Some(Value::Float(value)) => *value,
        _ => f64::NAN,
    };
    let others = |cell: &Cell| {
        let mut rest = cell.parameters.clone();
        rest.remove(parameter.name);
        rest
    };
    let indices = 0..cells.len();
    indices
        .clone()
        .flat_map(|low| indices.clone().map(move |high| (low, high)))
        .filter(|&(low, high)| {
            number(&cells[high]) > number(&cells[low]) && others(&cells[high]) == others(&cells[low])
        })
        .collect()
}

/// Whether an arm costs less in the second cell, beyond the interval and the slack. Cells take turns block by block, so
/// their blocks pair up and the machine's drift cancels. `None` where too few pairs are left for an interval.
fn falls(cells: &[Cell], arm: &str, (low, high): (usize, usize)) -> Option<bool> {
    let rise = contrast::over_blocks(&[(1.0, &cells[high], arm), (-1.0, &cells[low], arm)])?;
    let slack = MONOTONIC_SLACK * cells[low].arm(arm)?.median;
    rise.high.is_finite().then_some(rise.high < -slack)
}

#[cfg(test)]
pub(crate) mod tests;
