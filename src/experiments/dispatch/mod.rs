//! Experiments on dispatch: finding the handler, and calling it.

mod control;
mod factorial;
mod fetch;
mod icache;
mod icache_facts;
mod learning;
mod mechanism;
mod selection;
mod stream;
mod tail;
mod targets;
mod traffic;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &selection::SelectionCost,
    &mechanism::MechanismCost,
    &icache::InstructionCache,
    &fetch::CodeFetch,
    &targets::CallTargets,
    &tail::TailCost,
];
