//! A reading that this machine doesn't give, and why.

use serde::Serialize;

/// What can't be read here, and the reason in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{what} isn't available: {reason}")]
pub struct Unavailable {
    /// The reading.
    pub what: &'static str,
    /// Why not.
    pub reason: String,
}

impl Unavailable {
    pub(super) fn new(what: &'static str, reason: impl Into<String>) -> Self {
        Unavailable { what, reason: reason.into() }
    }
}
