//! Doctor, and what the instrument looks like.

use std::time::Duration;

use pyo3::prelude::*;
use serde::Serialize;

use super::errors::OrRaise;
use super::experiments::LOOK_SECONDS;
use super::machine::{Named, card};
use super::race::Settings;
use super::worker;
use crate::Error;
use crate::experiments::doctor::{Doctor, DoctorOptions, examine};
use crate::experiments::instrument::{Instrument, look};

/// In a shorter trial hardly a block of a race would fit.
const SHORTEST_TRIAL: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct Document<'a> {
    /// Trials for each kind of body; 0 where one race's blocks were resampled.
    trials: usize,
    #[serde(flatten)]
    doctor: &'a Doctor,
    #[serde(flatten)]
    instrument: &'a Instrument,
    machine: Named<'a>,
}

/// Looks at the instrument and runs doctor: a JSON object.
#[pyfunction]
#[pyo3(signature = (*, trials, trial_seconds, seed, cpu, progress))]
pub fn doctor(
    py: Python<'_>,
    trials: Option<usize>,
    trial_seconds: f64,
    seed: u64,
    cpu: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let race = Settings { seed, cpu, ..Settings::default() }.options().or_raise(py)?;
    let trial = Duration::try_from_secs_f64(trial_seconds).ok().filter(|trial| *trial >= SHORTEST_TRIAL);
    let wanted = "wanted at least 0.1 seconds for a trial: in less, too few blocks fit to say anything";
    let trial = trial.ok_or_else(|| Error::invalid("trial_seconds", trial_seconds, wanted)).or_raise(py)?;
    let options = DoctorOptions { trials, trial, race };
    let (instrument, found) = worker::run_unpinned(py, progress, |watch| {
        let trials = 2 * options.trials.unwrap_or(1);
        let share = LOOK_SECONDS / (LOOK_SECONDS + trials as f64 * options.trial.as_secs_f64());
        watch.part(0.0, share);
        watch.section("the instrument", 0.0, 1.0);
        let instrument = look(&options.race, card(), watch)?;
        watch.part(share, 1.0);
        Ok((instrument, examine(&options, card(), watch)?))
    })?;
    let machine = Named { id: card().id(), card: card() };
    let document = Document { trials: trials.unwrap_or(0), doctor: &found, instrument: &instrument, machine };
    Ok(serde_json::to_string(&document).expect("plain data"))
}
