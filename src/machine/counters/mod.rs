//! Event counters: what the processor and the kernel counted while a region of code ran.
//!
//! On Linux through perf events (`perf_event_open(2)`). What can't be counted is never silently absent: each counter has
//! a status with a named reason, and each reading says whether it was counted throughout.

use serde::Serialize;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod platform;
#[cfg(target_os = "linux")]
mod reason;

/// Who counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CounterKind {
    /// The processor's performance monitoring unit; user mode only.
    Hardware,
    /// The kernel.
    Software,
}

/// Whether one counter can be had here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CounterStatus {
    /// Its name, stable: see [`available`].
    pub name: &'static str,
    /// Who counts.
    pub kind: CounterKind,
    /// Whether it can be opened.
    pub available: bool,
    /// Why not: `ENOENT: no hardware PMU in this virtual machine`, `EACCES: perf_event_paranoid is 3`, …
    pub reason: Option<String>,
}

/// One counter's value over a region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// Its name.
    pub name: &'static str,
    /// The count (`task_clock`: nanoseconds), scaled up if it was counted only part of the time; `None` if it never was.
    pub value: Option<u64>,
    /// The share of the region's time in which it was counted: 1 if always, less where counters took turns, and then
    /// the value is an estimate.
    pub running_share: f64,
}

/// Every counter by its name: the processor's, those first that should have a place in a small PMU, then the kernel's.
pub const KNOWN: [(&str, CounterKind); 11] = [
    ("cycles", CounterKind::Hardware),
    ("instructions", CounterKind::Hardware),
    ("l1i_misses", CounterKind::Hardware),
    ("branch_misses", CounterKind::Hardware),
    ("branches", CounterKind::Hardware),
    ("l1d_misses", CounterKind::Hardware),
    ("ll_misses", CounterKind::Hardware),
    ("context_switches", CounterKind::Software),
    ("page_faults", CounterKind::Software),
    ("cpu_migrations", CounterKind::Software),
    ("task_clock", CounterKind::Software),
];

/// Every counter of [`KNOWN`], in that order, and whether it can be had on the calling thread.
pub fn available() -> Vec<CounterStatus> {
    platform::available()
}

/// The counters that can be had, opened on the calling thread: two groups, the processor's and the kernel's, so that
/// a busy PMU doesn't cost the kernel's counts. Each group is counted as one, so its values belong together.
pub struct Counters {
    groups: platform::Groups,
}

impl Counters {
    /// Opens what can be opened; the rest is explained by [`available`]. Counts the thread that calls this.
    pub fn open() -> Counters {
        Counters::open_those(|_| true)
    }

    /// The same for those that are `wanted`, by name: a PMU that is too small for all may have room for a few.
    pub fn open_those(wanted: impl Fn(&str) -> bool) -> Counters {
        Counters { groups: platform::Groups::open(&wanted) }
    }

    /// The names of the counters that were opened, in the order of [`Counters::stop`].
    pub fn names(&self) -> Vec<&'static str> {
        self.groups.names()
    }

    /// Begins a region.
    pub fn start(&mut self) {
        self.groups.start();
    }

    /// Ends the region: what was counted in it, without what earlier regions counted. Nothing counts until the next
    /// `start`. A group that fails to read gives no value.
    pub fn stop(&mut self) -> Vec<Reading> {
        self.groups.stop()
    }
}

/// A count over the whole region, estimated from the part of it in which the counter ran (perf's own rule: value ×
/// enabled / running).
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn scaled(value: u64, enabled_ns: u64, running_ns: u64) -> (Option<u64>, f64) {
    match (enabled_ns, running_ns) {
        (_, 0) => (None, 0.0),
        (enabled, running) if running >= enabled => (Some(value), 1.0),
        (enabled, running) => {
            let estimate = u128::from(value) * u128::from(enabled) / u128::from(running);
            (u64::try_from(estimate).ok(), running as f64 / enabled as f64)
        }
    }
}

#[cfg(test)]
mod tests;
