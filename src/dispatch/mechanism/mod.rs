//! Mechanisms: ways of calling the handler that was found. One file each, behind one identical selection.

mod direct;
mod dyn_trait;
mod recipe;

pub(super) use direct::Direct;
pub(super) use dyn_trait::DynTrait;
pub use recipe::{MechanismArm, MechanismRecipe};

use super::{Handler, Outcome};
use crate::traffic::Packet;

/// Calls a handler's `process`.
pub(super) trait Call: Send + 'static {
    /// What the call returns.
    fn call(handler: &dyn Handler, packet: &Packet) -> Outcome;
}
