//! A plugin in Rust, built against the first edition of the ABI (`--cfg nanokata_plugin_level_1`): no `process_batch`, and
//! a struct that ends before it.
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
use nanokata_plugin::{ABI_VERSION, Claim, PacketView, PluginApi, PluginResult};

const FIRST_KEY: u16 = 2000;

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

static API: PluginApi = PluginApi {
    struct_size: size_of::<PluginApi>() as u32,
    abi_version: ABI_VERSION,
    claimed_keys: Some(claimed_keys),
    create: Some(create),
    destroy: Some(destroy),
    process: Some(process),
};

/// The only symbol that is exported.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_plugin() -> *const PluginApi {
    &API
}
