//! The catalogue's experiments, one file each, and how one is run.

pub mod cache;
pub mod dispatch;
pub mod doctor;
pub mod instrument;
pub mod run;
pub mod sharing;

#[cfg(test)]
mod tests;

pub use run::{RunOptions, run};
