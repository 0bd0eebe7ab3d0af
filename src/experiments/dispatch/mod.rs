//! Experiments on dispatch: finding the handler, and calling it.

mod calibration;
mod distribution;
mod mechanism;
mod neighbour;
mod residual;
mod selection;
mod traffic;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &selection::SelectionCost,
    &mechanism::MechanismCost,
    &calibration::Calibration,
    &residual::ResidualCost,
    &distribution::Distribution,
    &neighbour::Neighbour,
];
