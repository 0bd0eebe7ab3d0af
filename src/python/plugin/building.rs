//! Building a library from a source file.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::plugin::{building, shipped};
use crate::python::{errors::OrRaise, worker};

/// Builds `output` from `source`; library, compiler, command and warnings.
#[pyfunction]
#[pyo3(signature = (source, output, *, compiler, options))]
pub fn build_plugin(
    py: Python<'_>,
    source: PathBuf,
    output: PathBuf,
    compiler: Option<&str>,
    options: Vec<String>,
) -> PyResult<(PathBuf, String, String, String)> {
    let built = worker::run_unpinned(py, None, |watch| {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        building::build(&source, &output, compiler, &options, watch)
    })?;
    Ok((built.library, built.compiler, built.command, built.warnings))
}

/// The plugins that came with this build, by name, and the folder of what a learner builds.
#[pyfunction]
pub fn shipped_plugins(py: Python<'_>) -> PyResult<(Vec<(String, PathBuf)>, PathBuf)> {
    let paths = shipped::NAMES.iter().map(|name| Ok((name.to_string(), shipped::library(name)?)));
    let paths: crate::Result<Vec<_>> = paths.collect();
    let sources = shipped::sources().map_err(crate::Error::from);
    Ok((paths.or_raise(py)?, sources.or_raise(py)?))
}
