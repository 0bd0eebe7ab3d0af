//! Drops a box that the plugin made, and says whose allocator gave it and whose took it back.

#[path = "../host.rs"]
mod host;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

// SAFETY: System's, counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises, or as this probe is about.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let library = host::open(&std::env::args().nth(1).expect("the plugin"));
    let make: extern "C" fn() -> *mut u64 = host::function(library, "make");
    let given: extern "C" fn() -> usize = host::function(library, "given");
    let taken: extern "C" fn() -> usize = host::function(library, "taken");
    let made = make();
    println!("plugin_gave={}", given());
    let before = TAKEN.load(Ordering::Relaxed);
    // SAFETY: none: that is the probe.
    drop(unsafe { Box::from_raw(made) });
    println!("host_took={}", TAKEN.load(Ordering::Relaxed) - before);
    println!("plugin_took={}", taken());
}
