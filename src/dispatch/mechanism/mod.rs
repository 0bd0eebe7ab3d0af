//! Mechanisms: ways of calling the handler that was found. One file each, behind one identical selection.

mod closed;
mod copies;
mod direct;
mod dyn_trait;
mod erased;
mod known;
mod recipe;
mod table;
mod thin;

pub use closed::Closed;
pub(super) use closed::EnumMatch;
pub(crate) use copies::mark_copy;
pub(super) use direct::Direct;
pub(super) use dyn_trait::{DynTrait, FatPointer};
pub(super) use erased::Erased;
pub use known::{INLINED_SIZES, KNOWN_SIZES};
pub(super) use known::{StaticInlined, StaticMatch, unknown as unknown_keys};
pub use recipe::{MechanismArm, MechanismRecipe};
pub(super) use table::{Table, Target};
pub(super) use thin::Thin;

use super::{Handler, Outcome};
use crate::traffic::Packet;

/// Why mechanisms and proposals refuse a set with a plugin's handlers.
pub(super) const BUILT_IN_ONLY: &str = "built-in handlers only: these arms differ in nothing but their calls because the \
    residual tests of all are the core's own, and a plugin keeps its tests to itself; the selection arms take it \
    (table_compact calls through dyn as dyn_trait does)";

/// Calls a handler's `process`.
pub(super) trait Call: Send + 'static {
    /// What the call returns.
    fn call(handler: &dyn Handler, packet: &Packet) -> Outcome;
}
