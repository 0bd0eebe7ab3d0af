//! Experiments of the catalogue, run by name.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use super::document::document;
use super::errors::OrRaise;
use super::machine::card;
use super::race::Settings;
use super::worker;
use crate::catalogue;
use crate::experiments::instrument::look;
use crate::race::Value;
use crate::run::{self, RunOptions};
use crate::{Error, Result};

/// About how long looking at the instrument takes: its floor's bound, and the blocks that are run whatever the bound.
pub const LOOK_SECONDS: f64 = 1.0;

/// How long a run takes if no race reaches its precision: its races' bounds, companions' included, and the look at the
/// instrument. Refuses what [`run::run`] would.
fn seconds_at_most(id: &str, values: &BTreeMap<String, Vec<Value>>, options: &RunOptions) -> Result<f64> {
    let experiment = catalogue::find(id)?;
    let mut races = run::cells(experiment, values, card())?.len();
    for companion in if options.companions { experiment.companions() } else { Vec::new() } {
        let set = companion.set.into_iter().map(|(name, values)| (name.to_string(), values)).collect();
        races += run::cells(catalogue::find(companion.experiment)?, &set, card())?.len();
    }
    Ok(LOOK_SECONDS + races as f64 * options.race.bound.as_secs_f64())
}

pub(super) fn values_from(json: &str) -> Result<BTreeMap<String, Vec<Value>>> {
    serde_json::from_str(json).map_err(|error| {
        Error::invalid("values", error, "wanted a JSON object of lists of numbers, words or flags")
    })
}

/// About how many seconds a run takes at most; `values` as for [`run_experiment`].
#[pyfunction]
#[pyo3(signature = (id, values, *, companions, quick, seconds))]
pub fn expected_seconds(
    py: Python<'_>,
    id: &str,
    values: &str,
    companions: bool,
    quick: bool,
    seconds: Option<f64>,
) -> PyResult<f64> {
    let race = Settings { quick, seconds, ..Settings::default() }.options().or_raise(py)?;
    let options = RunOptions { race, companions, sabotage: None };
    values_from(values).and_then(|values| seconds_at_most(id, &values, &options)).or_raise(py)
}

/// Runs an experiment; `values` is a JSON object of lists. A JSON document.
#[pyfunction]
#[pyo3(signature = (id, values, *, companions, sabotage, quick, seconds, precision, margin, layout_spread, seed, cpu, counters, progress))]
#[allow(clippy::too_many_arguments, reason = "all but two are keywords, documented in nanokata.run")]
pub fn run_experiment(
    py: Python<'_>,
    id: &str,
    values: &str,
    companions: bool,
    sabotage: Option<&str>,
    quick: bool,
    seconds: Option<f64>,
    precision: Option<f64>,
    margin: Option<f64>,
    layout_spread: Option<f64>,
    seed: u64,
    cpu: Option<usize>,
    counters: Option<Vec<String>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let values = values_from(values).or_raise(py)?;
    let race = Settings { quick, seconds, precision, margin, layout_spread, seed, cpu, counters }
        .options()
        .or_raise(py)?;
    let sabotage = sabotage.map(str::parse).transpose().or_raise(py)?;
    let options = RunOptions { race, companions, sabotage };
    // Refused before the instrument is looked at, which takes a second.
    let share = LOOK_SECONDS / seconds_at_most(id, &values, &options).or_raise(py)?;
    let (instrument, report) = worker::run_unpinned(py, progress, |watch| {
        watch.part(0.0, share);
        watch.section("the instrument", 0.0, 1.0);
        let instrument = match options.looks_first(id).then(|| look(&options.race, card(), watch)).transpose()
        {
            Ok(instrument) => instrument,
            // Too noisy for the floor: the experiment's own races will say whether they are hit too.
            Err(Error::NotMeasurable { .. }) => None,
            Err(error) => return Err(error),
        };
        watch.part(share, 1.0);
        let report = worker::known_to_python(|| run::run(id, &values, &options, card(), watch))?;
        Ok((instrument, report))
    })?;
    Ok(document(&report, instrument.as_ref()))
}
