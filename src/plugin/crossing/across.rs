//! Boundaries inside this process: none but a call, a plugin's `process_batch`, a system call on the way.

use super::batch::Boundary;
use super::service::serve_batch;
use crate::dispatch::mark_copy;
use crate::plugin::Instance;
use crate::plugin::abi::{self, PacketView, PluginResult};

/// The host's own function, out of line: views and results as for a plugin, and a direct call.
pub(super) struct Internal {
    pub first: u16,
}

/// The one that is called; a copy for each copy of the loop.
#[inline(never)]
unsafe fn serve_apart<const COPY: usize>(
    first: u16,
    views: &[PacketView],
    results: &mut [PluginResult],
) -> i32 {
    mark_copy::<COPY>();
    // SAFETY: the caller's.
    unsafe { serve_batch(first, views, results) }
}

impl Boundary for Internal {
    #[inline(always)]
    unsafe fn cross<const COPY: usize>(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
        // SAFETY: the caller's.
        unsafe { serve_apart::<COPY>(self.first, views, results) }
    }
}

/// A plugin's own `process_batch`.
pub(super) struct Foreign {
    pub instance: Instance,
}

impl Boundary for Foreign {
    #[inline(always)]
    unsafe fn cross<const COPY: usize>(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
        self.instance.process_batch(views, results).unwrap_or(abi::ERROR)
    }
}

/// The host's own function, and a system call before it: the kernel is entered and left once a batch, without a word said.
pub(super) struct SystemCall {
    pub first: u16,
}

impl Boundary for SystemCall {
    #[inline(always)]
    unsafe fn cross<const COPY: usize>(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
        // Never answered without the kernel: neither the vDSO nor a C library's cache knows it.
        std::hint::black_box(rustix::process::getppid());
        // SAFETY: the caller's.
        unsafe { serve_apart::<COPY>(self.first, views, results) }
    }
}
