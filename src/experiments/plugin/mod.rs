//! Experiments on the plugin boundary.

mod boundaries;
mod calls;
mod crossing;
mod input;
mod library;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&crossing::CrossingCost, &boundaries::Boundaries];

#[cfg(test)]
mod tests;
