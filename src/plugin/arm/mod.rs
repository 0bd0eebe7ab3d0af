//! Arms of anybody's own: whole ones, which join races beside the built-in arms, and selections, which race among their
//! like, behind one call.

mod gate;
mod handlers;
mod select;
#[cfg(test)]
mod tests;
mod whole;

/// The ABI, as arms take it in: the same file.
#[path = "../../../katas/plugin-dispatch/include/nanokata_arm.rs"]
pub mod abi;

pub use select::{SelectRecipe, SelectReference, Selecting};
pub use whole::ArmRecipe;
