//! As C++ lays it out: the object begins with its vtable's address.

use std::ptr::NonNull;

use super::Target;
use crate::Result;
use crate::dispatch::generated::{Code, Fields, Vtable};
use crate::dispatch::{HandlerSpec, Outcome};
use crate::race::Placement;
use crate::race::placement::Keep;
use crate::traffic::Packet;

/// An object that carries its own vtable's address.
#[derive(Clone, Copy)]
#[repr(C)]
struct Object {
    vtable: &'static Vtable,
    fields: Fields,
}

/// A thin pointer: slot → object → vtable → function.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::dispatch) struct Thin {
    object: NonNull<Object>,
    /// Keeps slots as large as those of the others, which need both words. Never read.
    _room: usize,
}

// SAFETY: objects are never changed once placed.
unsafe impl Send for Thin {}

// SAFETY: the pointer is to an object that `place` placed, with the vtable of its own code.
unsafe impl Target for Thin {
    fn place(
        code: &'static Code,
        id: u16,
        spec: HandlerSpec,
        placement: &mut Placement,
    ) -> Result<(Self, Keep)> {
        let object = Object { vtable: code.vtable(), fields: code.fields(id, spec) };
        let (object, keep) = placement.place(object)?.into_parts();
        Ok((Thin { object, _room: 0 }, keep))
    }

    #[inline(always)]
    unsafe fn fields<'a>(self) -> &'a Fields {
        // SAFETY: the caller vouches for the object's life.
        &unsafe { self.object.as_ref() }.fields
    }

    #[inline(always)]
    unsafe fn call<const COPY: usize>(self, packet: &Packet) -> Outcome {
        // SAFETY: as above.
        let object = unsafe { self.object.as_ref() };
        (object.vtable.process)(&object.fields, packet)
    }
}
