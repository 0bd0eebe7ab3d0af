//! How a caller follows a long job and stops it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::{Error, Result};

/// Shared by a job and whoever waits for it: a stop flag one way, progress the other.
///
/// Long loops call [`Watch::check`] at least every 50 ms, so that Ctrl-C ends any job within 0.2 s.
#[derive(Debug, Default)]
pub struct Watch {
    /// Shared with every silent watch made of this one.
    stop: Arc<AtomicBool>,
    /// Fraction done, as the bits of an `f64`; those of positive numbers are ordered as the numbers are.
    fraction: AtomicU64,
    /// Where the current part begins and ends in the whole; sections are sections of it.
    part: [AtomicU64; 2],
    /// Where the current section begins and ends in the whole, as the bits of two `f64`.
    section: [AtomicU64; 2],
    doing: Mutex<String>,
}

impl Watch {
    /// Nothing done, not stopped.
    pub fn new() -> Self {
        Self::default()
    }

    /// One for a step whose own progress isn't the job's: it stops with this one, and what it is told shows nowhere.
    pub fn silent(&self) -> Self {
        Watch { stop: Arc::clone(&self.stop), ..Self::default() }
    }

    /// Gives the sections to come a part of the whole (0…1), so that jobs which take sections can follow each other.
    pub fn part(&self, from: f64, to: f64) {
        store(&self.part, from, to);
        store(&self.section, from, to);
        self.advance(0.0);
    }

    /// Asks the job to stop; it returns [`Error::Interrupted`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// `Err(Interrupted)` once [`Watch::stop`] was called.
    pub fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Begins a section: what it does, and from where to where it takes the current part, or the whole without one
    /// (0…1).
    pub fn section(&self, doing: &str, from: f64, to: f64) {
        let (begin, end) = bounds(&self.part);
        store(&self.section, begin + (end - begin) * from, begin + (end - begin) * to);
        let mut guard = self.doing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        guard.clear();
        guard.push_str(doing);
        drop(guard);
        self.advance(0.0);
    }

    /// Says how much of the current section is behind us (0…1). What was reached is never taken back.
    pub fn advance(&self, fraction: f64) {
        let (from, to) = bounds(&self.section);
        let whole = from + (to - from) * fraction.clamp(0.0, 1.0);
        self.fraction.fetch_max(whole.to_bits(), Ordering::Relaxed);
    }

    /// What is being done, and the fraction behind us.
    pub fn progress(&self) -> (String, f64) {
        let doing = self.doing.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        (doing, f64::from_bits(self.fraction.load(Ordering::Relaxed)))
    }
}

fn store(range: &[AtomicU64; 2], from: f64, to: f64) {
    range[0].store(from.to_bits(), Ordering::Relaxed);
    range[1].store(to.to_bits(), Ordering::Relaxed);
}

/// Where a range begins and ends; one that was never set is the whole.
fn bounds(range: &[AtomicU64; 2]) -> (f64, f64) {
    let [from, to] = [0, 1].map(|end: usize| f64::from_bits(range[end].load(Ordering::Relaxed)));
    if to > from { (from, to) } else { (0.0, 1.0) }
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
    fn parts_hold_the_sections_of_jobs_that_follow_each_other() {
        let watch = Watch::new();
        watch.part(0.0, 0.2);
        watch.section("first job", 0.0, 1.0);
        watch.advance(0.5);
        assert_eq!(watch.progress(), ("first job".into(), 0.1));
        watch.advance(1.0);
        watch.part(0.2, 1.0);
        watch.section("second job, second half", 0.5, 1.0);
        assert!((watch.progress().1 - 0.6).abs() < 1e-12);
        watch.advance(1.0);
        assert_eq!(watch.progress().1, 1.0);
    }

    #[test]
    fn progress_never_falls() {
        let watch = Watch::new();
        watch.section("a section", 0.2, 0.4);
        watch.advance(0.5);
        watch.advance(0.1);
        assert!((watch.progress().1 - 0.3).abs() < 1e-12);
    }

    #[test]
    fn a_silent_watch_stops_with_its_own_and_shows_nothing() {
        let watch = Watch::new();
        let silent = watch.silent();
        silent.section("a step", 0.0, 1.0);
        silent.advance(1.0);
        assert_eq!(watch.progress(), (String::new(), 0.0));
        watch.stop();
        assert!(matches!(silent.check(), Err(Error::Interrupted)));
    }

    #[test]
    fn a_stopped_watch_interrupts() {
        let watch = Watch::new();
        watch.check().expect("not stopped");
        watch.stop();
        assert!(matches!(watch.check(), Err(Error::Interrupted)));
    }
}
