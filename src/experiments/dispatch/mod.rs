//! Experiments on dispatch: finding the handler, and calling it.

mod mechanism;
mod selection;
mod stream;
mod tail;
mod traffic;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] =
    &[&selection::SelectionCost, &mechanism::MechanismCost, &tail::TailCost];
