//! Sets of handlers: keys, residual predicates, order.

use numpy::{IntoPyArray, PyArray1, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::arguments::{unpicklable, whole, wholes};
use super::errors::{self, OrRaise};
use super::plugin::loading::PyPlugin;
use super::{arrays, worker};
use crate::dispatch::{Body, HandlerSet, HandlerSpec, Residual};
use crate::plugin::with_plugin;
use crate::{Error, Result};

/// What a predicate is made of: its kind and its numbers.
type ResidualParts = (&'static str, Vec<u64>);

/// What a packet must satisfy besides its key.
#[pyclass(name = "Residual", module = "nanokata.dispatch", frozen, eq)]
#[derive(Clone, PartialEq)]
pub struct PyResidual(Residual);

#[pymethods]
impl PyResidual {
    /// Nothing: the key decides.
    #[staticmethod]
    fn none() -> Self {
        PyResidual(Residual::None)
    }

    /// `payload[offset] & mask == value`.
    #[staticmethod]
    fn mask(offset: &Bound<'_, PyAny>, mask: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (offset, mask, value) = (whole("offset", offset)?, whole("mask", mask)?, whole("value", value)?);
        Ok(PyResidual(Residual::Mask { offset, mask, value }))
    }

    /// `low <= payload[offset] <= high`.
    #[staticmethod]
    fn range(offset: &Bound<'_, PyAny>, low: &Bound<'_, PyAny>, high: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (offset, low, high) = (whole("offset", offset)?, whole("low", low)?, whole("high", high)?);
        Ok(PyResidual(Residual::Range { offset, low, high }))
    }

    /// Bit `flow & 63` of `active` is set.
    #[staticmethod]
    fn flow(active: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(PyResidual(Residual::Flow { active: whole("active", active)? }))
    }

    /// How pickle makes it again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, ResidualParts)> {
        let parts = match self.0 {
            Residual::None => ("none", Vec::new()),
            Residual::Mask { offset, mask, value } => ("mask", [offset, mask, value].map(u64::from).to_vec()),
            Residual::Range { offset, low, high } => ("range", [offset, low, high].map(u64::from).to_vec()),
            Residual::Flow { active } => ("flow", vec![active]),
            Residual::Opaque => return Err(unpicklable("a plugin's own predicate")),
        };
        Ok((py.import("nanokata.dispatch")?.getattr("_residual")?, parts))
    }

    fn __repr__(&self) -> String {
        format!("<Residual {:?}>", self.0)
    }
}

/// Handlers and their registration order; never changed after it was made.
#[pyclass(name = "HandlerSet", module = "nanokata.dispatch", frozen)]
pub struct PyHandlerSet(HandlerSet);

impl PyHandlerSet {
    /// A face over a set of the core's.
    pub fn over(set: HandlerSet) -> Self {
        PyHandlerSet(set)
    }

    /// The core's set.
    pub fn set(&self) -> &HandlerSet {
        &self.0
    }
}

/// What a set is made of: keys, predicates, body, registration order.
type Parts = (Vec<u16>, Vec<PyResidual>, &'static str, Vec<usize>);

const WANTED_KEYS: &str = "a one-dimensional sequence of whole numbers from 0 to 65535";

/// Keys as a caller gives them: an array of any whole numbers, or a sequence of them.
fn keys_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<u16>> {
    let py = given.py();
    if let Ok(array) = given.cast::<PyUntypedArray>() {
        let refuse = |seen: String| Err(errors::wrong_array(py, "keys", WANTED_KEYS, &seen));
        if arrays::is_masked(given)? {
            return refuse("a masked array, whose mask would be ignored".into());
        }
        if array.ndim() != 1 {
            return refuse(format!("{} dimensions, shape {:?}", array.ndim(), array.shape()));
        }
        if array.len() > 0 && !matches!(array.dtype().kind(), b'i' | b'u') {
            return refuse(format!("dtype {}", array.dtype().str()?));
        }
    }
    wholes("keys", given)
}

fn residuals_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<Residual>> {
    let refuse = || errors::wrong_type(given.py(), "residuals", given, "wanted a sequence of Residual");
    let items = given.try_iter().map_err(|_| refuse())?;
    items
        .map(|item| item?.cast::<PyResidual>().map(|residual| residual.get().0).map_err(|_| refuse()))
        .collect()
}

fn seed_or_zero(seed: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    seed.map_or(Ok(0), |seed| whole("seed", seed))
}

/// The body of that name.
pub fn body_named(name: &str) -> Result<Body> {
    Body::ALL.into_iter().find(|body| body.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Body::ALL.iter().map(|body| body.name()).collect();
        Error::invalid("body", name, format!("wanted one of {}", names.join(", ")))
    })
}

#[pymethods]
impl PyHandlerSet {
    #[new]
    #[pyo3(signature = (handlers, body = "fat", *, residual_share = 0.10, seed = None))]
    fn new(
        py: Python<'_>,
        handlers: &Bound<'_, PyAny>,
        body: &str,
        residual_share: f64,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (handlers, seed) = (whole("handlers", handlers)?, seed_or_zero(seed)?);
        let set =
            body_named(body).and_then(|body| HandlerSet::standard(handlers, body, residual_share, seed));
        Ok(PyHandlerSet(set.or_raise(py)?))
    }

    /// Any keys and predicates, overlapping ones too, registered in the order given.
    #[staticmethod]
    #[pyo3(signature = (keys, residuals = None, *, body = "fat"))]
    fn from_keys(
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        residuals: Option<&Bound<'_, PyAny>>,
        body: &str,
    ) -> PyResult<Self> {
        let keys = keys_of(keys)?;
        let residuals = match residuals.map(residuals_of).transpose()? {
            Some(given) if given.len() == keys.len() => given,
            Some(given) => {
                let wanted = format!("wanted one for each of the {} keys", keys.len());
                return Err(Error::invalid("residuals", format!("{} residuals", given.len()), wanted))
                    .or_raise(py);
            }
            None => vec![Residual::None; keys.len()],
        };
        let specs =
            keys.into_iter().zip(residuals).map(|(key, residual)| HandlerSpec { key, residual }).collect();
        let set = body_named(body).and_then(|body| HandlerSet::from_specs(specs, body));
        Ok(PyHandlerSet(set.or_raise(py)?))
    }

    /// One handler for each of the `handlers` most frequent keys; other packets stay unmatched.
    #[staticmethod]
    #[pyo3(signature = (packets, handlers, *, body = "fat", seed = None))]
    fn from_packets(
        py: Python<'_>,
        packets: &Bound<'_, PyAny>,
        handlers: &Bound<'_, PyAny>,
        body: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (handlers, seed) = (whole("handlers", handlers)?, seed_or_zero(seed)?);
        let packets = arrays::packets(py, "packets", packets)?;
        let body = body_named(body).or_raise(py)?;
        let set = worker::run_unpinned(py, None, |watch| {
            HandlerSet::from_packets(&packets, handlers, body, seed, watch)
        })?;
        Ok(PyHandlerSet(set))
    }

    /// The same handlers, registered in another order.
    fn reordered(&self, py: Python<'_>, order: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(PyHandlerSet(self.0.reordered(&wholes::<usize>("order", order)?).or_raise(py)?))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Each handler's key, by its number.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        self.0.keys().into_pyarray(py)
    }

    /// Each handler's residual predicate, by its number.
    #[getter]
    fn residuals(&self) -> Vec<PyResidual> {
        self.0.specs().iter().map(|spec| PyResidual(spec.residual)).collect()
    }

    /// Handler numbers in registration order.
    #[getter]
    fn order<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        let order: Vec<u16> =
            self.0.order().iter().map(|&id| u16::try_from(id).expect("at most 1,024")).collect();
        order.into_pyarray(py)
    }

    /// `fat`, `tiny` or `identical`.
    #[getter]
    fn body(&self) -> &'static str {
        self.0.body().name()
    }

    /// How many different keys are claimed.
    #[getter]
    fn distinct_keys(&self) -> usize {
        self.0.distinct_keys()
    }

    /// How many handlers test more than their key.
    #[getter]
    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    /// Pairs of handlers that can both match one packet: between them order decides.
    fn overlaps(&self) -> Vec<(usize, usize)> {
        self.0.overlaps()
    }

    /// The same handlers with one for each claim of a plugin behind them.
    fn with_plugin(&self, py: Python<'_>, plugin: &Bound<'_, PyAny>) -> PyResult<Self> {
        let plugin = PyPlugin::within(plugin)?.get().loaded(py)?;
        // On a thread of its own as all foreign code: it makes an instance.
        let set = worker::run_unpinned(py, None, |_| with_plugin(&self.0, &plugin))?;
        Ok(PyHandlerSet(set))
    }

    /// How many of the handlers are built in; those of a plugin have the numbers from there on.
    #[getter]
    fn built_in(&self) -> usize {
        self.0.built_in()
    }

    /// How pickle makes it again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        if self.0.built_in() < self.0.len() {
            return Err(unpicklable("a set with a plugin's handlers"));
        }
        let parts = (self.0.keys(), self.residuals(), self.body(), self.0.order().to_vec());
        Ok((py.import("nanokata.dispatch")?.getattr("_handler_set")?, parts))
    }

    fn __repr__(&self) -> String {
        let set = &self.0;
        format!("<HandlerSet: {} {} handlers, {} keys>", set.len(), set.body().name(), set.distinct_keys())
    }
}
