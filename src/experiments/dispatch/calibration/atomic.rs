//! A locked read-modify-write of a word that nobody else wants.

use std::sync::atomic::{AtomicU64, Ordering};

use super::counted::Counted;
use crate::Result;
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Input, PlacedSlice, Placement, Recipe, Window, code_padding};

/// Adds one to a word of its own by `fetch_add`, once an operation. Relaxed, which on x86 is a locked instruction all the
/// same.
pub struct FetchAdd;

struct State {
    line: PlacedSlice<u64>,
}

impl Recipe for FetchAdd {
    fn build(&self, _input: &Input, placement: &mut Placement) -> Result<Arm> {
        // A line of its own, and its neighbour: no other arm's word in either.
        let line = placement.place_slice(&[0u64; 16], 128)?;
        Ok(Arm::with_layouts(State { line }, code_copies!(run)))
    }
}

#[inline(never)]
fn run<const COPY: usize>(state: &mut State, window: Window) -> Checksum {
    code_padding::<COPY>();
    // SAFETY: eight aligned bytes that live as long as the state, touched through this atomic alone.
    let word = unsafe { AtomicU64::from_ptr(state.line.as_non_null().as_ptr()) };
    let before = word.load(Ordering::Relaxed);
    for _ in 0..window.count {
        word.fetch_add(1, Ordering::Relaxed);
    }
    Counted::fold(word.load(Ordering::Relaxed).wrapping_sub(before))
}
