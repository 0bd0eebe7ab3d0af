//! Dispatch: handlers with machine code of their own, ways of finding one, and ways of calling it.
//!
//! [`HandlerSet`] says which handlers there are and in which order they are registered. [`selection`] finds the one
//! that a packet runs, [`mechanism`] calls it, [`reference`](mod@reference) says by plain code what must come out.

pub mod audit;
pub mod body;
pub mod expected;
pub mod generated;
pub mod handler;
pub mod mechanism;
pub mod null;
pub mod objects;
pub mod order;
pub mod overlap;
pub mod probes;
pub mod reference;
pub mod replay;
pub mod residual;
pub mod sabotage;
pub mod scheme;
pub mod selection;
pub mod set;
#[cfg(test)]
mod tests;

pub use body::Body;
pub use handler::{Handler, Outcome, UNSUPPORTED};
pub use mechanism::{MechanismArm, MechanismRecipe};
pub use null::{NullRecipe, NullReference};
pub use reference::{DirectReference, ScanReference};
pub use residual::Residual;
pub use selection::{Pass, SelectionArm, SelectionRecipe};
pub use set::{HandlerSet, HandlerSpec, MAX_HANDLERS};
