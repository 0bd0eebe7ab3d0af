//! The same plugin behind integers and functions.

use core::ffi::c_void;
use core::slice;

#[allow(dead_code, reason = "a plugin needs less of the ABI than a host")]
mod nanokata_plugin;

use nanokata_plugin::*;

/// All of its packets.
const KEY: u16 = 3000;
/// Those of its packets whose first payload byte is odd.
const RESIDUAL_KEY: u16 = 3001;

/// The host sees its address alone: what is in here is nobody else's, and may be of any type.
struct Tally {
    enabled: bool,
    sums: Vec<u64>,
}

/// How many sums are kept.
const KEPT: usize = 64;

unsafe extern "C" fn claimed_keys(claims: *mut Claim, capacity: u32) -> u32 {
    let mine = [Claim { key: KEY, flags: 0 }, Claim { key: RESIDUAL_KEY, flags: CLAIM_RESIDUAL }];
    for (at, claim) in mine.into_iter().enumerate().take(capacity as usize) {
        // SAFETY: below `capacity`.
        unsafe { claims.add(at).write(claim) };
    }
    mine.len() as u32
}

unsafe extern "C" fn create() -> *mut c_void {
    Box::into_raw(Box::new(Tally { enabled: true, sums: Vec::with_capacity(KEPT) })).cast()
}

unsafe extern "C" fn destroy(instance: *mut c_void) {
    // SAFETY: `create` made it, and nobody uses it any more.
    drop(unsafe { Box::from_raw(instance.cast::<Tally>()) });
}

unsafe extern "C" fn process(
    instance: *mut c_void,
    packet: *const PacketView,
    result: *mut PluginResult,
) -> i32 {
    // SAFETY: `create` made it, and one thread uses it at a time; packet and payload are lent for this call.
    let (tally, packet, payload) = unsafe {
        let packet = &*packet;
        let payload = slice::from_raw_parts(packet.payload, packet.payload_length as usize);
        (&mut *instance.cast::<Tally>(), packet, payload)
    };
    if packet.protocol == RESIDUAL_KEY && payload.first().is_none_or(|first| first % 2 == 0) {
        return NOT_MINE;
    }
    let value = payload.iter().map(|&byte| u64::from(byte)).sum();
    if tally.enabled && tally.sums.len() < tally.sums.capacity() {
        tally.sums.push(value);
    }
    let claim = u16::from(packet.protocol == RESIDUAL_KEY);
    // SAFETY: the host's room for one result.
    unsafe { result.write(PluginResult { value, claim, reserved: 0, status: OK }) };
    OK
}

unsafe extern "C" fn process_batch(
    instance: *mut c_void,
    packets: *const PacketView,
    count: u64,
    results: *mut PluginResult,
) -> i32 {
    for at in 0..count as usize {
        // SAFETY: both arrays hold `count`.
        unsafe {
            let result = results.add(at);
            let status = process(instance, packets.add(at), result);
            (*result).status = status;
        }
    }
    OK
}

static API: PluginApi = PluginApi {
    struct_size: size_of::<PluginApi>() as u32,
    abi_version: ABI_VERSION,
    claimed_keys: Some(claimed_keys),
    create: Some(create),
    destroy: Some(destroy),
    process: Some(process),
    process_batch: Some(process_batch),
};

/// What the host asks for.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_plugin() -> *const PluginApi {
    &API
}
