//! One error type for the core: what was wrong, with which value, and what to do.

use crate::binary::BinaryError;
use crate::machine::PinningError;
use crate::plugin::Rejected;
use crate::traffic::CaptureError;

/// What the core's fallible calls return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every way in which the core refuses or stops.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument outside its bounds or of the wrong shape.
    #[error("{name} = {value}: {wanted}")]
    InvalidArgument {
        /// The argument's name, as the caller wrote it.
        name: String,
        /// The value that was given, printed.
        value: String,
        /// What would have been accepted, and what to do.
        wanted: String,
    },
    /// A CPU that is absent or not allowed, or a pin that was not honoured.
    #[error(transparent)]
    Pinning(#[from] PinningError),
    /// A packet capture that can't be used.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A binary that can't be examined.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// A library that is no plugin, or none for this host.
    #[error(transparent)]
    Plugin(#[from] Rejected),
    /// A source file that didn't become a library.
    #[error("{} can't be built: {reason}", source_file.display())]
    CannotBuild {
        /// The file.
        source_file: std::path::PathBuf,
        /// Why not: no compiler, or what it said.
        reason: String,
    },
    /// Two arms that claim the same work computed different results; no figure is reported.
    #[error(
        "checksum mismatch: {arm} computed {got:#018x} where {expected_by} computed {expected:#018x} \
         (window of {count} operations from {first}): the arm does other work, so no figure is reported"
    )]
    ChecksumMismatch {
        /// The arm that differs.
        arm: String,
        /// What it folded.
        got: u64,
        /// What should have come out.
        expected: u64,
        /// Who says so: the reference, or another arm.
        expected_by: String,
        /// First operation of the window.
        first: usize,
        /// Operations in the window.
        count: usize,
    },
    /// The machine can't measure this, and why.
    #[error("{what} can't be measured here: {reason}")]
    NotMeasurable {
        /// The thing that was asked for.
        what: String,
        /// Why not, in one line.
        reason: String,
    },
    /// No experiment of that name.
    #[error("no experiment is called {name:?}; {hint}")]
    UnknownExperiment {
        /// The name that was asked for.
        name: String,
        /// The nearest names, or where to list them.
        hint: String,
    },
    /// More memory than there is.
    #[error("{what} needs {needed_bytes} bytes, {available_bytes} are available: ask for less")]
    OutOfMemory {
        /// What the memory was wanted for.
        what: String,
        /// Bytes needed.
        needed_bytes: u64,
        /// Bytes available.
        available_bytes: u64,
    },
    /// A residual list longer than the bound that the caller set.
    #[error(
        "key {key} has {length} residual candidates, more than residual_bound={bound}: raise the bound or split the key"
    )]
    ResidualBound {
        /// The key whose list is too long.
        key: u16,
        /// Its length.
        length: usize,
        /// The bound.
        bound: usize,
    },
    /// Stopped by the caller (Ctrl-C).
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused.
    #[error("{what}: {source}")]
    Os {
        /// What was being done.
        what: String,
        /// The system's own error.
        source: std::io::Error,
    },
}

impl Error {
    /// An [`Error::InvalidArgument`] from anything printable.
    pub fn invalid(name: impl Into<String>, value: impl ToString, wanted: impl Into<String>) -> Self {
        Error::InvalidArgument { name: name.into(), value: value.to_string(), wanted: wanted.into() }
    }
}
