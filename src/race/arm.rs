//! An arm: one way of doing the work, called through one pointer, always returning a checksum.

use std::ptr::NonNull;

use super::{Input, Placement, Source};
use crate::Result;

/// Which operations of the input a call replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Index of the first operation.
    pub first: usize,
    /// How many, in order.
    pub count: usize,
}

/// A fold over every result of a window: keeps the work alive and proves that arms agree.
///
/// FNV-1a's shape (xor, then multiply), one word a step; Fowler, Noll and Vo's 64-bit constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(pub u64);

impl Checksum {
    /// The fold of no result: the FNV-1a offset basis.
    pub const EMPTY: Checksum = Checksum(0xcbf2_9ce4_8422_2325);
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// Folds one result: its value, and the small number that says who computed it.
    ///
    /// The tag enters at the top so that it can't be confused with a small value's low bits.
    #[inline(always)]
    pub fn fold(self, value: u64, tag: u16) -> Self {
        Checksum((self.0 ^ value ^ (u64::from(tag) << 48)).wrapping_mul(Self::PRIME).rotate_left(23))
    }
}

/// How much an arm must run before its timing means anything after it was built anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settle {
    /// One discarded window: caches and predictors only.
    Window,
    /// One discarded pass over the whole input: the arm learns from what it sees.
    Pass,
}

/// How to build an arm; every block of a race builds its arms anew, at fresh addresses.
pub trait Recipe: Send + Sync {
    /// Builds the arm over a placed input. Everything that the timed loop touches comes from `placement`.
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm>;

    /// How much must be discarded after a build.
    fn settle(&self) -> Settle {
        Settle::Window
    }

    /// How many code layouts [`Placement::code_copy`] draws from; 1 makes the race flag the arm.
    fn code_layouts(&self) -> usize {
        1
    }

    /// Bytes of tables, lists and keys that selecting touches or reserves; `None` where it means nothing.
    fn footprint_bytes(&self) -> Option<usize> {
        None
    }
}

/// What an arm must compute, by plain code that shares nothing with the arms.
pub trait Reference: Send + Sync {
    /// The checksum that a correct arm returns for `window`.
    fn checksum(&self, source: &Source, window: Window) -> Checksum;
}

/// A built arm: its state, and the loop that replays a window of its input.
pub struct Arm {
    state: NonNull<()>,
    run: unsafe fn(NonNull<()>, Window) -> Checksum,
    drop: unsafe fn(NonNull<()>),
}

// SAFETY: `Arm::new` accepts only states that are `Send`, and the arm owns its state alone.
unsafe impl Send for Arm {}

impl Arm {
    /// Wraps a state and its loop. Which of several loops (code copies) is the caller's choice.
    pub fn new<S: Send + 'static>(state: S, run: fn(&mut S, Window) -> Checksum) -> Self {
        unsafe fn drop_state<S>(state: NonNull<()>) {
            // SAFETY: `state` came from `Box::into_raw` of a `Box<S>` in `Arm::new`, and `Arm::drop` runs once.
            drop(unsafe { Box::from_raw(state.cast::<S>().as_ptr()) });
        }
        let state = NonNull::from(Box::leak(Box::new(state))).cast::<()>();
        // SAFETY: `&mut S` and `NonNull<()>` are ABI-compatible for sized `S` (see the `fn` primitive's page on
        // ABI compatibility), so the call through the other type is defined; `run` only ever sees its own `S`.
        let run = unsafe {
            std::mem::transmute::<fn(&mut S, Window) -> Checksum, unsafe fn(NonNull<()>, Window) -> Checksum>(
                run,
            )
        };
        Arm { state, run, drop: drop_state::<S> }
    }

    /// Replays `window` and returns the fold of its results.
    #[inline(always)]
    pub fn run(&mut self, window: Window) -> Checksum {
        // SAFETY: `state` lives until drop, `run` was made for its type, and `&mut self` makes the access unique.
        unsafe { (self.run)(self.state, window) }
    }
}

impl Drop for Arm {
    fn drop(&mut self) {
        // SAFETY: the pair was made together in `Arm::new`.
        unsafe { (self.drop)(self.state) }
    }
}
