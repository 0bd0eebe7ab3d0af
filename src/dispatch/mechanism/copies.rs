//! Copies of code that isn't inlined into the loop.

/// Tells copies of a function apart, so that they aren't merged into one. Emits no instruction: padding would be run once
/// a packet here, where in the loop it is run once a window. The copies lie at different places because each is as long
/// as it is.
#[inline(always)]
pub(crate) fn mark_copy<const COPY: usize>() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: assembles to nothing; touches no register, flag or memory.
    unsafe {
        std::arch::asm!("/* copy {copy} */", copy = const COPY, options(nomem, nostack, preserves_flags));
    }
}
