//! nanokata's plugin ABI, version 1, as Rust spells it: the same bytes as `nanokata_plugin.h` beside this file.
//!
//! A plugin takes this file in by `#[path]` and depends on nothing else; the host does the same. Compiled with
//! `--cfg nanokata_plugin_level_1` the struct ends after `process`, as in the header's first edition.

use core::ffi::c_void;

/// What the functions mean. Appending a function doesn't change it; changing or removing one does.
pub const ABI_VERSION: u32 = 1;

/// The packet was processed.
pub const OK: i32 = 0;
/// The packet isn't this plugin's: only under a residual claim.
pub const NOT_MINE: i32 = 1;
/// It couldn't be processed; so says any other negative number.
pub const ERROR: i32 = -1;

/// Flag of a claim whose packets are the plugin's only if `process` doesn't say [`NOT_MINE`].
pub const CLAIM_RESIDUAL: u16 = 1;

/// One packet, lent for the duration of the call: 24 bytes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct PacketView {
    /// Its first bytes.
    pub payload: *const u8,
    /// How many of them there are.
    pub payload_length: u32,
    /// The conversation that it belongs to.
    pub flow: u32,
    /// The key.
    pub protocol: u16,
    /// Bytes of the original packet.
    pub length: u16,
    /// Zero.
    pub reserved: u32,
}

/// What became of one packet: 16 bytes, in the host's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PluginResult {
    /// What was computed.
    pub value: u64,
    /// Which claim it fell under: its place in what `claimed_keys` wrote, from 0.
    pub claim: u16,
    /// Zero.
    pub reserved: u16,
    /// Written by `process_batch`, for each packet; `process` returns it instead.
    pub status: i32,
}

/// One key that the plugin handles: 4 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Claim {
    /// The protocol number.
    pub key: u16,
    /// 0 or [`CLAIM_RESIDUAL`].
    pub flags: u16,
}

/// How many keys there are; writes the first of them.
pub type ClaimedKeys = unsafe extern "C" fn(claims: *mut Claim, capacity: u32) -> u32;
/// A new instance, or null.
pub type Create = unsafe extern "C" fn() -> *mut c_void;
/// Ends an instance.
pub type Destroy = unsafe extern "C" fn(instance: *mut c_void);
/// Works on one packet.
pub type Process =
    unsafe extern "C" fn(instance: *mut c_void, packet: *const PacketView, result: *mut PluginResult) -> i32;
/// Works on several.
pub type ProcessBatch = unsafe extern "C" fn(
    instance: *mut c_void,
    packets: *const PacketView,
    count: u64,
    results: *mut PluginResult,
) -> i32;

/// The functions: 40 bytes at level 1, 48 at level 2, with 8-byte pointers. A null pointer is `None`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct PluginApi {
    /// Its size in the build that made it: how much of the struct there is.
    pub struct_size: u32,
    /// [`ABI_VERSION`]: what a size can't say.
    pub abi_version: u32,
    /// How many keys the plugin handles, and which.
    pub claimed_keys: Option<ClaimedKeys>,
    /// Makes an instance.
    pub create: Option<Create>,
    /// Ends one.
    pub destroy: Option<Destroy>,
    /// Works on one packet whose key it claimed.
    pub process: Option<Process>,
    /// The same for several packets.
    #[cfg(not(nanokata_plugin_level_1))]
    pub process_batch: Option<ProcessBatch>,
}

// SAFETY: a table of functions that is never written.
unsafe impl Sync for PluginApi {}

/// The function that a plugin exports as `nanokata_plugin`.
pub type EntryPoint = unsafe extern "C" fn() -> *const PluginApi;
