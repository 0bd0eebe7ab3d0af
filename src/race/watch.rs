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
    /// Where the current section begins and ends in the whole, as the bits of two `f64`.
    section: [AtomicU64; 2],
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

    /// Begins a part of the job: what it does, and from where to where it takes the whole (0…1).
    pub fn section(&self, doing: &str, from: f64, to: f64) {
        self.section[0].store(from.to_bits(), Ordering::Relaxed);
        self.section[1].store(to.to_bits(), Ordering::Relaxed);
        let mut guard = self.doing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        guard.clear();
        guard.push_str(doing);
        drop(guard);
        self.advance(0.0);
    }

    /// Says how much of the current section is behind us (0…1).
    pub fn advance(&self, fraction: f64) {
        let [from, to] = [0, 1].map(|end: usize| f64::from_bits(self.section[end].load(Ordering::Relaxed)));
        // Without a section the job is one.
        let (from, to) = if to > from { (from, to) } else { (0.0, 1.0) };
        let whole = from + (to - from) * fraction.clamp(0.0, 1.0);
        self.fraction.store(whole.to_bits(), Ordering::Relaxed);
    }

    /// What is being done, and the fraction behind us.
    pub fn progress(&self) -> (String, f64) {
        let doing = self.doing.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        (doing, f64::from_bits(self.fraction.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_share_the_whole() {
        let watch = Watch::new();
        watch.advance(0.5);
        assert_eq!(watch.progress(), (String::new(), 0.5));
        watch.section("second half", 0.5, 1.0);
        watch.advance(0.5);
        assert_eq!(watch.progress(), ("second half".into(), 0.75));
        watch.advance(7.0);
        assert_eq!(watch.progress().1, 1.0);
    }

    #[test]
    fn a_stopped_watch_interrupts() {
        let watch = Watch::new();
        watch.check().expect("not stopped");
        watch.stop();
        assert!(matches!(watch.check(), Err(Error::Interrupted)));
    }
}
