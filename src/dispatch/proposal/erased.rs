//! The loop over erased handlers: object and two functions, side by side in the list.

use std::ptr::NonNull;

use crate::Result;
use crate::dispatch::generated::{Code, Fields, Matches, Process};
use crate::dispatch::replay::Dispatch;
use crate::dispatch::{HandlerSet, Outcome, UNSUPPORTED};
use crate::race::placement::Keep;
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// A handler of the list: no vtable to load.
#[derive(Clone, Copy)]
#[repr(C)]
struct Erased {
    object: NonNull<Fields>,
    matches: Matches,
    process: Process,
}

// SAFETY: objects are never changed once placed.
unsafe impl Send for Erased {}
// SAFETY: as above.
unsafe impl Sync for Erased {}

/// Erased handlers in registration order.
pub(in crate::dispatch) struct ScanErased {
    list: PlacedSlice<Erased>,
    _keep: Vec<Keep>,
}

impl ScanErased {
    /// Places objects, each at an address of its own, and the list.
    ///
    /// # Errors
    /// [`Error::Os`](crate::Error::Os) where memory can't be mapped.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let mut list = Vec::with_capacity(set.len());
        let mut keep = Vec::with_capacity(set.len());
        for (id, spec) in set.registered() {
            let code = Code::of(set.body(), id);
            let (object, kept) = placement.place(code.fields(set.signature(id), spec))?.into_parts();
            let vtable = code.vtable();
            list.push(Erased { object, matches: vtable.matches, process: vtable.process });
            keep.push(kept);
        }
        Ok(ScanErased { list: placement.place_slice(&list, 64)?, _keep: keep })
    }
}

impl Dispatch for ScanErased {
    #[inline(always)]
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
        for handler in self.list.iter() {
            // SAFETY: `_keep` lives as long as `self`, and the functions are of the object's own code.
            let object = unsafe { handler.object.as_ref() };
            if (handler.matches)(object, packet) {
                return (handler.process)(object, packet);
            }
        }
        UNSUPPORTED
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.list)
    }
}
