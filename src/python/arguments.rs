//! Python's whole numbers have no bounds, and its arguments no types; the core's have.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use super::errors;
use crate::Error;

/// A whole number that fits `T`, or an `InvalidArgument` that names it. `True` is a flag, not the number 1.
pub fn whole<T>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let py = value.py();
    let wanted = format!("wanted a whole number from 0 to {}", largest::<T>());
    if value.is_instance_of::<PyBool>() {
        return Err(errors::wrong_type(py, name, value, &wanted));
    }
    value.extract::<T>().map_err(|error| {
        if !error.is_instance_of::<PyOverflowError>(py) {
            return errors::wrong_type(py, name, value, &wanted);
        }
        let given = value.str().map_or_else(|_| "a number".into(), |text| text.to_string());
        errors::raise(py, Error::invalid(name, given, wanted))
    })
}

/// Several of them: anything that can be iterated over, but no text.
pub fn wholes<T>(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let refuse = || errors::wrong_type(values.py(), name, values, "wanted a sequence of whole numbers");
    if values.is_instance_of::<PyString>() {
        return Err(refuse());
    }
    values.try_iter().map_err(|_| refuse())?.map(|item| whole(name, &item?)).collect()
}

/// A CPU's number, if one is given; whether that CPU exists is for whoever pins to say.
pub fn cpu(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    value.map(|value| whole::<u32>("cpu", value).map(|cpu| cpu as usize)).transpose()
}

/// A `TypeError` for something that can't be pickled: what it is made of lies in this process alone.
pub fn unpicklable(what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} can't be pickled: it is in this process alone; load it there again"))
}

fn largest<T>() -> u64 {
    u64::MAX >> (64 - 8 * size_of::<T>())
}
