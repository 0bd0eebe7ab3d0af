//! The core's errors as the Python classes that callers catch; their values become attributes.

use std::any::Any;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::Error;

/// Attributes of an exception, by name.
type Attributes<'py> = Bound<'py, PyDict>;

/// The Python exception for an error of the core.
pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    build(py, error).unwrap_or_else(|failure| failure)
}

/// The exception for a panic on a worker thread; `None` if it carries no message.
pub fn raise_panic(py: Python<'_>, panic: &(dyn Any + Send)) -> Option<PyErr> {
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned())?;
    let text =
        format!("the core stopped at a state that it holds to be impossible, please report this: {message}");
    Some(exception(py, "WorkerPanic", &text, |_| Ok(())).unwrap_or_else(|failure| failure))
}

/// A `WrongArray`, for what the bindings themselves refuse.
pub fn wrong_array(py: Python<'_>, name: &str, wanted: &str, given: &str) -> PyErr {
    let text = format!("{name}: wanted {wanted}; got {given}");
    let fill = |attributes: &Attributes<'_>| {
        attributes.set_item("wanted", wanted)?;
        attributes.set_item("given", given)
    };
    exception(py, "WrongArray", &text, fill).unwrap_or_else(|failure| failure)
}

/// A `WrongType`: an argument of another type than the one that is wanted.
pub fn wrong_type(py: Python<'_>, name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let given = value.repr().map_or_else(|_| "something without a repr".into(), |text| text.to_string());
    let text = format!("{name} = {given}: {wanted}");
    let fill = |attributes: &Attributes<'_>| {
        attributes.set_item("name", name)?;
        attributes.set_item("value", &given)?;
        attributes.set_item("wanted", wanted)
    };
    exception(py, "WrongType", &text, fill).unwrap_or_else(|failure| failure)
}

/// Lets `?` turn the core's results into Python's.
pub trait OrRaise<T> {
    /// The value, or the Python exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for crate::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, error))
    }
}

fn exception(
    py: Python<'_>,
    class: &str,
    message: &str,
    fill: impl FnOnce(&Attributes<'_>) -> PyResult<()>,
) -> PyResult<PyErr> {
    let attributes = PyDict::new(py);
    fill(&attributes)?;
    let class = py.import("nanokata.errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(&attributes))?))
}

fn build(py: Python<'_>, error: Error) -> PyResult<PyErr> {
    let text = error.to_string();
    match error {
        Error::InvalidArgument { name, value, wanted } => {
            exception(py, "InvalidArgument", &text, |attributes| {
                attributes.set_item("name", name)?;
                attributes.set_item("value", value)?;
                attributes.set_item("wanted", wanted)
            })
        }
        Error::Pinning(_) => exception(py, "PinningError", &text, |_| Ok(())),
        Error::Capture(_) => exception(py, "CaptureError", &text, |_| Ok(())),
        Error::Binary(_) => exception(py, "BinaryError", &text, |_| Ok(())),
        Error::Plugin(rejected) => exception(py, "PluginRejected", &text, |attributes| {
            attributes.set_item("path", rejected.path.to_string_lossy())?;
            attributes.set_item("field", rejected.field)?;
            attributes.set_item("value", rejected.value)?;
            attributes.set_item("wanted", rejected.wanted)
        }),
        Error::CannotBuild { source_file, reason } => exception(py, "CannotBuild", &text, |attributes| {
            attributes.set_item("source", source_file.to_string_lossy())?;
            attributes.set_item("reason", reason)
        }),
        Error::ChecksumMismatch { arm, got, expected, expected_by, .. } => {
            exception(py, "ChecksumMismatch", &text, |attributes| {
                attributes.set_item("arm", arm)?;
                attributes.set_item("got", got)?;
                attributes.set_item("expected", expected)?;
                attributes.set_item("expected_by", expected_by)
            })
        }
        Error::NotMeasurable { what, reason } => exception(py, "NotMeasurable", &text, |attributes| {
            attributes.set_item("what", what)?;
            attributes.set_item("reason", reason)
        }),
        Error::UnknownExperiment { name, .. } => {
            exception(py, "UnknownExperiment", &text, |attributes| attributes.set_item("name", name))
        }
        Error::OutOfMemory { needed_bytes, available_bytes, .. } => {
            exception(py, "OutOfMemory", &text, |attributes| {
                attributes.set_item("needed_bytes", needed_bytes)?;
                attributes.set_item("available_bytes", available_bytes)
            })
        }
        Error::ResidualBound { key, length, bound } => {
            exception(py, "ResidualBoundExceeded", &text, |attributes| {
                attributes.set_item("key", key)?;
                attributes.set_item("length", length)?;
                attributes.set_item("bound", bound)
            })
        }
        Error::Interrupted => Ok(PyKeyboardInterrupt::new_err(())),
        Error::Os { .. } => exception(py, "SystemCallError", &text, |_| Ok(())),
    }
}
