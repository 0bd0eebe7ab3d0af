//! Examining a library in a process that may die of it.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::plugin::examination::{self, REPORT_LOST, Stage};

/// The stages of an examination, in order: name, and what is being done meanwhile; and the code that a process ends with
/// whose reports were lost.
#[pyfunction]
pub fn examination_stages() -> (Vec<(&'static str, &'static str)>, i32) {
    (Stage::ALL.iter().map(|stage| (stage.name(), stage.during())).collect(), REPORT_LOST)
}

/// Examines `path` here, writes a line of JSON an event to the descriptor `report`, and ends this process.
#[pyfunction]
pub fn perform_examination(path: PathBuf, report: i32) {
    // SAFETY: this process was started for this by `nanokata.plugin.check`, and gave it the descriptor.
    unsafe { examination::serve(&path, report) }
}
