//! Traps: experiments that go wrong on purpose, so that one sees the wrong answer, the check that catches it, and the right
//! answer. The checks are those that every race gets.

mod addresses;
mod arm_major;
mod calling;
mod coarse_clock;
mod configuration;
mod constant_inputs;
mod dead_loop;
mod identical_bodies;
mod learned_pool;
mod no_warm_up;
mod one_handler;
mod pool_past_cache;
mod scattered;
mod table_twice;
mod unpinned;

use crate::race::Experiment;

/// The area's experiments.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &dead_loop::DeadLoop,
    &coarse_clock::CoarseClock,
    &arm_major::ArmMajor,
    &unpinned::Unpinned,
    &no_warm_up::NoWarmUp,
    &pool_past_cache::PoolPastCache,
    &learned_pool::LearnedPool,
    &constant_inputs::ConstantInputs,
    &one_handler::OneHandler,
    &identical_bodies::IdenticalBodies,
    &addresses::Addresses,
];
