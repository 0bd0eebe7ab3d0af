//! The work itself, as the host does it: what the example plugins compute, by the host's own bodies.

use crate::dispatch::Outcome;
use crate::dispatch::body::{Program, Tiny};
use crate::plugin::abi::{self, PacketView, PluginResult};
use crate::traffic::packet::PAYLOAD_BYTES;

/// How many handlers there are.
pub(super) const HANDLERS: usize = 4;
/// Which bits of the first byte the last handler looks at, and what they must be.
pub(super) const RESIDUAL_BITS: u8 = 3;

/// What comes of a packet, `first` being the first handler's key; `None` if it is nobody's.
#[inline(always)]
pub(super) fn serve(first: u16, protocol: u16, payload: &[u8; PAYLOAD_BYTES]) -> Option<Outcome> {
    let handler = protocol.wrapping_sub(first);
    let value = match handler {
        0 => Tiny::value::<0>(payload),
        1 => Tiny::value::<1>(payload),
        2 => Tiny::value::<2>(payload),
        3 if payload[0] & RESIDUAL_BITS == RESIDUAL_BITS => Tiny::value::<3>(payload),
        _ => return None,
    };
    Some(Outcome { value, handler })
}

/// The same by the plugin ABI's own terms.
///
/// # Safety
/// The view's payload must be readable for as many bytes as it says.
#[inline(always)]
unsafe fn serve_view(first: u16, view: &PacketView, result: &mut PluginResult) -> i32 {
    if (view.payload_length as usize) < PAYLOAD_BYTES {
        return abi::ERROR;
    }
    // SAFETY: there are at least as many bytes.
    let payload = unsafe { &*view.payload.cast::<[u8; PAYLOAD_BYTES]>() };
    match serve(first, view.protocol, payload) {
        Some(Outcome { value, handler }) => {
            *result = PluginResult { value, claim: handler, reserved: 0, status: abi::OK };
            abi::OK
        }
        None => abi::NOT_MINE,
    }
}

/// What an example plugin's `process_batch` does, done by the host: each packet's result and status. Inlined, so that
/// whoever calls it can have as many copies of it as of itself.
///
/// # Safety
/// Each view's payload must be readable for as many bytes as it says.
#[inline(always)]
pub unsafe fn serve_batch(first: u16, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
    for (view, result) in views.iter().zip(results) {
        // SAFETY: the caller vouches for the payload.
        result.status = unsafe { serve_view(first, view, result) };
    }
    abi::OK
}
