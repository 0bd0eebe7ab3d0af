//! Calling a function that does next to nothing: directly, and through a pointer that always holds the same one.

use super::counted::Counted;
use crate::Result;
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Window, code_padding};

/// Calls [`step`] once an operation.
pub struct Call {
    /// Whether through a pointer.
    pub indirect: bool,
}

impl Recipe for Call {
    fn build(&self, _input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(match self.indirect {
            true => Arm::with_layouts((), code_copies!(run, true)),
            false => Arm::with_layouts((), code_copies!(run, false)),
        })
    }
}

/// Adds one. Out of line, and opaque: the optimiser can neither foresee its result nor leave a call out.
#[inline(never)]
fn step(value: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let value = {
        let mut value = value;
        // SAFETY: no instruction at all; the register keeps its value.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
        value
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let value = std::hint::black_box(value);
    value + 1
}

/// Each call takes the result of the one before, so calls don't overlap.
#[inline(never)]
fn run<const INDIRECT: bool, const COPY: usize>(_: &mut (), window: Window) -> Checksum {
    code_padding::<COPY>();
    let mut calls = 0;
    if INDIRECT {
        let target = std::hint::black_box(step as fn(u64) -> u64);
        for _ in 0..window.count {
            calls = target(calls);
        }
    } else {
        for _ in 0..window.count {
            calls = step(calls);
        }
    }
    Counted::fold(calls)
}
