//! The plugin boundary: building, examining and loading libraries.

pub mod building;
pub mod callback;
