//! Experiments on the cache hierarchy.

pub(in crate::experiments) mod chase;
mod levels;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&levels::Levels];
