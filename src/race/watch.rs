//! How a caller follows a long job and stops it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{Error, Result};

/// Shared by a job and whoever waits for it: a stop flag one way, progress the other.
///
/// Long loops call [`Watch::check`] at least every 50 ms, so that Ctrl-C ends any job within 0.2 s.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    /// Fraction done, as the bits of an `f64`.
    fraction: AtomicU64,
    doing: Mutex<String>,
}

impl Watch {
    /// Nothing done, not stopped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the job to stop; it returns [`Error::Interrupted`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// `Err(Interrupted)` once [`Watch::stop`] was called.
    pub fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Says what is being done and how much of the whole is behind us (0…1).
    pub fn report(&self, doing: &str, fraction: f64) {
        self.fraction.store(fraction.clamp(0.0, 1.0).to_bits(), Ordering::Relaxed);
        let mut guard = self.doing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if *guard != doing {
            guard.clear();
            guard.push_str(doing);
        }
    }

    /// Moves the fraction alone.
    pub fn advance(&self, fraction: f64) {
        self.fraction.store(fraction.clamp(0.0, 1.0).to_bits(), Ordering::Relaxed);
    }

    /// What is being done, and the fraction behind us.
    pub fn progress(&self) -> (String, f64) {
        let doing = self.doing.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        (doing, f64::from_bits(self.fraction.load(Ordering::Relaxed)))
    }
}
