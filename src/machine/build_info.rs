//! How this build was made: recorded by `build.rs`, so that a result can name the code it came from.

use serde::Serialize;

/// The build that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuildInfo {
    /// The package's version.
    pub version: &'static str,
    /// The compiler, as `rustc --version` prints it, or `unknown`.
    pub rustc: &'static str,
    /// Cargo's profile: `release` or `debug` (custom profiles report the one they inherit from).
    pub profile: &'static str,
    /// The optimisation level, `0` to `3`, `s` or `z`.
    pub opt_level: &'static str,
    /// The target triple.
    pub target: &'static str,
    /// The commit as `git describe` prints it (`-dirty` if files differed from it), or `unknown` outside a repository.
    pub git: &'static str,
    /// Whether debug assertions are compiled in: figures of such a build aren't published.
    pub debug_assertions: bool,
}

impl BuildInfo {
    /// The running build's own facts; compiled in, costs nothing.
    pub const fn current() -> Self {
        BuildInfo {
            version: env!("CARGO_PKG_VERSION"),
            rustc: env!("NANOKATA_RUSTC"),
            profile: env!("NANOKATA_PROFILE"),
            opt_level: env!("NANOKATA_OPT_LEVEL"),
            target: env!("NANOKATA_TARGET"),
            git: env!("NANOKATA_GIT"),
            debug_assertions: cfg!(debug_assertions),
        }
    }
}
