//! Bumps its static and its thread-local.

mod shared;

#[unsafe(no_mangle)]
pub extern "C" fn bump() {
    shared::bump();
}

/// # Safety
/// There must be room for four numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seen(out: *mut u64) {
    // SAFETY: the caller's room.
    unsafe { out.cast::<[u64; 4]>().write(shared::seen()) };
}
