//! The yardstick: dependent adds, whose cycles are known beforehand.

use super::counted::Counted;
use crate::Result;
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Window, code_padding};

/// Adds in one operation, each waiting for the one before: as many core cycles. A 64-bit register-register add takes one
/// on every current core (Agner Fog's instruction tables; Arm's software optimization guides); with an immediate some
/// do it in none.
pub const ADDS: u64 = 16;
const ADDEND: u64 = 3;

/// [`ADDS`] dependent adds an operation.
pub struct Adds;

impl Adds {
    /// What it must fold.
    pub fn reference() -> Counted {
        Counted::each(ADDS * ADDEND)
    }
}

impl Recipe for Adds {
    fn build(&self, _input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(Arm::with_layouts((), code_copies!(run)))
    }
}

#[inline(never)]
fn run<const COPY: usize>(_: &mut (), window: Window) -> Checksum {
    code_padding::<COPY>();
    let addend = std::hint::black_box(ADDEND);
    let mut sum = 0;
    for _ in 0..window.count {
        sum = chain(sum, addend);
    }
    Counted::fold(sum)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn chain(mut sum: u64, addend: u64) -> u64 {
    // SAFETY: works in the named registers and the flags alone.
    unsafe {
        std::arch::asm!(".rept {adds}", "add {sum}, {addend}", ".endr", adds = const ADDS,
            sum = inout(reg) sum, addend = in(reg) addend, options(pure, nomem, nostack));
    }
    sum
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn chain(mut sum: u64, addend: u64) -> u64 {
    // SAFETY: works in the named registers alone.
    unsafe {
        std::arch::asm!(".rept {adds}", "add {sum}, {sum}, {addend}", ".endr", adds = const ADDS,
            sum = inout(reg) sum, addend = in(reg) addend, options(pure, nomem, nostack));
    }
    sum
}

/// Elsewhere there is no canary either, so nothing is said in cycles: the chain is only something to compare with.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn chain(mut sum: u64, addend: u64) -> u64 {
    for _ in 0..ADDS {
        sum = std::hint::black_box(sum.wrapping_add(addend));
    }
    sum
}
