//! Generators and captures as arrays.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::errors::OrRaise;
use super::worker::{self, PyRan};
use crate::Error;
use crate::traffic::{self, KeyRule, Law, Packet, Traffic};

/// How often each handler's key is drawn.
#[pyclass(name = "Law", module = "nanokata._core", frozen)]
pub struct PyLaw(Law);

#[pymethods]
impl PyLaw {
    /// All equally often.
    #[staticmethod]
    fn uniform() -> Self {
        PyLaw(Law::Uniform)
    }

    /// Rank r (from 0) with weight 1 / (r + 1)^exponent.
    #[staticmethod]
    fn zipf(exponent: f64) -> Self {
        PyLaw(Law::Zipf { exponent })
    }

    /// The `top` busiest get `share` together.
    #[staticmethod]
    fn skewed(share: f64, top: usize) -> Self {
        PyLaw(Law::Skewed { share, top })
    }

    /// One handler only.
    #[staticmethod]
    fn hot(handler: usize) -> Self {
        PyLaw(Law::Hot { handler })
    }

    /// The last handler only.
    #[staticmethod]
    fn worst() -> Self {
        PyLaw(Law::Worst)
    }

    /// The first `period` ranks in turn.
    #[staticmethod]
    fn periodic(period: usize) -> Self {
        PyLaw(Law::Periodic { period })
    }

    /// Weights by handler.
    #[staticmethod]
    fn weights(weights: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        Ok(PyLaw(Law::Weights(weights.as_slice()?.to_vec())))
    }

    fn __repr__(&self) -> String {
        format!("<Law {}>", self.0.name())
    }
}

/// Draws packets; the array takes over the generator's memory.
#[pyfunction]
#[pyo3(signature = (law, packets, keys, *, unmatched, seed, shuffle, permutation_seed, cpu))]
#[allow(clippy::too_many_arguments, reason = "all but three are keywords, documented in nanokata.traffic")]
pub fn generate<'py>(
    py: Python<'py>,
    law: &PyLaw,
    packets: usize,
    keys: PyReadonlyArray1<'py, u16>,
    unmatched: f64,
    seed: u64,
    shuffle: bool,
    permutation_seed: Option<u64>,
    cpu: Option<usize>,
) -> PyResult<(Bound<'py, PyArray1<Packet>>, PyRan)> {
    let keys = keys.as_slice()?.to_vec();
    let traffic = Traffic { law: law.0.clone(), unmatched, seed, shuffle, permutation_seed };
    let (drawn, ran) = worker::run(py, cpu, None, |watch| traffic.generate(packets, &keys, watch))?;
    Ok((drawn.into_pyarray(py), ran))
}

/// What a capture gives: packets, frames, skipped, cut payloads, cut frames, and where it was read.
type CaptureParts<'py> = (Bound<'py, PyArray1<Packet>>, usize, usize, usize, usize, PyRan);

/// Reads a pcap or pcapng file.
#[pyfunction]
#[pyo3(signature = (path, *, key, offset, mask, cpu))]
pub fn read_capture<'py>(
    py: Python<'py>,
    path: PathBuf,
    key: &str,
    offset: Option<usize>,
    mask: Option<u16>,
    cpu: Option<usize>,
) -> PyResult<CaptureParts<'py>> {
    if let (Some(mask), "ip_protocol" | "destination_port") = (mask, key) {
        return Err(Error::invalid("mask", mask, "belongs to key=\"bytes\" only; leave it out")).or_raise(py);
    }
    let rule = match (key, offset) {
        ("ip_protocol", None) => KeyRule::IpProtocol,
        ("destination_port", None) => KeyRule::DestinationPort,
        ("bytes", Some(offset)) => KeyRule::Bytes { offset, mask: mask.unwrap_or(u16::MAX) },
        ("bytes", None) => {
            return Err(Error::invalid("offset", "None", "key=\"bytes\" wants an offset")).or_raise(py);
        }
        ("ip_protocol" | "destination_port", Some(offset)) => {
            return Err(Error::invalid("offset", offset, "belongs to key=\"bytes\" only; leave it out"))
                .or_raise(py);
        }
        _ => {
            return Err(Error::invalid("key", key, "wanted ip_protocol, destination_port or bytes"))
                .or_raise(py);
        }
    };
    let (capture, ran) = worker::run(py, cpu, None, |watch| traffic::read_capture(&path, rule, watch))?;
    let packets = capture.packets.into_pyarray(py);
    Ok((packets, capture.frames, capture.skipped, capture.cut_payloads, capture.cut_frames, ran))
}
