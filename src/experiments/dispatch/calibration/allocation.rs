//! Taking memory from the allocator and giving it back.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

use super::counted::Counted;
use crate::Result;
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Window, code_padding};

/// A line's worth.
pub const BYTES: usize = 64;

/// Allocates [`BYTES`], writes and reads a word there, frees them: the cheapest case there is, since the same block comes
/// back from the thread's own cache each time.
pub struct AllocateFree;

impl Recipe for AllocateFree {
    fn build(&self, _input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(Arm::with_layouts((), code_copies!(run)))
    }
}

#[inline(never)]
fn run<const COPY: usize>(_: &mut (), window: Window) -> Checksum {
    code_padding::<COPY>();
    const LAYOUT: Layout = Layout::new::<[u64; BYTES / 8]>();
    let mut sum = 0;
    for _ in 0..window.count {
        // SAFETY: the layout has a size. Opaque, or the optimiser would see that nobody else knows of the block, and
        // need no allocator.
        let block = std::hint::black_box(unsafe { alloc(LAYOUT) }).cast::<u64>();
        if block.is_null() {
            handle_alloc_error(LAYOUT);
        }
        // SAFETY: the block holds eight aligned words, is ours until it is freed, and was made with this layout.
        unsafe {
            block.write_volatile(1);
            sum += block.read_volatile();
            dealloc(block.cast(), LAYOUT);
        }
    }
    Counted::fold(sum)
}
