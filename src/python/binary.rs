//! Binaries: their functions, and the code that is reachable from one.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;

use super::machine::card;
use super::worker;
use crate::Error;
use crate::binary::{self, Function, Image, Reach};

#[derive(Serialize)]
struct Document<'a> {
    reach: &'a Reach,
    l1i_bytes: Option<usize>,
    machine: String,
}

fn open(path: &Option<PathBuf>) -> crate::Result<Image> {
    Ok(match path {
        Some(path) => Image::open(path)?,
        None => Image::of_this_code()?,
    })
}

/// The code bytes that direct calls and jumps lead to from a function; `path` of `None` is the extension itself. A JSON
/// document.
#[pyfunction]
#[pyo3(signature = (path, symbol, *, without, progress))]
pub fn reach(
    py: Python<'_>,
    path: Option<PathBuf>,
    symbol: &str,
    without: Vec<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let reach = worker::run_unpinned(py, progress, |watch| {
        let image = open(&path)?;
        watch.check()?;
        let root = image.function_named(symbol)?;
        let stop = || watch.check().is_err();
        binary::reach(&image, root, &without, card().line_bytes(), &stop)?.ok_or(Error::Interrupted)
    })?;
    let document = Document { reach: &reach, l1i_bytes: card().l1i_bytes(), machine: card().id() };
    Ok(serde_json::to_string(&document).expect("plain data"))
}

/// The functions whose demangled name holds `contains` (all, if it is empty); a JSON list.
#[pyfunction]
#[pyo3(signature = (path, *, contains))]
pub fn functions(py: Python<'_>, path: Option<PathBuf>, contains: &str) -> PyResult<String> {
    worker::run_unpinned(py, None, |_| {
        let image = open(&path)?;
        let fits = |function: &&Function| contains.is_empty() || function.name.contains(contains);
        let found: Vec<&Function> = image.functions().iter().filter(fits).collect();
        Ok(serde_json::to_string(&found).expect("plain data"))
    })
}
