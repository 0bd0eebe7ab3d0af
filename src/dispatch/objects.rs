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

// SAFETY: handlers are `Send` and `Sync`.
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

/// The placed objects of a set, in registration order; keeps their memory, and what handlers of others' need.
pub(super) struct Objects {
    pointers: Vec<HandlerPointer>,
    _keep: Vec<Keep>,
    _foreign: Vec<Box<dyn Send>>,
}

impl Objects {
    /// Places an object for each handler.
    pub fn place(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let mut pointers = Vec::with_capacity(set.len());
        let mut keep = Vec::with_capacity(set.len());
        let mut foreign = Vec::new();
        let mut kept_foreign = Vec::new();
        for members in set.foreign() {
            let numbers = members.first..members.first + members.specs.len();
            let signatures: Vec<u16> = numbers.map(|id| set.signature(id)).collect();
            let placed = members.handlers.place(&signatures, placement)?;
            foreign.extend(placed.handlers);
            kept_foreign.push(placed.keep);
        }
        for (id, spec) in set.registered() {
            if let Some(place) = id.checked_sub(set.built_in()) {
                pointers.push(HandlerPointer(foreign[place]));
                continue;
            }
            let code = Code::of(set.body(), id);
            let (fields, kept) = placement.place(code.fields(set.signature(id), spec))?.into_parts();
            pointers.push(HandlerPointer(code.attach(fields)));
            keep.push(kept);
        }
        Ok(Objects { pointers, _keep: keep, _foreign: kept_foreign })
    }

    /// One pointer a handler, in registration order.
    pub fn pointers(&self) -> &[HandlerPointer] {
        &self.pointers
    }
}
