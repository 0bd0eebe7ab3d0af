//! One cache of the machine.

use serde::Serialize;

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache: one instance, of which a machine has as many as there are groups of CPUs that share one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// 1 for the one next to the core.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Its capacity.
    pub bytes: usize,
    /// Its line, where known.
    pub line_bytes: Option<usize>,
    /// Its associativity, where known.
    pub ways: Option<usize>,
    /// Its sets, where known.
    pub sets: Option<usize>,
    /// The CPUs that use it, ascending; empty where the system doesn't tell.
    pub cpus: Vec<usize>,
}

impl Cache {
    /// Whether it holds what `kind` holds.
    pub(super) fn serves(&self, kind: CacheKind) -> bool {
        self.kind == kind || self.kind == CacheKind::Unified
    }
}
