//! The plugin boundary: a C ABI in bytes, the host that loads what was built against it, and what crossing it costs.
//!
//! [`abi`] says what the two sides agree on, [`gate`] and [`claims`] what the host makes sure of before it calls anything,
//! [`Library`] that nothing is used after it was unloaded. [`Plugin`] is what passed, [`Instance`] what does the work.

pub mod abi;
pub mod building;
pub mod claims;
pub mod gate;
mod library;
mod loaded;
mod rejected;
pub mod shipped;
#[cfg(test)]
mod tests;

pub use library::{Examined, Library};
pub use loaded::{Instance, Plugin, Processed, view};
pub use rejected::Rejected;
