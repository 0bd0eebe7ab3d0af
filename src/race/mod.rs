//! Races: several arms over one input, interleaved in balanced order, compared pair by pair.

pub mod arm;
pub mod experiment;
pub mod input;
pub mod parameter;
pub mod placement;
pub mod report;
pub mod watch;

pub use arm::{Arm, Checksum, Recipe, Reference, Settle, Window};
pub use experiment::{ArmInfo, Ceiling, Companion, Entry, Experiment, Plan, Role, Unit};
pub use input::{Input, Source};
pub use parameter::{Kind, Parameter, Value, Values};
pub use placement::{CODE_COPIES, Placed, PlacedSlice, Placement, code_padding};
pub use report::{ArmResult, Cell, Check, Contrast, Outcome, Probes, Report, Verdict};
pub use watch::Watch;
