//! Fewer page faults for a large fresh array.

use std::mem::MaybeUninit;

use super::Packet;

/// From here on huge pages are asked for; NumPy's own bound for the same advice (`numpy/_core/src/multiarray/alloc.c`).
#[cfg(target_os = "linux")]
const LEAST_BYTES: usize = 1 << 22;

/// Asks for huge pages behind memory that is about to be written for the first time. Page faults cost more than the
/// packets themselves otherwise. Only advice: where it isn't heeded, the pool is the same and takes longer.
#[cfg(target_os = "linux")]
pub(super) fn advise(fresh: &mut [MaybeUninit<Packet>]) {
    use rustix::mm::{Advice, madvise};
    if size_of_val(fresh) < LEAST_BYTES {
        return;
    }
    let page = rustix::param::page_size();
    let range = fresh.as_mut_ptr_range();
    let first = range.start.cast::<u8>().align_offset(page);
    let bytes = (size_of_val(fresh) - first) / page * page;
    // SAFETY: the range lies inside `fresh`, which is borrowed uniquely, and this advice never changes contents.
    let _ = unsafe { madvise(range.start.cast::<u8>().add(first).cast(), bytes, Advice::LinuxHugepage) };
}

/// Other systems decide for themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn advise(_fresh: &mut [MaybeUninit<Packet>]) {}
