//! Through Rust's trait object: the vtable's address lies beside the object's.

use std::ptr::NonNull;

use super::{Call, Target};
use crate::Result;
use crate::dispatch::generated::{Code, Fields};
use crate::dispatch::{Handler, HandlerSpec, Outcome};
use crate::race::Placement;
use crate::race::placement::Keep;
use crate::traffic::Packet;

/// `handler.process(packet)` through the vtable: one indirect call, whose target the predictor must guess.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatch) struct DynTrait;

impl Call for DynTrait {
    #[inline(always)]
    fn call(handler: &dyn Handler, packet: &Packet) -> Outcome {
        handler.process(packet)
    }
}

/// A fat pointer: slot → vtable → function.
#[derive(Clone, Copy)]
pub(in crate::dispatch) struct FatPointer(NonNull<dyn Handler>);

// SAFETY: handlers are `Sync` and never changed once placed.
unsafe impl Send for FatPointer {}

// SAFETY: the pointer is to fields that `place` placed, paired with the vtable of their own code.
unsafe impl Target for FatPointer {
    fn place(
        code: &'static Code,
        id: u16,
        spec: HandlerSpec,
        placement: &mut Placement,
    ) -> Result<(Self, Keep)> {
        let (fields, keep) = placement.place(code.fields(id, spec))?.into_parts();
        Ok((FatPointer(code.attach(fields)), keep))
    }

    #[inline(always)]
    unsafe fn fields<'a>(self) -> &'a Fields {
        // SAFETY: every handler is a transparent wrapper of its fields; the caller vouches for their life.
        unsafe { self.0.cast::<Fields>().as_ref() }
    }

    #[inline(always)]
    unsafe fn call<const COPY: usize>(self, packet: &Packet) -> Outcome {
        // SAFETY: the caller vouches for the object's life.
        unsafe { self.0.as_ref() }.process(packet)
    }
}
