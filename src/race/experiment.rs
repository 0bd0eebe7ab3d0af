//! The contract of an experiment: from typed parameters to the plan of one race.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{Cell, Check, Contrast, Parameter, Probes, Recipe, Reference, Source, Values, Watch};
use crate::Result;
use crate::machine::Card;

/// What one operation's cost is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Nanoseconds a packet.
    #[serde(rename = "ns/packet")]
    NsPerPacket,
    /// Nanoseconds a load.
    #[serde(rename = "ns/load")]
    NsPerLoad,
    /// Nanoseconds an iteration.
    #[serde(rename = "ns/iteration")]
    NsPerIteration,
}

/// What an arm is in a race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Something under test.
    Arm,
    /// What the others are compared with.
    Baseline,
    /// Its ratio to another arm is one by construction; if it doesn't read `same`, nothing is concluded.
    Control {
        /// Name of that other arm.
        against: String,
    },
}

/// One arm of a plan.
#[derive(Clone)]
pub struct Entry {
    /// The arm's name.
    pub name: String,
    /// Its part in the race.
    pub role: Role,
    /// How to build it.
    pub recipe: Arc<dyn Recipe>,
    /// What it must compute.
    pub reference: Arc<dyn Reference>,
    /// Arms with the same claim say that they do the same work: their references must agree.
    pub claim: &'static str,
    /// Exact probe counts, where the arm selects.
    pub probes: Option<Probes>,
    /// What physics allows.
    pub ceiling: Option<Ceiling>,
}

/// The least that an operation can cost on this machine; anything below is an artefact.
#[derive(Debug, Clone, Serialize)]
pub struct Ceiling {
    /// Least cycles an operation.
    pub min_cycles: f64,
    /// How that follows, in one line.
    pub formula: String,
    /// Where the constants come from.
    pub source: String,
}

/// One race, ready to run.
pub struct Plan {
    /// What is replayed.
    pub source: Source,
    /// The arms; exactly one is [`Role::Baseline`].
    pub entries: Vec<Entry>,
    /// Audits of the input and the handlers, made before anything is timed.
    pub checks: Vec<Check>,
    /// CPUs that helper threads need besides the measuring one.
    pub helpers: usize,
    /// Least duration of a rep where the default is too short, as when starting a helper takes part of it.
    pub min_rep: Option<Duration>,
}

/// An arm as the catalogue lists it.
#[derive(Debug, Clone, Serialize)]
pub struct ArmInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
}

/// Another experiment whose result belongs beside this one's.
pub struct Companion {
    /// Its id.
    pub experiment: &'static str,
    /// Parameters that differ from its defaults.
    pub set: Vec<(&'static str, Vec<super::Value>)>,
}

/// A named question of the catalogue.
///
/// Everything that runs, lists, sweeps or draws an experiment works from this trait alone.
pub trait Experiment: Send + Sync {
    /// `area.name`.
    fn id(&self) -> &'static str;
    /// A line.
    fn title(&self) -> &'static str;
    /// The question, what the arms do, how the compiler is kept honest: a paragraph or two.
    fn about(&self) -> &'static str;
    /// What costs are counted in.
    fn unit(&self) -> Unit;
    /// The parameters, with defaults resolved for this machine.
    fn parameters(&self, card: &Card) -> Vec<Parameter>;
    /// The arms, in the order of the table.
    fn arms(&self) -> Vec<ArmInfo>;
    /// Builds one cell's race. Long work calls `watch.check()`.
    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan>;
    /// Experiments to run beside this one.
    fn companions(&self) -> Vec<Companion> {
        Vec::new()
    }
    /// What follows from the cells together (slopes, differences), each with its interval.
    fn contrasts(&self, _cells: &[Cell]) -> Vec<Contrast> {
        Vec::new()
    }
}
