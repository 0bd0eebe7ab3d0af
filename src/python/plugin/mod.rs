//! The plugin boundary: building, examining and loading libraries.

pub mod arms;
pub mod building;
pub mod callback;
pub mod examining;
pub mod loading;
