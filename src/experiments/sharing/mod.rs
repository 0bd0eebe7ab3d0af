//! Experiments on cache lines shared between threads.

mod line;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&line::LineDistance];
