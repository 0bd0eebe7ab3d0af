//! The clock that everything is timed with.

/// A monotonic clock, optionally made coarse on purpose.
///
/// On Linux `CLOCK_MONOTONIC` through the vDSO (`clock_gettime(2)`), which costs no system call where the clocksource is
/// the TSC or Arm's virtual counter; elsewhere [`std::time::Instant`]. Not the bare TSC: under virtualisation its rate
/// and its continuity over migrations are the host's affair, which the kernel's clock already accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Readings are rounded down to multiples of this; 1 leaves them alone.
    quantum_ns: u64,
}

impl Clock {
    /// The system's monotonic clock.
    pub const fn monotonic() -> Self {
        Clock { quantum_ns: 1 }
    }

    /// The same clock seen through a tick of `tick_ns` (0 counts as 1): what timing with a coarse clock looks like, for
    /// tests and for teaching.
    pub const fn coarse(tick_ns: u64) -> Self {
        Clock { quantum_ns: if tick_ns == 0 { 1 } else { tick_ns } }
    }

    /// Nanoseconds since a fixed but unspecified moment; never runs backwards.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        let now = monotonic_ns();
        // The branch is taken the same way every time; a division isn't free.
        if self.quantum_ns == 1 { now } else { now - now % self.quantum_ns }
    }

    /// The smallest step between two different readings, in nanoseconds: the resolution that timings really have,
    /// including the cost of a read where that is what limits it.
    ///
    /// Reads until 1,000 steps were seen, or 20 ms have passed and at least two were seen, or a second has passed.
    /// Returns infinity if the clock never moved.
    pub fn measure_tick(&self) -> f64 {
        const WANTED_STEPS: u32 = 1_000;
        const USUALLY_NS: u64 = 20_000_000;
        const AT_MOST_NS: u64 = 1_000_000_000;
        let start = monotonic_ns();
        let (mut steps, mut smallest) = (0u32, u64::MAX);
        let mut last = self.now_ns();
        while steps < WANTED_STEPS {
            let now = self.now_ns();
            if now != last {
                smallest = smallest.min(now - last);
                last = now;
                steps += 1;
            }
            let spent = monotonic_ns() - start;
            if (spent > USUALLY_NS && steps >= 2) || spent > AT_MOST_NS {
                break;
            }
            // The check above lies between two readings; a second, adjacent pair sees the finest step.
            let (a, b) = (self.now_ns(), self.now_ns());
            if b != a {
                smallest = smallest.min(b - a);
                steps += 1;
            }
            last = last.max(b);
        }
        if smallest == u64::MAX { f64::INFINITY } else { smallest as f64 }
    }

    /// What one reading costs, in nanoseconds: the least mean over batches of back-to-back readings. Timed with the
    /// uncoarsened clock, whatever this one's tick.
    pub fn read_cost_ns(&self) -> f64 {
        const BATCHES: usize = 50;
        const READS: u32 = 200;
        let batch = |_| {
            let start = monotonic_ns();
            for _ in 0..READS {
                std::hint::black_box(self.now_ns());
            }
            // `READS` in between and one of the pair around them.
            (monotonic_ns() - start) as f64 / f64::from(READS + 1)
        };
        (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(target_os = "linux")]
#[inline]
fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Both parts are non-negative: the clock counts from boot.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(not(target_os = "linux"))]
#[inline]
fn monotonic_ns() -> u64 {
    // `Instant` is the finest portable clock (on macOS `CLOCK_UPTIME_RAW`, where `CLOCK_MONOTONIC` ticks in whole
    // microseconds), but only differences can be read from it.
    static ORIGIN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    ORIGIN.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_runs_forwards_and_measures_a_sleep() {
        let clock = Clock::monotonic();
        let readings: Vec<u64> = (0..10_000).map(|_| clock.now_ns()).collect();
        assert!(readings.is_sorted());
        let start = clock.now_ns();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(clock.now_ns() - start >= 5_000_000, "a sleep is never shorter than asked for");
    }

    #[test]
    fn a_coarse_tick_is_seen() {
        for tick in [10_000, 1_000_000] {
            let seen = Clock::coarse(tick).measure_tick();
            assert!(seen >= tick as f64 && seen % tick as f64 == 0.0, "tick {tick} seen as {seen}");
        }
        // A clock that only moves once in two seconds moves at most once in the second that is spent on it: whatever
        // is seen is that step or none.
        let seen = Clock::coarse(2_000_000_000).measure_tick();
        assert!(seen == 2e9 || seen.is_infinite(), "{seen}");
        // The real clock is finer than the coarse ones, on anything that one would measure with.
        assert!(Clock::monotonic().measure_tick() < 10_000.0);
    }

    #[test]
    fn a_zero_tick_is_the_clock_itself() {
        assert_eq!(Clock::coarse(0), Clock::monotonic());
    }

    #[test]
    fn reading_costs_something() {
        let cost = Clock::monotonic().read_cost_ns();
        assert!(cost > 0.0 && cost.is_finite());
    }

    proptest! {
        #[test]
        fn coarse_readings_are_multiples_within_a_tick(tick in 2..5_000_000u64) {
            let before = Clock::monotonic().now_ns();
            let coarse = Clock::coarse(tick).now_ns();
            let after = Clock::monotonic().now_ns();
            prop_assert_eq!(coarse % tick, 0);
            prop_assert!(coarse + tick > before && coarse <= after);
        }
    }
}
