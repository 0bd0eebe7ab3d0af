//! Placed handlers as code from elsewhere calls them: an object, and the very function that the built-in arms call.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::generated::{Code, Process};
use super::{HandlerSet, HandlerSpec};
use crate::Result;
use crate::race::Placement;
use crate::race::placement::Keep;

/// One handler.
pub(crate) struct Callable {
    /// What it matches.
    pub spec: HandlerSpec,
    /// What it signs its results with.
    pub signature: u16,
    /// Its object.
    pub object: NonNull<c_void>,
    /// Its `process`, by C's calling convention: the address of an `extern "C" fn(object, packet) -> Outcome`.
    pub process: *const c_void,
    /// Keeps the object.
    pub keep: Keep,
}

/// Places the built-in handlers of a set, in registration order.
///
/// # Errors
/// [`Error::Os`](crate::Error::Os) where memory can't be mapped.
pub(crate) fn callables(set: &HandlerSet, placement: &mut Placement) -> Result<Vec<Callable>> {
    let built_in = set.registered().filter(|&(id, _)| id < set.built_in());
    let place = |(id, spec): (usize, HandlerSpec)| {
        let (code, signature) = (Code::of(set.body(), id), set.signature(id));
        let (object, keep) = placement.place(code.fields(signature, spec))?.into_parts();
        let process: Process = code.vtable().process;
        Ok(Callable { spec, signature, object: object.cast(), process: process as *const c_void, keep })
    };
    built_in.map(place).collect()
}
