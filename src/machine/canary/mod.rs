//! The frequency canary: a chain of additions, each needing the one before, one core cycle each.
//!
//! Its time tells at what frequency the core really runs, without privileges or counters, and so also whether it is
//! being slowed, shared or warmed up. That a 64-bit register-register add has a latency of one cycle: Agner Fog,
//! "Instruction tables" (Intel since Core 2, AMD since K8), and Arm's software optimization guides (Cortex-A53 and later).

mod warm_up;
mod width;

pub use warm_up::{WarmUp, warm_up};
pub use width::width_per_ns;

use std::sync::OnceLock;

use super::Clock;

/// Adds in one turn of the loop: the closing decrement and branch run beside the chain and cost it nothing, and the body
/// stays well inside any L1i.
const UNROLL: u32 = 128;

/// The core's frequency in GHz, from the time that at least `adds` dependent adds take (rounded up to whole turns of
/// 128). `None` on other architectures than x86-64 and AArch64, and when the clock didn't move meanwhile.
///
/// One sample: an interruption makes it too low, so take a median of several. What the clock and the loop's exit cost
/// is measured once a process and taken off; it would be 1 % of 1.5 µs. The clock's tick remains: 10 ns of 1.5 µs too.
pub fn frequency_ghz(clock: Clock, adds: u32) -> Option<f64> {
    let turns = adds.div_ceil(UNROLL).max(1);
    let spent_ns = time_chain(clock, turns)?;
    if spent_ns == 0 {
        return None;
    }
    // A clock that is coarse on purpose shows what it shows.
    let fixed_ns = if clock == Clock::monotonic() { fixed_cost_ns() } else { 0.0 };
    let chain_ns = spent_ns as f64 - fixed_ns;
    (chain_ns > 0.0).then(|| f64::from(turns) * f64::from(UNROLL) / chain_ns)
}

fn time_chain(clock: Clock, turns: u32) -> Option<u64> {
    // A turn and a reading beforehand fetch the code of both: after something that walks through memory it lies nowhere
    // near, and a frequency that pays for that reads up to a tenth too low.
    std::hint::black_box(clock.now_ns());
    chain(1)?;
    let start = clock.now_ns();
    chain(turns)?;
    Some(clock.now_ns() - start)
}

/// What timing a chain costs beside the chain: where the line through a short and a long one meets zero. Measured by
/// turns, so that both see the same frequency, and only on first use.
fn fixed_cost_ns() -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    const PAIRS: usize = 64;
    const SHORT: u32 = 8;
    const LONG: u32 = 64;
    *COST.get_or_init(|| {
        let pair = |_| Some((time_chain(Clock::monotonic(), SHORT)?, time_chain(Clock::monotonic(), LONG)?));
        let (short, long): (Vec<u64>, Vec<u64>) = (0..PAIRS).filter_map(pair).unzip();
        let at_zero = (undisturbed_mean(short) * f64::from(LONG) - undisturbed_mean(long) * f64::from(SHORT))
            / f64::from(LONG - SHORT);
        // A pair of vDSO readings costs tens of nanoseconds, of system calls hundreds; beyond that something else ran.
        if (0.0..1_000.0).contains(&at_zero) { at_zero } else { 0.0 }
    })
}

/// The mean of the lower half: interruptions only lengthen, and a mean sees past the clock's tick as a median doesn't.
fn undisturbed_mean(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times.truncate(times.len().div_ceil(2));
    times.iter().sum::<u64>() as f64 / times.len().max(1) as f64
}

/// `turns × UNROLL` dependent adds. Register-register: some cores execute an *immediate* add at rename, in no cycle at
/// all (Intel's Golden Cove and later fold small immediates there), and none does that with two registers.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn chain(turns: u32) -> Option<u64> {
    let mut sum = u64::from(turns);
    // SAFETY: works in the named registers and the flags alone.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {unroll}",
            "add {sum}, {addend}",
            ".endr",
            "dec {turns:e}",
            "jnz 2b",
            unroll = const UNROLL,
            sum = inout(reg) sum,
            addend = in(reg) 3u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    Some(sum)
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
fn chain(turns: u32) -> Option<u64> {
    let mut sum = u64::from(turns);
    // SAFETY: works in the named registers and the flags alone.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {unroll}",
            "add {sum}, {sum}, {addend}",
            ".endr",
            "subs {turns:w}, {turns:w}, #1",
            "b.ne 2b",
            unroll = const UNROLL,
            sum = inout(reg) sum,
            addend = in(reg) 3u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    Some(sum)
}

/// No canary for this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_: u32) -> Option<u64> {
    None
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every add of the chain happened: none was removed or merged.
        #[test]
        fn the_chain_adds_what_it_says(turns in 1..2_000u32) {
            prop_assert_eq!(chain(turns), Some(u64::from(turns) + 3 * u64::from(UNROLL) * u64::from(turns)));
        }
    }

    #[test]
    fn it_is_a_frequency() {
        // The best of many: what an undisturbed core does. Wide bounds: no core of today runs outside them.
        let best = (0..50).filter_map(|_| frequency_ghz(Clock::monotonic(), 30_000)).fold(0.0, f64::max);
        assert!((0.1..12.0).contains(&best), "{best} GHz");
        // One turn may fall between two ticks of the clock, but not every time.
        let seen = (0..1_000).any(|_| frequency_ghz(Clock::monotonic(), 0).is_some());
        assert!(seen, "no adds are rounded up to one turn");
    }

    #[test]
    fn the_fixed_cost_is_read_off_the_line() {
        assert_eq!(undisturbed_mean(vec![10, 900, 20, 30]), 15.0, "the slow half is left out");
        assert_eq!(undisturbed_mean(vec![7]), 7.0);
        assert!((0.0..1_000.0).contains(&fixed_cost_ns()));
    }

    #[test]
    fn a_clock_that_stands_still_gives_no_frequency() {
        // The tick lies decades beyond the uptime, so that every reading is zero.
        assert_eq!(frequency_ghz(Clock::coarse(u64::MAX), 1_000), None);
    }
}
