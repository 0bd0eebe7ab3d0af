//! The plugin boundary: a C ABI in bytes, the host that loads what was built against it, and what crossing it costs.
//!
//! [`abi`] says what the two sides agree on, [`gate`] and [`claims`] what the host makes sure of before it calls anything,
//! [`Library`] that nothing is used after it was unloaded. [`Plugin`] is what passed, [`Instance`] what does the work.
//! [`crossing`] has arms that differ in the boundary between the loop and the work alone.

pub mod abi;
pub mod building;
pub mod claims;
pub mod crossing;
pub mod gate;
mod library;
mod loaded;
mod rejected;
pub mod shipped;
#[cfg(test)]
mod tests;

pub use library::{Examined, Library};
pub use loaded::{Instance, Plugin, Processed, read, view};
pub use rejected::Rejected;
