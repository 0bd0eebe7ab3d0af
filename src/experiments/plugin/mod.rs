//! Experiments on the plugin boundary, and on code that others compiled.

mod boundaries;
mod calls;
mod crossing;
mod input;
mod library;
mod twins;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] =
    &[&crossing::CrossingCost, &boundaries::Boundaries, &twins::Twins];

#[cfg(test)]
mod tests;
