//! A boundary that only an interpreter has: a Python function, called once a batch, which calls back for the work.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::plugin::abi::{self, PacketView, PluginResult};
use crate::plugin::crossing::{self, Carrier, Offer, serve_batch};
use crate::{Error, Result};

/// Offers it to the experiments of this process.
pub fn offer() {
    let spoken = "taking the interpreter's lock and calling a Python function";
    crossing::offer(Offer { name: "python_callback", spoken, make });
}

/// What is lent during one crossing.
struct Lent<'a> {
    views: &'a [PacketView],
    results: &'a mut [PluginResult],
}

/// What the Python function gets: the batch, while it is lent.
#[pyclass(name = "Batch", module = "nanokata._core", frozen)]
struct PyBatch {
    first: u16,
    lent: AtomicPtr<()>,
}

#[pymethods]
impl PyBatch {
    /// Does the work on the batch that is lent just now, and returns its status.
    fn process(&self) -> PyResult<i32> {
        // Taken, so that it is worked on once and by one thread.
        let lent = self.lent.swap(ptr::null_mut(), Ordering::AcqRel).cast::<Lent<'_>>();
        if lent.is_null() {
            return Err(PyRuntimeError::new_err("no batch is lent just now"));
        }
        // SAFETY: what `carry` lent and takes back before it returns; nobody else has it, since it was swapped out.
        let lent = unsafe { &mut *lent };
        // SAFETY: `carry`'s caller vouches for the payloads.
        Ok(unsafe { serve_batch(self.first, lent.views, lent.results) })
    }
}

/// Calls the function.
struct Callback {
    function: Py<PyAny>,
    batch: Py<PyBatch>,
}

fn make(first: u16) -> Result<Box<dyn Carrier>> {
    let made = Python::attach(|py| -> PyResult<Callback> {
        let function = py.eval(c"lambda batch: batch.process()", None, None)?.unbind();
        let batch = Py::new(py, PyBatch { first, lent: AtomicPtr::default() })?;
        Ok(Callback { function, batch })
    });
    let callback = made.map_err(|error| Error::NotMeasurable {
        what: "a Python callback".into(),
        reason: error.to_string(),
    })?;
    Ok(Box::new(callback))
}

impl Carrier for Callback {
    unsafe fn carry(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
        let mut lent = Lent { views, results };
        Python::attach(|py| {
            let place = &self.batch.get().lent;
            place.store((&raw mut lent).cast(), Ordering::Release);
            let answer = self.function.call1(py, (&self.batch,)).and_then(|status| status.extract::<i32>(py));
            place.store(ptr::null_mut(), Ordering::Release);
            answer.unwrap_or(abi::ERROR)
        })
    }
}
