//! The plugin boundary: a C ABI in bytes, the host that loads what was built against it, and what crossing it costs.
//!
//! [`abi`] says what the two sides agree on, [`gate`] and [`claims`] what the host makes sure of before it calls anything,
//! [`Library`] that nothing is used after it was unloaded. [`Plugin`] is what passed, [`Instance`] what does the work, and
//! [`with_plugin`] makes handlers of it that enter the same lists and tables as built-in ones. [`examination`] tries all that
//! the contract says, in a process that may die of it. [`crossing`] has arms that differ in the boundary between the loop and
//! the work alone.

pub mod abi;
mod adapter;
mod allowed;
pub mod arm;
pub mod building;
pub mod claims;
pub mod crossing;
pub mod examination;
pub mod gate;
mod library;
mod loaded;
mod memory;
mod pass;
mod rejected;
pub mod shipped;
#[cfg(test)]
mod tests;

pub use adapter::with_plugin;
pub use allowed::AllowList;
pub use library::{Examined, Library};
pub use loaded::{Instance, Plugin, Processed, read, view};
pub use pass::pass;
pub use rejected::Rejected;
