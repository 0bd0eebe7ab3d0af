//! The plugin ABI, as plugins take it in, and how much of the struct each edition has.
//!
//! The declarations are in a file that plugins share, beside the C header that says the same; tests hold the two against
//! each other, byte by byte.

#[path = "../../katas/plugin-dispatch/include/nanokata_plugin.rs"]
mod declared;

pub use declared::*;

/// Bytes of the struct in the header's first edition: up to and with `process`.
pub const LEVEL_1_BYTES: u32 = std::mem::offset_of!(PluginApi, process_batch) as u32;
/// The same in this edition: with `process_batch`.
pub const LEVEL_2_BYTES: u32 = size_of::<PluginApi>() as u32;

/// The symbol that a plugin exports.
pub const SYMBOL: &str = "nanokata_plugin";

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(LEVEL_1_BYTES == 40 && LEVEL_2_BYTES == 48);
    assert!(size_of::<PacketView>() == 24 && size_of::<PluginResult>() == 16 && size_of::<Claim>() == 4);
};
