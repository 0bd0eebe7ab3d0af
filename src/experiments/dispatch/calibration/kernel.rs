//! Asking the kernel: a call that really enters it, and the clock, which usually doesn't.

use super::counted::Counted;
use crate::Result;
use crate::machine::Clock;
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Window, code_padding};

/// Asks for the parent's process id: the kernel reads one word, so what is left is the way in and out. Unlike `getpid`
/// it was never cached by a C library, and on Linux it is called without one.
pub struct SystemCall;

impl Recipe for SystemCall {
    fn build(&self, _input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(Arm::with_layouts((), code_copies!(ask)))
    }
}

#[inline(never)]
fn ask<const COPY: usize>(_: &mut (), window: Window) -> Checksum {
    code_padding::<COPY>();
    let mut answers = 0;
    for _ in 0..window.count {
        // Whoever is asked for: a parent that dies meanwhile changes it.
        std::hint::black_box(rustix::process::getppid());
        answers += 1;
    }
    Counted::fold(answers)
}

/// Reads the clock that races are timed with.
pub struct ClockRead;

impl Recipe for ClockRead {
    fn build(&self, _input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(Arm::with_layouts((), code_copies!(read)))
    }
}

/// Counts the readings that aren't earlier than the one before: all of them, or it is no monotonic clock.
#[inline(never)]
fn read<const COPY: usize>(_: &mut (), window: Window) -> Checksum {
    code_padding::<COPY>();
    let clock = Clock::monotonic();
    let (mut last, mut readings) = (0, 0);
    for _ in 0..window.count {
        let now = clock.now_ns();
        readings += u64::from(now >= last);
        last = now;
    }
    Counted::fold(readings)
}
