//! Simulations: experiments of the catalogue under valgrind's callgrind.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use serde::Serialize;

use super::errors::OrRaise;
use super::experiments::values_from;
use super::machine::{Named, card};
use super::worker;
use crate::race::simulate::{Performer, Simulation};
use crate::simulate::{self, SimulateOptions};
use crate::{Error, Result, catalogue};

#[derive(Serialize)]
struct Document<'a> {
    report: &'a Simulation,
    exit_code: u8,
    machine: Named<'a>,
}

/// Simulates an experiment; `values` is a JSON object of lists, `performer` a command (program, arguments) to which the job's
/// file is added, `path` where valgrind is looked for. A JSON document.
#[pyfunction]
#[pyo3(signature = (id, values, *, arms, passes, runs, timeout, jobs, seed, performer, environment, path, progress))]
#[allow(clippy::too_many_arguments, reason = "all but two are keywords, documented in nanokata.simulate")]
pub fn simulate_experiment(
    py: Python<'_>,
    id: &str,
    values: &str,
    arms: Vec<String>,
    passes: u32,
    runs: u32,
    timeout: f64,
    jobs: Option<usize>,
    seed: u64,
    performer: (PathBuf, Vec<String>),
    environment: BTreeMap<String, String>,
    path: OsString,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let values = values_from(values).or_raise(py)?;
    let (program, arguments) = performer;
    let performer = Performer { program, arguments, environment: environment.into_iter().collect() };
    let mut options = SimulateOptions::new(performer, path);
    (options.arms, options.passes, options.runs, options.seed) = (arms, passes, runs, seed);
    options.timeout = seconds(timeout).or_raise(py)?;
    options.jobs = at_once(jobs).or_raise(py)?;
    let report =
        worker::run_unpinned(py, progress, |watch| simulate::simulate(id, &values, &options, card(), watch))?;
    let machine = Named { id: card().id(), card: card() };
    let document = Document { report: &report, exit_code: report.exit_code(), machine };
    Ok(serde_json::to_string(&document).expect("plain data"))
}

fn seconds(timeout: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(timeout)
        .map_err(|_| Error::invalid("timeout", timeout, "wanted more than 0 s, at most 86400"))
}

fn at_once(jobs: Option<usize>) -> Result<Option<NonZero<usize>>> {
    let wanted = "wanted at least one process at a time";
    jobs.map(|jobs| NonZero::new(jobs).ok_or_else(|| Error::invalid("jobs", jobs, wanted))).transpose()
}

/// How many processes a simulation of `values` starts; refuses an unknown experiment and unusable values.
#[pyfunction]
#[pyo3(signature = (id, values, *, arms, runs))]
pub fn simulation_processes(
    py: Python<'_>,
    id: &str,
    values: &str,
    arms: Vec<String>,
    runs: u32,
) -> PyResult<usize> {
    let count = || {
        let experiment = catalogue::find(id)?;
        let cells = simulate::cells(experiment, &values_from(values)?, card())?.len();
        let arms = if arms.is_empty() { experiment.arms().len() } else { arms.len() };
        Ok(cells * arms * runs as usize)
    };
    count().or_raise(py)
}

/// Performs the job in `file` on the calling thread: what the process under valgrind does. Raises nothing that needs the
/// package around this module, which that process doesn't load.
#[pyfunction]
pub fn perform_simulation(file: PathBuf) -> PyResult<()> {
    simulate::perform(&file).map_err(|error| pyo3::exceptions::PyOSError::new_err(error.to_string()))
}
