//! The four handlers that each of the example plugins in Rust consists of.

use crate::nanokata_body::tiny;
use crate::nanokata_plugin::{CLAIM_RESIDUAL, Claim, ERROR, NOT_MINE, OK, PacketView, PluginResult};

const HANDLERS: u32 = 4;

/// Writes the keys from `first` on, of which the last is tested further.
///
/// # Safety
/// `claims` must have room for `capacity` of them.
pub unsafe fn claim_handlers(first: u16, claims: *mut Claim, capacity: u32) -> u32 {
    for at in 0..HANDLERS.min(capacity) {
        let flags = if at == HANDLERS - 1 { CLAIM_RESIDUAL } else { 0 };
        // SAFETY: below `capacity`.
        unsafe { claims.add(at as usize).write(Claim { key: first + at as u16, flags }) };
    }
    HANDLERS
}

/// Handler `key - first`: what the host's own tiny handler of that number computes.
///
/// # Safety
/// Both must point to what they say, and the view's payload to as many bytes as it says.
#[inline(always)]
pub unsafe fn run_handler(first: u16, packet: *const PacketView, result: *mut PluginResult) -> i32 {
    // SAFETY: lent by the host for this call.
    let packet = unsafe { &*packet };
    if packet.payload_length < 24 {
        return ERROR;
    }
    // SAFETY: there are at least 24 bytes.
    let payload = unsafe { &*packet.payload.cast::<[u8; 24]>() };
    let claim = packet.protocol.wrapping_sub(first);
    let value = match claim {
        0 => tiny::<0>(payload),
        1 => tiny::<1>(payload),
        2 => tiny::<2>(payload),
        3 if payload[0] & 3 == 3 => tiny::<3>(payload),
        _ => return NOT_MINE,
    };
    // SAFETY: the host's room for one result.
    unsafe { result.write(PluginResult { value, claim, reserved: 0, status: OK }) };
    OK
}
