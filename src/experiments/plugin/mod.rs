//! Experiments on the plugin boundary, and on code that others compiled.

mod twins;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[&twins::Twins];
