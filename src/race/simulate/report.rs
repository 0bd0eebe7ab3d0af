//! What a simulation reports: plain data, serialised as it stands.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Events, Geometry, Profile};
use crate::race::{Check, Fact, Outcome, Value};

/// Events an operation.
pub type EventsPerOperation = BTreeMap<&'static str, f64>;

/// One arm of one setting.
#[derive(Debug, Clone, Serialize)]
pub struct SimulatedArm {
    /// Its name.
    pub arm: String,
    /// `arm`, `baseline` or `control`.
    pub role: &'static str,
    /// Operations of all measured passes together.
    pub operations: u64,
    /// What the measured passes cost, all together.
    pub totals: Events,
    /// The same an operation.
    pub per_operation: EventsPerOperation,
    /// What a region costs in which nothing runs: the requests' own instructions, part of `totals`.
    pub empty: Events,
    /// Where the cost fell.
    pub profile: Profile,
    /// The fold of a pass over the whole input, in hexadecimal.
    pub checksum: String,
    /// Why its counts differ from run to run by construction; `None` where they must not.
    pub varies: Option<&'static str>,
}

/// One setting of the parameters.
#[derive(Debug, Clone, Serialize)]
pub struct SimulatedCell {
    /// All parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The arms, in the plan's order.
    pub arms: Vec<SimulatedArm>,
    /// Audits of the input and the handlers.
    pub checks: Vec<Check>,
}

/// A whole simulation.
#[derive(Debug, Clone, Serialize)]
pub struct Simulation {
    /// The experiment's id.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// What an operation is: `packet`, `load`, …
    pub operation: String,
    /// One a setting.
    pub cells: Vec<SimulatedCell>,
    /// Whether counts repeat, and whether a region without work reads nothing.
    pub checks: Vec<Check>,
    /// What was simulated, and what the simulation doesn't know.
    pub facts: Vec<Fact>,
    /// valgrind's version.
    pub valgrind: String,
    /// The simulated caches.
    pub geometry: Geometry,
    /// Measured passes over the whole input.
    pub passes: u32,
    /// Processes that each arm ran in, to see whether counts repeat.
    pub runs: u32,
    /// When it started: seconds since 1970, UTC.
    pub started: f64,
    /// Seconds it took.
    pub seconds: f64,
    /// Seed of input and placement.
    pub seed: u64,
}

impl Simulation {
    /// Every check: over the whole simulation, then of each setting.
    pub fn all_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().chain(self.cells.iter().flat_map(|cell| &cell.checks))
    }

    /// What a process that ran this should exit with: 1 if a check failed, else 3 if a control did, else 0.
    pub fn exit_code(&self) -> u8 {
        let failed = || self.all_checks().filter(|check| check.outcome == Outcome::Failed);
        if failed().any(|check| !check.is_about_measuring()) {
            return 1;
        }
        if failed().next().is_some() { 3 } else { 0 }
    }
}
