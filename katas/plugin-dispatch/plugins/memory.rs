//! Instances from C's allocator, and what a crate without the standard library owes the compiler.

use core::ffi::c_void;

unsafe extern "C" {
    fn calloc(count: usize, bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn abort() -> !;
}

/// What an instance holds.
#[repr(C)]
pub struct Instance {
    /// Packets that it was given.
    pub processed: u64,
}

/// A new instance, or null.
pub unsafe extern "C" fn create() -> *mut c_void {
    // SAFETY: zeroed memory is an instance that has seen nothing.
    unsafe { calloc(1, size_of::<Instance>()) }
}

/// Frees one that `create` made.
pub unsafe extern "C" fn destroy(instance: *mut c_void) {
    // SAFETY: by contract it came from `create`.
    unsafe { free(instance) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the process. Nothing may unwind across a C boundary.
    unsafe { abort() }
}
