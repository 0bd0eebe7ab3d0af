//! Simulated counts: an arm's instructions, cache misses and mispredictions, exact and without privileges.
//!
//! An arm runs in a child process under valgrind's callgrind, which simulates two levels of cache and simple branch
//! predictors. What is counted repeats to the last digit, on a busy machine too; it is no time, and it speaks of the
//! simulated machine: its caches are this one's as far as the simulator can have them ([`Geometry`]), its predictor of
//! indirect branches knows each site's last target only, so its mispredictions are an upper bound.

pub(crate) mod child;
mod events;
mod geometry;
mod parts;
mod profile;
mod region;
mod report;
pub mod request;

pub use child::{Performer, Valgrind};
pub use events::Events;
pub use geometry::{Geometry, SimulatedCache};
pub use parts::{FunctionCost, Part, PartCost, Profile};
pub use region::{Ran, observe};
pub use report::{EventsPerOperation, SimulatedArm, SimulatedCell, Simulation};

impl child::Dumps {
    /// What the measured passes cost, what a region without work does, and where the cost fell.
    pub(crate) fn read(&self) -> (Events, Events, Profile) {
        (self.measured.totals, self.empty.totals, Profile::of(&self.measured, region::HARNESS))
    }
}
