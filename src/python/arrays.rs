//! Packets as numpy arrays: the dtype, handing over without a copy, and taking in with a check.

use numpy::{
    Element, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::errors::{self, OrRaise};
use crate::Error;
use crate::machine::memory;
use crate::traffic::Packet;

/// `numpy.dtype` of a packet, as `nanokata.traffic.PACKET` declares it.
static DTYPE: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();

/// The layout of [`Packet`] in numpy's words: `(name, format, offset)`, 32 bytes together.
const FIELDS: [(&str, &str, usize); 4] =
    [("protocol", "<u2", 0), ("length", "<u2", 2), ("flow", "<u4", 4), ("payload", "24u1", 8)];

// SAFETY: the dtype below has the size, the alignment and the fields of the `repr(C)` packet, all of them plain
// numbers for which every bit pattern is valid; no Python object is inside.
unsafe impl Element for Packet {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        let make = || -> PyResult<Py<PyArrayDescr>> {
            let numpy = py.import("numpy")?;
            let fields = pyo3::types::PyDict::new(py);
            fields.set_item("names", FIELDS.map(|(name, _, _)| name).to_vec())?;
            fields.set_item("formats", FIELDS.map(|(_, format, _)| format).to_vec())?;
            fields.set_item("offsets", FIELDS.map(|(_, _, offset)| offset).to_vec())?;
            fields.set_item("itemsize", size_of::<Packet>())?;
            let keywords = pyo3::types::PyDict::new(py);
            keywords.set_item("align", true)?;
            let dtype = numpy.getattr("dtype")?.call((fields,), Some(&keywords))?;
            Ok(dtype.cast_into::<PyArrayDescr>()?.unbind())
        };
        DTYPE.get_or_try_init(py, make).expect("numpy makes a dtype of a packet's fields").bind(py).clone()
    }

    fn clone_ref(&self, _py: Python<'_>) -> Self {
        *self
    }
}

const WANTED: &str =
    "a one-dimensional, contiguous, aligned ndarray of dtype nanokata.traffic.PACKET (32-byte records)";

/// Packets copied before other Python threads get their turn and signals are looked at: 16 MiB.
const CHUNK: usize = (16 << 20) / size_of::<Packet>();

/// Copies an array of packets, or says what is wrong with it.
///
/// Another thread may write to the array once the work begins. The copy itself is made in pieces of 16 MiB with the GIL
/// held, let go between two: a thread that writes during the call may be seen in some pieces and not in others, never
/// within one. Read-only arrays are fine; a masked array isn't, since its mask would be lost.
pub fn packets(py: Python<'_>, name: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Packet>> {
    let refuse = |seen: String| errors::wrong_array(py, name, WANTED, &seen);
    let Ok(array) = given.cast::<PyUntypedArray>() else {
        let class =
            given.get_type().qualname().map_or_else(|_| "another type".into(), |name| name.to_string());
        return Err(refuse(format!("a {class}")));
    };
    if is_masked(given)? {
        return Err(refuse("a masked array, whose mask would be ignored".into()));
    }
    let dtype = array.dtype();
    if !dtype.is_equiv_to(&Packet::get_dtype(py)) {
        return Err(refuse(format!("dtype {}", dtype.str()?)));
    }
    if array.ndim() != 1 {
        return Err(refuse(format!("{} dimensions, shape {:?}", array.ndim(), array.shape())));
    }
    if !array.is_contiguous() {
        return Err(refuse(format!("a view with a stride of {} bytes", array.strides()[0])));
    }
    let Ok(array) = array.cast::<PyArray1<Packet>>() else {
        return Err(refuse(format!("dtype {}", dtype.str()?)));
    };
    let flags = array.getattr("flags")?;
    if !flags.getattr("aligned")?.extract::<bool>()? {
        return Err(refuse("an array that isn't aligned to 4 bytes".into()));
    }
    if array.len() == 0 {
        return Err(errors::raise(py, Error::invalid(name, "0 packets", "wanted at least one packet")));
    }
    copy(py, name, array)
}

/// Whether it is numpy's array with a mask of elements that don't count.
pub fn is_masked(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = given.py();
    // The usual case, for which nothing has to be imported.
    if given.get_type().is(py.get_type::<PyUntypedArray>()) {
        return Ok(false);
    }
    given.is_instance(&py.import("numpy.ma")?.getattr("MaskedArray")?)
}

fn copy(py: Python<'_>, name: &str, array: &Bound<'_, PyArray1<Packet>>) -> PyResult<Vec<Packet>> {
    let count = array.len();
    let mut copied = memory::reserve(&format!("a copy of {count} packets"), count).or_raise(py)?;
    while copied.len() < count {
        if !copied.is_empty() {
            py.check_signals()?;
            py.detach(|| ());
        }
        // Looked at anew for each piece: meanwhile another thread may have resized the array in place.
        let view = array.try_readonly();
        let items = view.as_ref().ok().and_then(|view| view.as_slice().ok()).filter(|all| all.len() == count);
        let Some(items) = items else {
            return Err(errors::wrong_array(py, name, WANTED, "an array that changed while it was copied"));
        };
        let end = count.min(copied.len() + CHUNK);
        copied.extend_from_slice(&items[copied.len()..end]);
    }
    Ok(copied)
}
