//! How much code the handlers are, and how that compares with an instruction cache.

use std::collections::BTreeSet;

use super::generated::Code;
use super::{Body, HandlerSet, machine_code};

/// The code of some handlers' `process`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeBytes {
    /// How many different functions.
    pub functions: usize,
    /// Bytes of all of them together, by their symbols; padding between functions left out.
    pub total: usize,
}

impl CodeBytes {
    /// Mean bytes of a function.
    pub fn each(self) -> f64 {
        self.total as f64 / self.functions as f64
    }

    /// How many functions of that size fit in `cache` bytes at once.
    pub fn fit(self, cache: usize) -> usize {
        (cache as f64 / self.each()) as usize
    }
}

/// The `process` of each built-in handler of a set.
///
/// # Errors
/// The reason why symbol sizes can't be had here.
pub fn process_bytes(set: &HandlerSet) -> Result<CodeBytes, String> {
    first_bytes(set.body(), set.built_in())
}

/// The same of the first `count` bodies of a kind.
///
/// # Errors
/// As [`process_bytes`].
///
/// # Panics
/// Past [`MAX_HANDLERS`](super::MAX_HANDLERS).
pub fn first_bytes(body: Body, count: usize) -> Result<CodeBytes, String> {
    let entries: BTreeSet<usize> = (0..count).map(|n| Code::of(body, n).process_address()).collect();
    let total = entries.iter().map(|&entry| machine_code::bytes(entry)).sum::<Result<usize, String>>()?;
    Ok(CodeBytes { functions: entries.len(), total })
}
