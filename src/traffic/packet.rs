//! The packet: one 32-byte input record.

use bytemuck::{Pod, Zeroable};

/// Bytes of payload that a packet carries.
pub const PAYLOAD_BYTES: usize = 24;

/// One input record, 32 bytes, little-endian hosts only as far as stored hashes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Packet {
    /// The key that selects a handler.
    pub protocol: u16,
    /// Length of the original packet in bytes.
    pub length: u16,
    /// The conversation that it belongs to.
    pub flow: u32,
    /// Its first bytes; zero beyond the original's end.
    pub payload: [u8; PAYLOAD_BYTES],
}

const _: () = assert!(size_of::<Packet>() == 32);
