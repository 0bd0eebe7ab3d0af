//! Type erasure by hand: the function's address lies beside the object's.

use std::ptr::NonNull;

use super::Target;
use crate::Result;
use crate::dispatch::generated::{Code, Fields, Process};
use crate::dispatch::{HandlerSpec, Outcome};
use crate::race::Placement;
use crate::race::placement::Keep;
use crate::traffic::Packet;

/// Object and function: slot → function.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::dispatch) struct Erased {
    object: NonNull<Fields>,
    process: Process,
}

// SAFETY: objects are never changed once placed.
unsafe impl Send for Erased {}

// SAFETY: the pointer is to fields that `place` placed, and the function is their own code's.
unsafe impl Target for Erased {
    fn place(
        code: &'static Code,
        id: u16,
        spec: HandlerSpec,
        placement: &mut Placement,
    ) -> Result<(Self, Keep)> {
        let (object, keep) = placement.place(code.fields(id, spec))?.into_parts();
        Ok((Erased { object, process: code.vtable().process }, keep))
    }

    #[inline(always)]
    unsafe fn fields<'a>(self) -> &'a Fields {
        // SAFETY: the caller vouches for the object's life.
        unsafe { self.object.as_ref() }
    }

    #[inline(always)]
    unsafe fn call<const COPY: usize>(self, packet: &Packet) -> Outcome {
        // SAFETY: as above.
        (self.process)(unsafe { self.object.as_ref() }, packet)
    }
}
