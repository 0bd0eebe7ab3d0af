//! Arms of callers' own.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::dispatch::SelectionArm;
use crate::plugin::arm::{ArmRecipe, SelectRecipe};
use crate::python::dispatch::PyArm;
use crate::python::errors::OrRaise;
use crate::python::handlers::PyHandlerSet;
use crate::python::worker;

/// The whole arm of a library.
#[pyfunction]
pub fn own_arm(py: Python<'_>, path: PathBuf, handlers: &PyHandlerSet) -> PyResult<PyArm> {
    let set = handlers.set();
    // SAFETY: whoever asks for a library to be loaded vouches for it.
    let recipe = worker::run_unpinned(py, None, |_| unsafe { ArmRecipe::load(&path, set) })?;
    Ok(PyArm::whole(recipe, set))
}

/// The selection of a library.
#[pyfunction]
pub fn own_selection(py: Python<'_>, path: PathBuf, handlers: &PyHandlerSet) -> PyResult<PyArm> {
    let set = handlers.set();
    // SAFETY: as above.
    let recipe = worker::run_unpinned(py, None, |_| unsafe { SelectRecipe::load(&path, set) })?;
    Ok(PyArm::select(recipe, set))
}

/// A built-in selection behind the call that a library's has.
#[pyfunction]
pub fn selection_alone(py: Python<'_>, name: &str, handlers: &PyHandlerSet) -> PyResult<PyArm> {
    let set = handlers.set();
    let recipe = name.parse().and_then(|arm: SelectionArm| SelectRecipe::built_in(arm, set));
    Ok(PyArm::select(recipe.or_raise(py)?, set))
}
