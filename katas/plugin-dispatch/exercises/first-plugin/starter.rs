//! A first plugin. No host takes it yet: see README.md.

use core::ffi::c_void;
use core::slice;

#[allow(dead_code, reason = "a plugin needs less of the ABI than a host")]
mod nanokata_plugin;

use nanokata_plugin::*;

/// All of its packets.
const KEY: u16 = 3000;
/// Those of its packets whose first payload byte is odd.
const RESIDUAL_KEY: u16 = 3001;

struct Tally {
    processed: u64,
}

unsafe extern "C" fn claimed_keys(claims: *mut Claim, capacity: u32) -> u32 {
    if capacity == 0 {
        return 1;
    }
    let mine = [Claim { key: KEY, flags: 0 }, Claim { key: RESIDUAL_KEY, flags: 0 }];
    for (at, claim) in mine.into_iter().enumerate().take(capacity as usize) {
        // SAFETY: below `capacity`.
        unsafe { claims.add(at).write(claim) };
    }
    2
}

unsafe extern "C" fn create() -> *mut c_void {
    Box::into_raw(Box::new(Tally { processed: 0 })).cast()
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
    tally.processed += 1;
    let value = payload.iter().map(|&byte| u64::from(byte)).sum();
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
    destroy: None,
    process: Some(process),
    process_batch: Some(process_batch),
};

/// What the host asks for.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_plugin() -> *const PluginApi {
    &API
}
