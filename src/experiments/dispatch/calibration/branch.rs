//! A conditional branch on a byte: the same machine code over a pattern that any predictor learns, and over fair coins.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

use super::counted::Counted;
use crate::Result;
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Reference, Source, Window, code_padding};

/// Decisions in a pass: far more fair coins than a predictor can memorise (some 10⁴ entries, 64 KiB of state, in the
/// largest described: Seznec, "TAGE-SC-L branch predictors again", CBP-5, 2016), in data that stays in any L2.
const DECISIONS: usize = 1 << 18;

/// Loads a byte, and branches on it.
pub struct Branch;

/// Decisions that alternate: half of them taken, as of the fair coins, and learned after a few.
pub fn alternating() -> Source {
    Source::from_items((0..DECISIONS).map(|at| (at & 1) as u8).collect())
}

/// Decisions by fair coins: whatever predicts them is wrong half the time.
pub fn fair_coins(seed: u64) -> Source {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut decisions = Vec::with_capacity(DECISIONS);
    while decisions.len() < DECISIONS {
        let word = random.next_u64();
        decisions.extend((0..64).map(|bit| (word >> bit & 1) as u8));
    }
    Source::from_items(decisions)
}

impl Recipe for Branch {
    fn build(&self, input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(Arm::with_layouts(input.clone(), code_copies!(run)))
    }
}

/// The number of decisions taken.
impl Reference for Branch {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let decisions = &source.items::<u8>()[window.first..][..window.count];
        Counted::fold(decisions.iter().map(|&taken| u64::from(taken)).sum())
    }
}

#[inline(never)]
fn run<const COPY: usize>(input: &mut Input, window: Window) -> Checksum {
    code_padding::<COPY>();
    let mut taken = 0u64;
    for &decision in &input.items::<u8>()[window.first..window.first + window.count] {
        if decision != 0 {
            stay_a_branch();
            taken += 1;
        }
    }
    Counted::fold(taken)
}

/// No instruction, but an effect as far as the optimiser knows: it may neither run it unasked (and so turn the branch
/// into arithmetic) nor leave it out.
#[inline(always)]
fn stay_a_branch() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: empty.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::hint::black_box(());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_all_decisions_are_taken_either_way() {
        let share = |source: &Source| {
            let taken: usize = source.items::<u8>().iter().map(|&taken| usize::from(taken)).sum();
            taken as f64 / source.operations() as f64
        };
        assert_eq!(share(&alternating()), 0.5);
        // Five standard deviations of that many fair coins are 0.005.
        assert!((share(&fair_coins(7)) - 0.5).abs() < 0.005);
        assert_ne!(fair_coins(7).bytes(), fair_coins(8).bytes());
    }
}
