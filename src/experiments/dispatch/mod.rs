//! Experiments on dispatch: finding the handler, and calling it.

mod calibration;
mod code_facts;
mod control;
mod distribution;
mod factorial;
mod fetch;
mod headline;
mod icache;
mod icache_facts;
mod learning;
mod mechanism;
mod neighbour;
mod proposals;
mod residual;
mod select;
mod selection;
mod stream;
mod tail;
mod targets;
pub(super) mod traffic;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &selection::SelectionCost,
    &select::SelectionAlone,
    &mechanism::MechanismCost,
    &proposals::ProposalsCost,
    &icache::InstructionCache,
    &fetch::CodeFetch,
    &targets::CallTargets,
    &tail::TailCost,
    &calibration::Calibration,
    &residual::ResidualCost,
    &distribution::Distribution,
    &neighbour::Neighbour,
];
