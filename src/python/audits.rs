//! What can be said of handlers without timing anything: whether their bodies differ, how many probes to expect.

use pyo3::prelude::*;

use super::errors::OrRaise;
use super::handlers::PyHandlerSet;
use super::worker;
use crate::dispatch::expected::expected_probes as expect;
use crate::dispatch::{SelectionArm, audit};

/// How many different results the handlers' bodies give on the same packets, and how many handlers there are.
#[pyfunction]
pub fn distinct_bodies(py: Python<'_>, handlers: &PyHandlerSet) -> PyResult<(usize, usize)> {
    let set = handlers.set().clone();
    Ok(worker::run(py, None, None, |_| audit::distinct_bodies(&set))?.0)
}

/// Expected probes a packet of the selection arm of that name; `None` where they can't be enumerated.
#[pyfunction]
pub fn expected_probes(
    py: Python<'_>,
    name: &str,
    handlers: &PyHandlerSet,
    weights: Vec<f64>,
    unmatched: f64,
) -> PyResult<Option<f64>> {
    let arm: SelectionArm = name.parse().or_raise(py)?;
    let set = handlers.set().clone();
    Ok(worker::run(py, None, None, |_| expect(arm, &set, &weights, unmatched))?.0)
}
