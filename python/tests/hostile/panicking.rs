//! Panics that meet the boundary.

use std::ffi::c_void;

#[path = "nanokata_plugin.rs"]
#[allow(dead_code, reason = "a plugin needs less of the ABI than a host")]
mod nanokata_plugin;

use nanokata_plugin::{ABI_VERSION, Claim, PacketView, PluginApi, PluginResult};

unsafe extern "C" fn claimed_keys(claims: *mut Claim, capacity: u32) -> u32 {
    if capacity > 0 {
        // SAFETY: the host's room.
        unsafe { claims.write(Claim { key: 100, flags: 0 }) };
    }
    1
}

unsafe extern "C" fn create() -> *mut c_void {
    Box::into_raw(Box::new(0_u64)).cast()
}

unsafe extern "C" fn destroy(instance: *mut c_void) {
    // SAFETY: it came from `create`.
    drop(unsafe { Box::from_raw(instance.cast::<u64>()) });
}

#[cfg(not(contained))]
unsafe extern "C" fn process(_: *mut c_void, _: *const PacketView, _: *mut PluginResult) -> i32 {
    panic!("uncontained")
}

#[cfg(contained)]
unsafe extern "C" fn process(_: *mut c_void, _: *const PacketView, _: *mut PluginResult) -> i32 {
    std::panic::catch_unwind(|| panic!("contained")).unwrap_or(nanokata_plugin::ERROR)
}

static API: PluginApi = PluginApi {
    struct_size: size_of::<PluginApi>() as u32,
    abi_version: ABI_VERSION,
    claimed_keys: Some(claimed_keys),
    create: Some(create),
    destroy: Some(destroy),
    process: Some(process),
    process_batch: None,
};

/// The only symbol that is exported.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_plugin() -> *const PluginApi {
    &API
}
