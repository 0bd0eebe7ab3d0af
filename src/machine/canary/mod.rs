//! The frequency canary: a chain of additions, each needing the one before, one core cycle each.
//!
//! Its time tells at what frequency the core really runs, without privileges or counters, and so also whether it is
//! being slowed, shared or warmed up. That a 64-bit register-register add has a latency of one cycle: Agner Fog,
//! "Instruction tables" (Intel since Core 2, AMD since K8), and Arm's software optimization guides (Cortex-A53 and later).

mod warm_up;

pub use warm_up::{WarmUp, warm_up};

use super::Clock;

/// Adds in one turn of the loop: the closing decrement and branch run beside the chain and cost it nothing, and the body
/// stays well inside any L1i.
const UNROLL: u32 = 128;

/// The core's frequency in GHz, from the time that at least `adds` dependent adds take (rounded up to whole turns of
/// 128). `None` on other architectures than x86-64 and AArch64, and when the clock didn't move meanwhile.
///
/// One sample: an interruption makes it too low, so take a median of several. The clock's own cost and the loop's exit
/// are inside (some 30 ns: 0.3 % of 10 µs, or about 30,000 adds).
pub fn frequency_ghz(clock: Clock, adds: u32) -> Option<f64> {
    let turns = adds.div_ceil(UNROLL).max(1);
    let start = clock.now_ns();
    chain(turns)?;
    let spent_ns = clock.now_ns() - start;
    (spent_ns > 0).then(|| f64::from(turns) * f64::from(UNROLL) / spent_ns as f64)
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
        assert!(frequency_ghz(Clock::monotonic(), 0).is_some(), "no adds are rounded up to one turn");
    }

    #[test]
    fn a_clock_that_stands_still_gives_no_frequency() {
        // The tick lies decades beyond the uptime, so that every reading is zero.
        assert_eq!(frequency_ghz(Clock::coarse(u64::MAX), 1_000), None);
    }
}
