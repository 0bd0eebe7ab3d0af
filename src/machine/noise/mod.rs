//! What disturbs a measurement, read from the side: never from the measurement's own duration.
//!
//! Per rep [`ThreadUsage`] (one system call), per round [`RunDelay`], per block [`StealClock`].

mod run_delay;
mod steal;
mod usage;

pub use run_delay::RunDelay;
pub use steal::StealClock;
pub use usage::ThreadUsage;
