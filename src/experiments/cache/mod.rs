//! Experiments on the cache hierarchy.

mod levels;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&levels::Levels];
