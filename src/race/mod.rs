//! Races: several arms over one input, interleaved in balanced order, compared pair by pair.

pub mod arm;
mod block;
pub mod conditions;
pub mod contrast;
mod counters;
pub mod crew;
mod departures;
pub mod experiment;
pub mod fault;
pub mod input;
pub mod options;
pub mod parameter;
pub mod placement;
pub mod report;
mod rounds;
pub mod runner;
pub mod schedule;
pub mod simulate;
mod sizing;
pub mod station;
pub mod statistics;
mod summary;
pub mod tail;
#[cfg(test)]
mod tests;
pub mod trap;
pub mod verdict;
pub mod watch;

pub use arm::{Arm, Checksum, Recipe, Reference, Settle, Window};
pub use conditions::Conditions;
pub use counters::CounterChoice;
pub use crew::Crew;
pub use experiment::{ArmInfo, Ceiling, Companion, Entry, Experiment, Plan, Role, Unit};
pub use fault::{Broken, Fault};
pub use input::{Input, Source};
pub use options::{LEAST_BLOCKS, MOST_BLOCKS, Options};
pub use parameter::{Kind, Parameter, Value, Values};
pub use placement::{CODE_COPIES, Placed, PlacedSlice, Placement, code_padding};
pub use report::{
    ArmResult, Cell, Check, Contrast, CounterResult, Fact, Origin, Outcome, Probes, Report, Status, Verdict,
};
pub use runner::{run, run_together};
pub use schedule::Order;
pub use station::Station;
pub use tail::{Part, PerOperation, Tail};
pub use trap::{Answer, Bite, Trap};
pub use watch::Watch;
