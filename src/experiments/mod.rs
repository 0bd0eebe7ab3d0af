//! The catalogue's experiments, one file each, and what they measure with.

pub mod cache;
pub mod dispatch;
pub mod doctor;
pub mod instrument;
pub mod plugin;
pub mod sharing;
pub mod traps;
