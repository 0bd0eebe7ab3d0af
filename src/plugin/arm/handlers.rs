//! A set of handlers as arms of others' see it: keys, residual predicates, and the very code that built-in arms call.

use std::ffi::c_void;

use super::abi;
use crate::dispatch::callable::callables;
use crate::dispatch::{Body, HandlerSet, Residual};
use crate::race::placement::Keep;
use crate::race::{PlacedSlice, Placement};
use crate::{Error, Result};

/// What an arm is handed, and what that refers to.
pub struct Handed {
    pub handlers: PlacedSlice<abi::Handler>,
    _keep: Vec<Keep>,
}

// SAFETY: handlers' objects are plain data that nobody writes, and their code is this library's own.
unsafe impl Send for Handed {}

/// Why a set can't be handed to an arm; `None` if it can.
pub fn refuses(set: &HandlerSet) -> Option<Error> {
    (set.built_in() < set.len()).then(|| {
        let wanted =
            "built-in handlers only: what a plugin's predicate accepts can't be written down for another arm";
        Error::invalid("handlers", "a set with a plugin", wanted)
    })
}

/// Places the objects of a set and the list that arms get.
///
/// # Errors
/// [`Error::Os`] where memory can't be mapped.
pub fn hand(set: &HandlerSet, placement: &mut Placement) -> Result<Handed> {
    let (mut handlers, mut keep) = (Vec::with_capacity(set.len()), Vec::with_capacity(set.len()));
    for callable in callables(set, placement)? {
        let (residual, offset, first, second, active) = match callable.spec.residual {
            // Sets with a plugin's are refused before.
            Residual::None | Residual::Opaque => (abi::RESIDUAL_NONE, 0, 0, 0, 0),
            Residual::Mask { offset, mask, value } => (abi::RESIDUAL_MASK, offset, mask, value, 0),
            Residual::Range { offset, low, high } => (abi::RESIDUAL_RANGE, offset, low, high, 0),
            Residual::Flow { active } => (abi::RESIDUAL_FLOW, 0, 0, 0, active),
        };
        handlers.push(abi::Handler {
            key: callable.spec.key,
            number: callable.signature,
            residual,
            offset,
            first,
            second,
            active,
            object: callable.object.as_ptr(),
            // SAFETY: the address of a function of that type, but for the names of its structs: object, packet and
            // outcome are laid out alike on both sides, which tests assert.
            process: unsafe { std::mem::transmute::<*const c_void, abi::Work>(callable.process) },
        });
        keep.push(callable.keep);
    }
    Ok(Handed { handlers: placement.place_slice(&handlers, 64)?, _keep: keep })
}

/// The number of a kind of bodies.
pub fn body(set: &HandlerSet) -> u32 {
    match set.body() {
        Body::Fat => abi::BODY_FAT,
        Body::Tiny => abi::BODY_TINY,
        Body::Identical => abi::BODY_IDENTICAL,
    }
}
