//! A plugin with a global allocator of its own: it counts, and with `--cfg arena` it hands out memory that malloc never saw.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

struct Own;

static WATCHED: AtomicBool = AtomicBool::new(false);
static GIVEN: AtomicUsize = AtomicUsize::new(0);
static TAKEN: AtomicUsize = AtomicUsize::new(0);

#[cfg(arena)]
#[repr(align(64))]
struct Arena(std::cell::UnsafeCell<[u8; 4096]>);
#[cfg(arena)]
// SAFETY: one thread uses it.
unsafe impl Sync for Arena {}
#[cfg(arena)]
static ARENA: Arena = Arena(std::cell::UnsafeCell::new([0; 4096]));

// SAFETY: hands out what System gives, or, once, the arena.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WATCHED.load(Ordering::Relaxed) {
            GIVEN.fetch_add(1, Ordering::Relaxed);
            #[cfg(arena)]
            return ARENA.0.get().cast::<u8>().wrapping_add(64);
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if WATCHED.load(Ordering::Relaxed) {
            TAKEN.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Own = Own;

/// A box for the host to drop, which it mustn't.
#[unsafe(no_mangle)]
pub extern "C" fn make() -> *mut u64 {
    WATCHED.store(true, Ordering::Relaxed);
    let made = Box::into_raw(Box::new(42));
    WATCHED.store(false, Ordering::Relaxed);
    made
}

#[unsafe(no_mangle)]
pub extern "C" fn given() -> usize {
    GIVEN.load(Ordering::Relaxed)
}

#[unsafe(no_mangle)]
pub extern "C" fn taken() -> usize {
    TAKEN.load(Ordering::Relaxed)
}
