//! The contract of an experiment: from typed parameters to the plan of one race.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{
    Cell, Check, Conditions, Contrast, Fact, Parameter, PerOperation, Probes, Recipe, Reference, Source,
    Trap, Values, Watch,
};
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
    /// Nanoseconds an operation, where arms do different things.
    #[serde(rename = "ns/operation")]
    NsPerOperation,
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
    /// What this way of doing it can't express, whatever it costs: a requirement that excludes it.
    pub excludes: Option<&'static str>,
}

impl Entry {
    /// An arm without probes, ceiling or exclusions.
    pub fn new(
        name: impl Into<String>,
        role: Role,
        recipe: Arc<dyn Recipe>,
        reference: Arc<dyn Reference>,
        claim: &'static str,
    ) -> Self {
        Entry {
            name: name.into(),
            role,
            recipe,
            reference,
            claim,
            probes: None,
            ceiling: None,
            excludes: None,
        }
    }
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
    /// Whether and how each operation is timed by itself, besides the race.
    pub per_operation: Option<PerOperation>,
    /// After how many times the options' fewest blocks the race ends whatever its precision, where figures are wanted and
    /// not fine verdicts; by default the options' most blocks and their time alone bound it.
    pub patience: Option<usize>,
    /// How long a block should last, where the default is more than such a race needs.
    pub block: Option<Duration>,
    /// Operations of a rep, where a rep means something by itself, as one pass over a set; else as many as time well.
    pub rep_operations: Option<usize>,
    /// What is done otherwise than the rules have it; nothing, unless the race is a trap's.
    pub conditions: Conditions,
}

impl Plan {
    /// A race without audits, helpers or wishes of its own.
    pub fn new(source: Source, entries: Vec<Entry>) -> Self {
        Plan {
            source,
            entries,
            checks: Vec::new(),
            helpers: 0,
            min_rep: None,
            per_operation: None,
            patience: None,
            block: None,
            rep_operations: None,
            conditions: Conditions::default(),
        }
    }
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
    /// The part of the id before the dot.
    fn area(&self) -> &'static str {
        self.id().split('.').next().unwrap_or_default()
    }
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
    /// The cells that a grid of series parameters stands for: a setting may be repeated with a parameter that varies from
    /// race to race, or left out where it would only repeat another.
    fn cells(&self, grid: Vec<Values>) -> Vec<Values> {
        grid
    }
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
    /// Checks over the cells together, as a contrast that must read zero; a cell whose verdicts fall with one is to be
    /// voided here.
    fn judge(&self, _cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        Vec::new()
    }
    /// What is known besides the race: counted, computed, or excluded by the requirements.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped. What can't be had here is a fact
    /// without a value that says why, not an error.
    fn facts(&self, _cells: &[Cell], _card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        Ok(Vec::new())
    }
    /// What there is to learn, where the experiment is a trap: the wrong answer, the check that fires, the right answer.
    /// `None` for all others, and where the cells don't hold both.
    fn trap(&self, _cells: &[Cell]) -> Option<Trap> {
        None
    }
}
