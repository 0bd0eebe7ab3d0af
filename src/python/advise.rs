//! Advice: a question put together from Python's arguments, answered by the core.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::Serialize;

use super::errors::OrRaise;
use super::handlers::{PyHandlerSet, body_named};
use super::machine::{Named, card};
use super::race::Settings;
use super::{arrays, worker};
use crate::Error;
use crate::dispatch::advise::{self as core, Advice, Question, Seen, Thresholds};

#[derive(Serialize)]
struct Document<'a> {
    advice: &'a Advice,
    machine: Named<'a>,
}

/// Answers whether to keep a list, sort it or build a table; a JSON document. Of `packets`, `weights` with `keys`, and
/// `weights` with a set of handlers, one says what the traffic is.
#[pyfunction]
#[pyo3(signature = (
    *, keys, weights, packets, set, handlers, order_given, residual_share, overlap, body, rate, adversarial,
    worth_share, captured_share, probe_ns, measure, pool, quick, seconds, precision, seed, cpu, progress
))]
#[allow(clippy::too_many_arguments, reason = "all are keywords, documented in nanokata.advise")]
pub fn advise(
    py: Python<'_>,
    keys: Option<PyReadonlyArray1<'_, u16>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    packets: Option<&Bound<'_, PyAny>>,
    set: Option<&PyHandlerSet>,
    handlers: Option<usize>,
    order_given: bool,
    residual_share: f64,
    overlap: f64,
    body: &str,
    rate: f64,
    adversarial: bool,
    worth_share: f64,
    captured_share: f64,
    probe_ns: f64,
    measure: bool,
    pool: Option<usize>,
    quick: bool,
    seconds: Option<f64>,
    precision: Option<f64>,
    seed: u64,
    cpu: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let seen = match (packets, keys, weights) {
        (Some(packets), None, None) => Seen::Packets(arrays::packets(py, "packets", packets)?),
        (None, Some(keys), Some(weights)) => {
            Seen::Keys(keys.as_slice()?.iter().copied().zip(weights.as_slice()?.iter().copied()).collect())
        }
        (None, None, Some(weights)) => Seen::Handlers(weights.as_slice()?.to_vec()),
        _ => {
            let wanted = "give either weights or packets: they say what the traffic is";
            return Err(Error::invalid("weights", "with or without packets", wanted)).or_raise(py);
        }
    };
    let settings = Settings { quick, seconds, precision, seed, cpu, ..Settings::default() };
    let options = settings.options().or_raise(py)?;
    let question = Question {
        seen,
        set: set.map(|set| set.set().clone()),
        handlers,
        order_given,
        residual_share,
        overlap,
        body: body_named(body).or_raise(py)?,
        rate,
        adversarial,
        thresholds: Thresholds { worth_share, captured_share },
        probe_ns,
        measure: measure.then_some(options),
        pool,
        seed,
    };
    let advice = worker::run_unpinned(py, progress, |watch| core::advise(&question, card(), watch))?;
    let document = Document { advice: &advice, machine: Named { id: card().id(), card: card() } };
    Ok(serde_json::to_string(&document).expect("plain data"))
}
