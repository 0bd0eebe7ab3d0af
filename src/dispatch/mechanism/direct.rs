//! One fixed body by a direct call: what the selected handler's call would cost with nothing to guess.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::Target;
use crate::Result;
use crate::dispatch::body::Program;
use crate::dispatch::generated::{Code, Fields, Generated};
use crate::dispatch::{Handler, HandlerSpec, Outcome};
use crate::race::Placement;
use crate::race::placement::Keep;
use crate::traffic::Packet;

/// Calls handler 0's `process` by name on the object that was selected: the same selection and the same unmatched
/// packets as any mechanism, one body, no indirect call. Its results are body 0's, under the selected handler's number.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::dispatch) struct Direct<P> {
    object: NonNull<Fields>,
    /// Keeps slots as large as those of the others. Never read.
    _room: usize,
    program: PhantomData<P>,
}

// SAFETY: objects are never changed once placed.
unsafe impl<P> Send for Direct<P> {}

// SAFETY: the pointer is to fields that `place` placed.
unsafe impl<P: Program> Target for Direct<P> {
    fn place(
        code: &'static Code,
        id: u16,
        spec: HandlerSpec,
        placement: &mut Placement,
    ) -> Result<(Self, Keep)> {
        let (object, keep) = placement.place(code.fields(id, spec))?.into_parts();
        Ok((Direct { object, _room: 0, program: PhantomData }, keep))
    }

    #[inline(always)]
    unsafe fn fields<'a>(self) -> &'a Fields {
        // SAFETY: the caller vouches for the object's life.
        unsafe { self.object.as_ref() }
    }

    #[inline(always)]
    unsafe fn call<const COPY: usize>(self, packet: &Packet) -> Outcome {
        // SAFETY: every handler of a set is a `Generated`, a transparent wrapper of the same `Fields`, so its object is
        // a valid `Generated<0, P>` too; the caller vouches for its life.
        unsafe { self.object.cast::<Generated<0, P>>().as_ref() }.process(packet)
    }
}
