//! The width canary: independent additions, as many at once as the core takes.
//!
//! A chain of dependent adds leaves most of a core idle, so it reads the same whether or not another hardware thread is
//! at work on the core. Independent adds compete for every slot: where the sibling belongs to somebody else (on a virtual
//! machine it may be another guest's, and no steal time is accounted for it), their rate is what tells.

use crate::machine::Clock;

/// Adds in one turn of the loop: eight registers, each several times.
const UNROLL: u32 = 64;

/// Independent adds a nanosecond, over at least `adds` of them. `None` on other architectures than x86-64 and AArch64,
/// and when the clock didn't move meanwhile.
///
/// One sample: an interruption makes it too low, so take the greater of two. Not corrected for the clock's own cost:
/// only readings of equal length are comparable.
pub fn width_per_ns(clock: Clock, adds: u32) -> Option<f64> {
    let turns = adds.div_ceil(UNROLL).max(1);
    let start = clock.now_ns();
    independent(turns)?;
    let spent_ns = clock.now_ns() - start;
    (spent_ns > 0).then(|| f64::from(turns) * f64::from(UNROLL) / spent_ns as f64)
}

/// `turns × UNROLL` adds in eight independent chains; returns their sum, each chain having started at its number.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn independent(turns: u32) -> Option<u64> {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = [0u64, 1, 2, 3, 4, 5, 6, 7];
    // SAFETY: works in the named registers and the flags alone.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {each}",
            "add {a}, {addend}", "add {b}, {addend}", "add {c}, {addend}", "add {d}, {addend}",
            "add {e}, {addend}", "add {f}, {addend}", "add {g}, {addend}", "add {h}, {addend}",
            ".endr",
            "dec {turns:e}",
            "jnz 2b",
            each = const UNROLL / 8,
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
            e = inout(reg) e, f = inout(reg) f, g = inout(reg) g, h = inout(reg) h,
            addend = in(reg) 3u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    Some(a + b + c + d + e + f + g + h)
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
fn independent(turns: u32) -> Option<u64> {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = [0u64, 1, 2, 3, 4, 5, 6, 7];
    // SAFETY: works in the named registers and the flags alone.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {each}",
            "add {a}, {a}, {addend}", "add {b}, {b}, {addend}", "add {c}, {c}, {addend}", "add {d}, {d}, {addend}",
            "add {e}, {e}, {addend}", "add {f}, {f}, {addend}", "add {g}, {g}, {addend}", "add {h}, {h}, {addend}",
            ".endr",
            "subs {turns:w}, {turns:w}, #1",
            "b.ne 2b",
            each = const UNROLL / 8,
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
            e = inout(reg) e, f = inout(reg) f, g = inout(reg) g, h = inout(reg) h,
            addend = in(reg) 3u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    Some(a + b + c + d + e + f + g + h)
}

/// No canary for this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn independent(_: u32) -> Option<u64> {
    None
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::machine::frequency_ghz;

    proptest! {
        /// Every add happened: none was removed or merged.
        #[test]
        fn the_chains_add_what_they_say(turns in 1..2_000u32) {
            prop_assert_eq!(independent(turns), Some(28 + 3 * u64::from(UNROLL) * u64::from(turns)));
        }
    }

    #[test]
    fn independent_adds_overlap() {
        // The best of many of both: a core that runs more than one add a cycle, as all out-of-order and most in-order
        // cores do.
        let clock = Clock::monotonic();
        let width = (0..50).filter_map(|_| width_per_ns(clock, 60_000)).fold(0.0, f64::max);
        let chain = (0..50).filter_map(|_| frequency_ghz(clock, 30_000)).fold(0.0, f64::max);
        assert!(width > 1.3 * chain, "{width} against {chain}");
    }

    #[test]
    fn a_clock_that_stands_still_gives_no_width() {
        assert_eq!(width_per_ns(Clock::coarse(u64::MAX), 1_000), None);
    }
}
