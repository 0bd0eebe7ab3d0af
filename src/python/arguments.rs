//! Python's whole numbers have no bounds; the core's have.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use super::errors;
use crate::Error;

/// A whole number that fits `T`, or an `InvalidArgument` that names it.
pub fn whole<T>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let py = value.py();
    value.extract::<T>().map_err(|error| {
        if !error.is_instance_of::<PyOverflowError>(py) {
            return error;
        }
        let given = value.str().map_or_else(|_| "a number".into(), |text| text.to_string());
        errors::raise(
            py,
            Error::invalid(name, given, format!("wanted a whole number from 0 to {}", largest::<T>())),
        )
    })
}

fn largest<T>() -> u64 {
    u64::MAX >> (64 - 8 * size_of::<T>())
}
