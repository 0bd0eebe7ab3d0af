//! Handler objects in memory: each at an address of its own, in registration order, as a heap would scatter them.

use std::ptr::NonNull;

use super::generated::Code;
use super::{Handler, HandlerSet};
use crate::Result;
use crate::race::Placement;
use crate::race::placement::Keep;

/// A pointer to a placed handler: object and vtable, 16 bytes on 64-bit targets.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct HandlerPointer(NonNull<dyn Handler>);

// SAFETY: handlers are `Sync` and never changed once placed.
unsafe impl Send for HandlerPointer {}
// SAFETY: as above.
unsafe impl Sync for HandlerPointer {}

impl HandlerPointer {
    /// The handler.
    ///
    /// # Safety
    /// The [`Objects`] that gave this pointer out must outlive the reference.
    #[inline(always)]
    pub unsafe fn get<'a>(self) -> &'a dyn Handler {
        // SAFETY: placed objects are initialised and never written again; the caller vouches for their life.
        unsafe { self.0.as_ref() }
    }
}

/// The placed objects of a set, in registration order; keeps their memory.
pub(super) struct Objects {
    pointers: Vec<HandlerPointer>,
    _keep: Vec<Keep>,
}

impl Objects {
    /// Places an object for each handler.
    pub fn place(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let mut pointers = Vec::with_capacity(set.len());
        let mut keep = Vec::with_capacity(set.len());
        for (id, spec) in set.registered() {
            let code = Code::of(set.body(), id);
            let (fields, kept) = placement.place(code.fields(set.signature(id), spec))?.into_parts();
            pointers.push(HandlerPointer(code.attach(fields)));
            keep.push(kept);
        }
        Ok(Objects { pointers, _keep: keep })
    }

    /// One pointer a handler, in registration order.
    pub fn pointers(&self) -> &[HandlerPointer] {
        &self.pointers
    }
}
