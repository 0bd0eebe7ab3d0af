//! The timed loop, the arm that does nothing, and what the side channels see meanwhile.

use serde::Serialize;

use crate::machine::{OperationClock, ThreadUsage, affinity};
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Window, code_padding};

/// Times `counts.len()` operations from `first` on, each by itself. Returns the bits in which any result differed from
/// what was expected: 0 if none did.
///
/// The same machine code for every arm; between the two readings lies nothing but the call.
#[inline(never)]
pub(super) fn timed<C: OperationClock>(
    arm: &mut Arm,
    first: usize,
    expected: &[Checksum],
    counts: &mut [u64],
    clock: C,
) -> u64 {
    let mut wrong = 0;
    for (at, (count, expected)) in counts.iter_mut().zip(expected).enumerate() {
        let window = Window { first: first + at, count: 1 };
        let begin = clock.begin();
        let got = arm.run(window);
        let end = clock.end();
        // Counters of two CPUs may be apart; a time below zero is marked and counted, not hidden.
        *count = end.wrapping_sub(begin);
        wrong |= got.0 ^ expected.0;
    }
    wrong
}

/// The arm that does nothing: called like any other, it shows what the timer and the call cost.
pub(super) fn empty() -> Arm {
    #[inline(never)]
    fn nothing<const COPY: usize>(_: &mut (), window: Window) -> Checksum {
        code_padding::<COPY>();
        result(window.first)
    }
    Arm::with_layouts((), code_copies!(nothing))
}

/// What the empty arm returns for operation `at`.
pub(super) fn result(at: usize) -> Checksum {
    Checksum(at as u64)
}

/// What the side channels saw during timed turns. Counted, and nothing left out for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Disturbed {
    /// Turns in which any of these happened.
    pub turns: u64,
    /// Times that the thread was switched out against its will.
    pub involuntary_switches: u64,
    /// Turns that ended on another CPU than they began on.
    pub migrations: u64,
    /// Page faults.
    pub page_faults: u64,
    /// Operations that seemed to end before they began; counted as no time at all.
    pub backwards: u64,
}

impl Disturbed {
    /// Runs `turn` and notes what happened meanwhile.
    pub(super) fn during<T>(&mut self, turn: impl FnOnce() -> T) -> T {
        let (before, cpu) = (ThreadUsage::now(), affinity::current_cpu());
        let value = turn();
        let (moved, after) = (affinity::current_cpu() != cpu, ThreadUsage::now());
        let since = match (before, after) {
            (Ok(before), Ok(after)) => after.since(&before),
            _ => ThreadUsage::default(),
        };
        self.note(since, moved);
        value
    }

    fn note(&mut self, since: ThreadUsage, moved: bool) {
        let faults = since.minor_faults + since.major_faults;
        self.involuntary_switches += since.involuntary_switches;
        self.page_faults += faults;
        self.migrations += u64::from(moved);
        self.turns += u64::from(moved || faults > 0 || since.involuntary_switches > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_is_noted() {
        let mut disturbed = Disturbed::default();
        disturbed.note(ThreadUsage::default(), false);
        assert_eq!(disturbed, Disturbed::default());
        let usage = ThreadUsage {
            involuntary_switches: 2,
            minor_faults: 3,
            major_faults: 1,
            ..ThreadUsage::default()
        };
        disturbed.note(usage, true);
        disturbed.note(ThreadUsage::default(), true);
        let wanted =
            Disturbed { turns: 2, involuntary_switches: 2, migrations: 2, page_faults: 4, backwards: 0 };
        assert_eq!(disturbed, wanted);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_page_that_is_touched_during_a_turn_is_seen() {
        let mut disturbed = Disturbed::default();
        disturbed.during(|| {
            // Larger than what an allocator keeps at hand, so the pages are new.
            std::hint::black_box(vec![1u8; 64 << 20]);
        });
        assert!(disturbed.page_faults > 0 && disturbed.turns == 1, "{disturbed:?}");
    }

    #[test]
    fn the_empty_arm_does_nothing_in_every_layout() {
        let mut arm = empty();
        for layout in 0..arm.layouts() {
            arm.use_layout(layout);
            assert_eq!(arm.run(Window { first: 7, count: 1 }), result(7));
        }
        assert!(arm.layouts() > 1);
    }
}
