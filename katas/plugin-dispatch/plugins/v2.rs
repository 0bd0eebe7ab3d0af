//! A plugin in Rust, built against the present ABI: with `process_batch`.
//!
//! Without the standard library: it links to C's allocator alone, and exports one symbol.

#![no_std]

use core::ffi::c_void;

mod handlers;
mod memory;
#[path = "../include/nanokata_body.rs"]
mod nanokata_body;
#[path = "../include/nanokata_plugin.rs"]
#[allow(dead_code, reason = "a plugin needs less of the ABI than a host")]
mod nanokata_plugin;

use handlers::{claim_handlers, run_handler};
use memory::{Instance, create, destroy};
use nanokata_plugin::{ABI_VERSION, Claim, OK, PacketView, PluginApi, PluginResult};

const FIRST_KEY: u16 = 2010;

unsafe extern "C" fn claimed_keys(claims: *mut Claim, capacity: u32) -> u32 {
    // SAFETY: the host's room.
    unsafe { claim_handlers(FIRST_KEY, claims, capacity) }
}

unsafe extern "C" fn process(instance: *mut c_void, packet: *const PacketView, result: *mut PluginResult) -> i32 {
    // SAFETY: it came from `create`, and one thread uses it at a time; packet and result are the host's.
    unsafe {
        (*instance.cast::<Instance>()).processed += 1;
        run_handler(FIRST_KEY, packet, result)
    }
}

unsafe extern "C" fn process_batch(
    instance: *mut c_void,
    packets: *const PacketView,
    count: u64,
    results: *mut PluginResult,
) -> i32 {
    // SAFETY: it came from `create`, and one thread uses it at a time.
    unsafe { (*instance.cast::<Instance>()).processed += count };
    for at in 0..count as usize {
        // SAFETY: both arrays hold `count`.
        unsafe {
            let result = results.add(at);
            let status = run_handler(FIRST_KEY, packets.add(at), result);
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

/// The only symbol that is exported.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_plugin() -> *const PluginApi {
    &API
}
