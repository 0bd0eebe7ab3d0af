//! Experiments of the catalogue, run by name.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use super::document::document;
use super::errors::OrRaise;
use super::machine::card;
use super::race::Settings;
use super::worker;
use crate::Error;
use crate::catalogue;
use crate::experiments::instrument::look;
use crate::race::Value;
use crate::run::{self, RunOptions};

/// Runs an experiment; `values` is a JSON object of lists. A JSON document.
#[pyfunction]
#[pyo3(signature = (id, values, *, companions, quick, seconds, precision, margin, seed, cpu, progress))]
#[allow(clippy::too_many_arguments, reason = "all but two are keywords, documented in nanokata.run")]
pub fn run_experiment(
    py: Python<'_>,
    id: &str,
    values: &str,
    companions: bool,
    quick: bool,
    seconds: Option<f64>,
    precision: Option<f64>,
    margin: Option<f64>,
    seed: u64,
    cpu: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let values: BTreeMap<String, Vec<Value>> = serde_json::from_str(values)
        .map_err(|error| {
            Error::invalid("values", error, "wanted a JSON object of lists of numbers, words or flags")
        })
        .or_raise(py)?;
    let race = Settings { quick, seconds, precision, margin, seed, cpu }.options().or_raise(py)?;
    let options = RunOptions { race, companions };
    // Refused before the instrument is looked at, which takes a second.
    catalogue::find(id).and_then(|experiment| run::cells(experiment, &values, card())).or_raise(py)?;
    let (instrument, report) = worker::run_unpinned(py, progress, |watch| {
        watch.section("the instrument", 0.0, 0.0);
        let instrument = match look(&options.race, card(), watch) {
            Ok(instrument) => Some(instrument),
            // Too noisy for the floor: the experiment's own races will say whether they are hit too.
            Err(Error::NotMeasurable { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok((instrument, run::run(id, &values, &options, card(), watch)?))
    })?;
    Ok(document(&report, instrument.as_ref()))
}
