//! Why a library isn't taken: which field, with which value, and what would have been.

use std::path::{Path, PathBuf};

/// A library that is no plugin, or none that this host can use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {field} = {value}: {wanted}", path.display())]
pub struct Rejected {
    /// The library.
    pub path: PathBuf,
    /// What was looked at: a field of the ABI's structs, or `file`, `symbol`, …
    pub field: &'static str,
    /// What was found.
    pub value: String,
    /// What would have been accepted, and what to do.
    pub wanted: String,
}

impl Rejected {
    /// From anything printable.
    pub fn new(path: &Path, field: &'static str, value: impl ToString, wanted: impl Into<String>) -> Self {
        Rejected { path: path.to_path_buf(), field, value: value.to_string(), wanted: wanted.into() }
    }
}
