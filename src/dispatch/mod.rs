//! Dispatch: handlers with machine code of their own, ways of finding one, and ways of calling it.
//!
//! [`HandlerSet`] says which handlers there are and in which order they are registered. A [`SelectionRecipe`] builds an
//! arm that finds the one that a packet runs, a [`MechanismRecipe`] one that calls it,
//! [`reference`](mod@reference) says by plain code what must come out.
//!
//! Handlers, and what finds and calls them, stay inside: the loops take it for granted that every handler is one of the
//! compiled ones, in memory that its own list or table keeps.
//!
//! ```compile_fail,E0603
//! use nanokata::dispatch::mechanism::Direct;
//! ```
//! ```compile_fail,E0603
//! use nanokata::dispatch::selection::Candidates;
//! ```
//! ```compile_fail,E0603
//! use nanokata::dispatch::Handler;
//! ```

pub mod advise;
mod arm_code;
pub mod audit;
pub mod body;
pub(crate) mod callable;
pub mod ceiling;
pub mod entry_points;
pub mod expected;
pub mod footprint;
pub(crate) mod foreign;
mod generated;
mod handler;
pub mod input_audit;
mod machine_code;
mod mechanism;
pub mod null;
mod objects;
pub mod order;
pub mod overlap;
mod probes;
mod proposal;
pub mod reference;
mod replay;
pub mod residual;
pub mod sabotage;
pub mod scheme;
mod selection;
pub mod set;
mod sizes;
pub mod straight;
pub mod targets;
#[cfg(test)]
mod tests;
pub mod worst;

pub use arm_code::ArmCode;
pub(crate) use arm_code::indirect_calls;
pub use body::Body;
pub use generated::Generated;
pub(crate) use handler::Handler;
pub use handler::{NO_HANDLER, Outcome, UNSUPPORTED};
pub(crate) use mechanism::mark_copy;
pub use mechanism::{Closed, INLINED_SIZES, KNOWN_SIZES, MechanismArm, MechanismRecipe};
pub use null::{NullRecipe, NullReference};
pub use proposal::{ProposalArm, ProposalRecipe};
pub use reference::{DirectReference, ScanReference};
pub use residual::Residual;
pub(crate) use selection::Selector;
pub use selection::{Pass, SelectionArm, SelectionRecipe};
pub use set::{HandlerSet, HandlerSpec, MAX_HANDLERS};
pub use straight::{LineRecipe, LineReference};
pub use targets::{TargetOrder, TargetsRecipe, TargetsReference};
