//! The processor's own counter, read between fences: what single operations are timed with.
//!
//! On x86-64 the timestamp counter: `lfence; rdtsc; lfence` before and `rdtscp; lfence` after, so that nothing earlier is
//! still under way at the first reading and the operation is complete at the second (Intel SDM vol. 2B, RDTSC and RDTSCP;
//! on AMD LFENCE waits too, since Linux sets the bit that makes it: AMD, "Software techniques for managing speculation",
//! 2018, mitigation G-2). On AArch64 the generic timer's virtual count between `isb`s (Arm ARM, D13 "The Generic Timer").
//!
//! A fence also keeps an operation from overlapping its neighbours: what is timed is its latency in isolation.

use super::{Clock, Unavailable};

/// What single operations are timed with. A test brings one of its own, whose time passes as the test wants.
pub trait OperationClock: Copy {
    /// Reads before an operation: everything earlier is done, and nothing later has begun.
    fn begin(self) -> u64;
    /// Reads after an operation: all of it is done.
    fn end(self) -> u64;
    /// Nanoseconds that one count stands for.
    fn ns_per_count(self) -> f64;
    /// The smallest step between two readings, in nanoseconds.
    fn tick_ns(self) -> f64;
}

/// The processor's counter, calibrated against the system's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct TimestampCounter {
    ns_per_count: f64,
    /// Counts between two readings that differ by the least: some counters advance in strides.
    stride: u64,
    anchor: Anchor,
}

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    ns: u64,
    count: u64,
}

const WHAT: &str = "a fenced timestamp counter";
/// How long calibration watches both clocks: reading them together is off by some 50 ns at most, 5 in a million of this.
const CALIBRATION_NS: u64 = 10_000_000;
/// Pairs of readings from which the closest is taken as an anchor, since an interrupt may fall between the two.
const ANCHORS: usize = 16;
/// Readings from which the stride is found.
const STRIDE_READINGS: usize = 4096;
/// A coarser counter can't tell one packet's time: a compact table takes some 60 ns. AMD's Zen steps by 10 ns, Apple's
/// and many Arm cores' counters by 40 and more (CNTFRQ of 24 or 25 MHz).
const COARSEST_TICK_NS: f64 = 15.0;

impl TimestampCounter {
    /// Calibrates the counter of the calling thread's CPU; takes 10 ms.
    ///
    /// # Errors
    /// [`Unavailable`] on architectures without such a counter, on processors that don't let user code read it, and where
    /// its tick is too coarse for single operations.
    pub fn calibrate() -> Result<Self, Unavailable> {
        platform::readable()?;
        let first = Anchor::take();
        while Clock::monotonic().now_ns() - first.ns < CALIBRATION_NS {
            std::hint::spin_loop();
        }
        let ns_per_count = first.rate_until(&Anchor::take());
        let stride = stride((0..STRIDE_READINGS).map(|_| platform::end()));
        usable(ns_per_count, stride)?;
        Ok(TimestampCounter { ns_per_count, stride, anchor: first })
    }

    /// How far the counter's rate since it was calibrated is off the calibrated one, relative: the longer ago, the more it
    /// tells.
    pub fn drift(&self) -> f64 {
        self.anchor.rate_until(&Anchor::take()) / self.ns_per_count - 1.0
    }
}

impl OperationClock for TimestampCounter {
    #[inline(always)]
    fn begin(self) -> u64 {
        platform::begin()
    }

    #[inline(always)]
    fn end(self) -> u64 {
        platform::end()
    }

    fn ns_per_count(self) -> f64 {
        self.ns_per_count
    }

    fn tick_ns(self) -> f64 {
        self.stride as f64 * self.ns_per_count
    }
}

impl Anchor {
    /// The pair of readings that lie closest together.
    fn take() -> Self {
        let clock = Clock::monotonic();
        let pair = |_| {
            let before = clock.now_ns();
            let count = platform::end();
            let after = clock.now_ns();
            (after - before, Anchor { ns: before + (after - before) / 2, count })
        };
        (0..ANCHORS).map(pair).min_by_key(|(apart, _)| *apart).expect("several").1
    }

    /// Nanoseconds a count from here to a later anchor; infinity if the counter stood still.
    fn rate_until(&self, later: &Anchor) -> f64 {
        (later.ns - self.ns) as f64 / later.count.saturating_sub(self.count) as f64
    }
}

/// The greatest common divisor of all steps between consecutive readings; 0 if there was none.
fn stride(readings: impl Iterator<Item = u64>) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let mut last = None;
    readings.fold(0, |common, reading| {
        let step = last.replace(reading).map_or(0, |last: u64| reading.saturating_sub(last));
        gcd(common, step)
    })
}

/// Refuses a counter that stands still, or that steps too far for single operations.
fn usable(ns_per_count: f64, stride: u64) -> Result<(), Unavailable> {
    if !ns_per_count.is_finite() || ns_per_count <= 0.0 || stride == 0 {
        return Err(Unavailable::new(WHAT, "the counter stands still"));
    }
    let tick = stride as f64 * ns_per_count;
    if tick > COARSEST_TICK_NS {
        let reason = format!(
            "this processor's counter ticks every {tick:.1} ns, too coarse for single operations (at most {COARSEST_TICK_NS} ns)"
        );
        return Err(Unavailable::new(WHAT, reason));
    }
    Ok(())
}

/// Whether the processor promises that its counter runs at one rate in every power state: CPUID leaf 0x80000007, EDX bit 8
/// on x86-64 (Intel SDM vol. 3B, "Invariant TSC"); always so for AArch64's generic timer, by its architecture. `None`
/// where there is no counter.
pub fn promises_one_rate() -> Option<bool> {
    platform::promises_one_rate()
}

#[cfg(target_arch = "x86_64")]
mod platform {
    use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    use super::{Unavailable, WHAT};
    use crate::machine::cpuid;

    pub fn readable() -> Result<(), Unavailable> {
        match cpuid::has_rdtscp() {
            true => Ok(()),
            false => Err(Unavailable::new(WHAT, "this processor has no RDTSCP (CPUID 0x80000001)")),
        }
    }

    pub fn promises_one_rate() -> Option<bool> {
        Some(cpuid::invariant_tsc())
    }

    #[inline(always)]
    pub fn begin() -> u64 {
        // SAFETY: every x86-64 has LFENCE (SSE2) and RDTSC. A system may forbid RDTSC to user code (CR4.TSD), which no
        // common one does; the kernel's own vDSO clock would fault there too.
        unsafe {
            _mm_lfence();
            let count = _rdtsc();
            _mm_lfence();
            count
        }
    }

    #[inline(always)]
    pub fn end() -> u64 {
        let mut cpu = 0;
        // SAFETY: as above; RDTSCP was asked for by `readable` before any clock was made.
        unsafe {
            let count = __rdtscp(&mut cpu);
            _mm_lfence();
            count
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod platform {
    use super::Unavailable;

    pub fn readable() -> Result<(), Unavailable> {
        Ok(())
    }

    pub fn promises_one_rate() -> Option<bool> {
        Some(true)
    }

    #[inline(always)]
    pub fn begin() -> u64 {
        count()
    }

    #[inline(always)]
    pub fn end() -> u64 {
        count()
    }

    #[inline(always)]
    fn count() -> u64 {
        let count: u64;
        // SAFETY: reads a register that systems open to user code (CNTKCTL_EL1.EL0VCTEN; Linux, macOS and Windows do).
        // DSB waits for earlier loads and stores, the ISBs keep the reading in its place. Not `nomem`: the compiler may
        // move no memory access across either.
        unsafe {
            std::arch::asm!("dsb ish", "isb", "mrs {count}, cntvct_el0", "isb", count = out(reg) count,
                options(nostack, preserves_flags));
        }
        count
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod platform {
    use super::{Unavailable, WHAT};

    pub fn readable() -> Result<(), Unavailable> {
        Err(Unavailable::new(WHAT, format!("none is known for {}", std::env::consts::ARCH)))
    }

    pub fn promises_one_rate() -> Option<bool> {
        None
    }

    pub fn begin() -> u64 {
        0
    }

    pub fn end() -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_keeps_time_with_the_system() {
        let Ok(counter) = TimestampCounter::calibrate() else { return };
        let clock = Clock::monotonic();
        let (ns, count) = (clock.now_ns(), counter.begin());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let counted = (counter.end() - count) as f64 * counter.ns_per_count();
        let passed = (clock.now_ns() - ns) as f64;
        // The system's clock surrounds the counter's readings, by however long a busy machine puts between them.
        assert!((0.5..1.001).contains(&(counted / passed)), "{counted} ns counted, {passed} passed");
        assert!(counter.drift().abs() < 0.01, "{}", counter.drift());
        assert!(counter.tick_ns() > 0.0 && counter.tick_ns() <= COARSEST_TICK_NS);
    }

    #[test]
    fn readings_never_fall() {
        let Ok(counter) = TimestampCounter::calibrate() else { return };
        let _pin = crate::machine::Pin::to(crate::machine::allowed_cpus().expect("a mask")[0]);
        let readings: Vec<u64> = (0..10_000).flat_map(|_| [counter.begin(), counter.end()]).collect();
        assert!(readings.is_sorted());
    }

    #[test]
    fn a_wrong_rate_is_seen_as_drift() {
        let Ok(counter) = TimestampCounter::calibrate() else { return };
        let wrong = TimestampCounter { ns_per_count: counter.ns_per_count * 1.5, ..counter };
        assert!((wrong.drift() + 1.0 / 3.0).abs() < 0.01, "{}", wrong.drift());
    }

    #[test]
    fn a_coarse_or_a_dead_counter_is_refused_with_its_reason() {
        let refused = |rate, stride| usable(rate, stride).expect_err("refused").to_string();
        // 24 MHz, as Apple's cores have it; 25 MHz, as Arm's first servers.
        assert!(refused(1e9 / 24e6, 1).contains("every 41.7 ns, too coarse"));
        assert!(refused(40.0, 1).contains("every 40.0 ns"));
        for (rate, stride) in [(f64::INFINITY, 1), (f64::NAN, 1), (0.0, 1), (1.0, 0)] {
            assert!(refused(rate, stride).contains("stands still"));
        }
        usable(0.3852, 26).expect("AMD's 10 ns are fine enough");
        usable(1.0, 1).expect("so is Arm's 1 GHz counter");
    }

    proptest! {
        #[test]
        fn a_stride_is_found(stride_ in 1u64..100, steps in proptest::collection::vec(1u64..50, 40)) {
            let mut at = 1_000_003;
            let readings: Vec<u64> = steps.iter().map(|step| { at += step * stride_; at }).collect();
            let found = stride(readings.into_iter());
            prop_assert!(found >= stride_ && found % stride_ == 0);
        }
    }

    #[test]
    fn a_counter_that_never_moves_has_no_stride() {
        assert_eq!(stride(std::iter::repeat_n(7, 100)), 0);
        assert_eq!(stride([0, 26, 78, 78, 104].into_iter()), 26);
    }
}
