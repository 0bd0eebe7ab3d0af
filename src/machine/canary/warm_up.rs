//! Warming up until the core's frequency stands still.

use std::time::Duration;

use serde::Serialize;

use super::frequency_ghz;
use crate::machine::Clock;

/// Adds in one sample: some 80 µs, short enough that most samples on a busy machine aren't interrupted, and long enough
/// that the clock's cost vanishes.
const ADDS: u32 = 1 << 18;
/// Samples in a window, of which the median counts: some 15 ms.
const WINDOW: usize = 200;
/// How near the medians of two windows must be: a tenth of the drift that a turbo budget running out shows, and some
/// ten times what the median of a window scatters by on an undisturbed core.
const STEADY_WITHIN: f64 = 0.005;

/// What a warm-up did and saw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WarmUp {
    /// How long it took.
    pub seconds: f64,
    /// Whether the frequency had come to rest: the last two of `samples` within 0.5 %.
    pub steady: bool,
    /// Whether it ended because it was told to stop.
    pub stopped: bool,
    /// The last of `samples`, in GHz, or the median of what there was if it was stopped before; `None` without a canary.
    pub ghz: Option<f64>,
    /// The course of the frequency in GHz: medians of consecutive windows of some 15 ms.
    pub samples: Vec<f64>,
}

/// Keeps the core busy with the canary until it has been `at_least` that long and the frequency is steady, or `at_most`
/// has passed, or `stop` says so (asked some ten times a millisecond).
///
/// Without a canary on this architecture it spins for `at_least`, and is never steady.
pub fn warm_up(clock: Clock, at_least: Duration, at_most: Duration, stop: &dyn Fn() -> bool) -> WarmUp {
    warm_up_with(clock, at_least, at_most, stop, || frequency_ghz(clock, ADDS))
}

fn warm_up_with(
    clock: Clock,
    at_least: Duration,
    at_most: Duration,
    stop: &dyn Fn() -> bool,
    mut sample: impl FnMut() -> Option<f64>,
) -> WarmUp {
    let start = clock.now_ns();
    let (mut samples, mut window) = (Vec::new(), Vec::with_capacity(WINDOW));
    let mut stopped = false;
    // Without a canary there is nothing to wait for.
    let mut blind = false;
    loop {
        let spent = Duration::from_nanos(clock.now_ns() - start);
        if (spent >= at_least && (is_steady(&samples) || blind)) || spent >= at_most {
            break;
        }
        stopped = stop();
        if stopped {
            break;
        }
        let seen = sample();
        blind = seen.is_none();
        window.extend(seen);
        if window.len() == WINDOW {
            samples.push(median(&window));
            window.clear();
        }
    }
    let ghz = samples.last().copied().or_else(|| (!window.is_empty()).then(|| median(&window)));
    let seconds = (clock.now_ns() - start) as f64 / 1e9;
    WarmUp { seconds, steady: is_steady(&samples), stopped, ghz, samples }
}

fn is_steady(samples: &[f64]) -> bool {
    matches!(samples, [.., before, last] if (last / before - 1.0).abs() <= STEADY_WITHIN)
}

/// The upper median; of a non-empty slice.
fn median(window: &[f64]) -> f64 {
    let mut sorted = window.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    const NONE: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_secs(60);
    fn never() -> bool {
        false
    }

    #[test]
    fn a_core_that_speeds_up_is_waited_for() {
        let calls = Cell::new(0);
        let rising = || {
            calls.set(calls.get() + 1);
            Some(if calls.get() <= 5_000 { 1.0 + f64::from(calls.get()) / 2_500.0 } else { 3.0 })
        };
        let seen = warm_up_with(Clock::monotonic(), NONE, LONG, &never, rising);
        assert!(seen.steady && !seen.stopped);
        assert_eq!(seen.ghz, Some(3.0));
        assert!(calls.get() > 5_000, "ended while still rising, after {} samples", calls.get());
    }

    #[test]
    fn a_core_that_never_settles_ends_at_the_bound_unsteady() {
        let calls = Cell::new(1.0);
        let doubling = || {
            calls.set(if calls.get() > 1e100 { 1.0 } else { calls.get() * 1.01 });
            Some(calls.get())
        };
        let seen = warm_up_with(Clock::monotonic(), NONE, Duration::from_millis(20), &never, doubling);
        assert!(!seen.steady && !seen.stopped && seen.seconds >= 0.02);
    }

    #[test]
    fn outliers_do_not_unsettle_it() {
        let calls = Cell::new(0);
        let spiky = || {
            calls.set(calls.get() + 1);
            Some(if calls.get() % 5 == 0 { 0.4 } else { 3.0 })
        };
        let seen = warm_up_with(Clock::monotonic(), NONE, LONG, &never, spiky);
        assert!(seen.steady);
        assert_eq!(seen.samples, [3.0, 3.0]);
        assert_eq!(calls.get(), 2 * WINDOW as i32);
    }

    #[test]
    fn it_stops_when_told_and_without_a_canary_spins_its_time() {
        let seen = warm_up(Clock::monotonic(), LONG, LONG, &|| true);
        assert!(seen.stopped && seen.samples.is_empty() && seen.ghz.is_none());
        let at_least = Duration::from_millis(2);
        let seen = warm_up_with(Clock::monotonic(), at_least, LONG, &never, || None);
        assert!(!seen.steady && seen.ghz.is_none() && seen.seconds >= 0.002);
    }

    #[test]
    fn it_lasts_at_least_as_asked() {
        let at_least = Duration::from_millis(30);
        let seen = warm_up(Clock::monotonic(), at_least, LONG, &never);
        assert!(seen.seconds >= 0.03 && !seen.stopped);
        assert_eq!(seen.ghz.is_none(), cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))));
    }

    proptest! {
        #[test]
        fn the_median_is_a_member_with_half_on_each_side(window in proptest::collection::vec(0.1..9.0f64, 1..50)) {
            let middle = median(&window);
            let (below, above) =
                (window.iter().filter(|x| **x < middle).count(), window.iter().filter(|x| **x > middle).count());
            prop_assert!(window.contains(&middle) && 2 * below <= window.len() && 2 * above < window.len().max(2));
        }
    }
}
