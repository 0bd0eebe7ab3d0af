//! How a race may depart from the rules on purpose: the default departs from none, and hardly anything but traps asks for
//! more.

use super::options::Options;
use super::schedule::Order;
use crate::machine::Clock;

/// What a plan wants done otherwise than the rules have it.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// The race is wrong on purpose. Its checks have to fail: they are reported as
    /// [`Outcome::Fired`](super::Outcome::Fired), and neither they nor its verdicts decide how a run ends.
    pub faulty: bool,
    /// How reps follow each other, instead of as the options say.
    pub order: Option<Order>,
    /// What time is read from, instead of the options' clock.
    pub clock: Option<Clock>,
    /// The thread may go where it was allowed to before it was pinned.
    pub unpinned: bool,
    /// What disturbs a rep spoils nothing: every round counts.
    pub keeps_disturbed: bool,
    /// Arms wait for another process: to be switched out, and to wait until one may run again, is part of the work and
    /// spoils no round. No fault: whatever else disturbs a rep still spoils it.
    pub waits: bool,
    /// The first rep after a build is what counts: nothing is discarded.
    pub cold: bool,
}

impl Conditions {
    /// A race that is wrong on purpose.
    pub fn faulty() -> Self {
        Conditions { faulty: true, ..Self::default() }
    }

    /// How reps follow each other.
    pub(super) fn order(&self, options: &Options) -> Order {
        self.order.unwrap_or(options.order)
    }

    /// What reps are timed with.
    pub(super) fn clock(&self, options: &Options) -> Clock {
        self.clock.unwrap_or(options.clock)
    }
}
