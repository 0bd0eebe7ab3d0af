//! nanokata's ABI of whole arms and of selections, version 1, as Rust spells it: the same bytes as `nanokata_arm.h` beside
//! this file.
//!
//! An arm takes this file in by `#[path]` and depends on nothing else; the host does the same.

use core::ffi::c_void;

/// What the functions mean.
pub const ARM_ABI_VERSION: u32 = 1;

/// What `select` writes where nobody runs, and what a whole arm folds there, with a value of 0.
pub const NO_HANDLER: u16 = 0xFFFF;

/// One packet: 32 bytes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Packet {
    /// The key.
    pub protocol: u16,
    /// Bytes of the original packet.
    pub length: u16,
    /// The conversation that it belongs to.
    pub flow: u32,
    /// Its first bytes.
    pub payload: [u8; 24],
}

/// What a handler's work comes to: 16 bytes, returned in two registers.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Outcome {
    /// What was computed.
    pub value: u64,
    /// The number of the handler that computed it.
    pub handler: u16,
}

/// Nothing is tested besides the key.
pub const RESIDUAL_NONE: u8 = 0;
/// `payload[offset] & first == second`.
pub const RESIDUAL_MASK: u8 = 1;
/// `first <= payload[offset] && payload[offset] <= second`.
pub const RESIDUAL_RANGE: u8 = 2;
/// Bit `flow & 63` of `active` is set.
pub const RESIDUAL_FLOW: u8 = 3;

/// A handler's work.
pub type Work = unsafe extern "C" fn(object: *const c_void, packet: *const Packet) -> Outcome;

/// One handler: 32 bytes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Handler {
    /// The protocol that it wants.
    pub key: u16,
    /// What its results are signed with, whatever its place in the order.
    pub number: u16,
    /// One of `RESIDUAL_…`.
    pub residual: u8,
    /// Below 24.
    pub offset: u8,
    /// See `residual`.
    pub first: u8,
    /// See `residual`.
    pub second: u8,
    /// For [`RESIDUAL_FLOW`].
    pub active: u64,
    /// To be handed to `process`.
    pub object: *const c_void,
    /// Its work, the very code that the built-in arms call.
    pub process: Work,
}

/// Bodies of about 1.8 KiB.
pub const BODY_FAT: u32 = 0;
/// Bodies of two rounds.
pub const BODY_TINY: u32 = 1;
/// Every handler computes what fat handler 0 does.
pub const BODY_IDENTICAL: u32 = 2;

/// What an arm is made for. Everything that is pointed to lives until the arm is destroyed, and is never written.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ArmInput {
    /// Its size in the host.
    pub struct_size: u32,
    /// One of `BODY_…`.
    pub body: u32,
    /// The pool, aligned to a cache line; null for a selection.
    pub packets: *const Packet,
    /// How many.
    pub packet_count: u64,
    /// In registration order.
    pub handlers: *const Handler,
    /// 1 to 1024.
    pub handler_count: u64,
    /// Another in each block: lay out tables by it, if you can.
    pub placement_seed: u64,
}

/// Builds an arm, or returns null if it can't be built for this input. Not timed.
pub type Create = unsafe extern "C" fn(input: *const ArmInput) -> *mut c_void;
/// Frees it.
pub type Destroy = unsafe extern "C" fn(arm: *mut c_void);
/// Dispatches packets `first` … `first + count - 1` and returns the fold of their outcomes, begun from [`CHECKSUM_EMPTY`].
pub type Run = unsafe extern "C" fn(arm: *mut c_void, first: u64, count: u64) -> u64;
/// For each packet, writes the place in `handlers` of the one that runs, from 0, or [`NO_HANDLER`].
pub type Select =
    unsafe extern "C" fn(selection: *mut c_void, packets: *const Packet, count: u64, places: *mut u16);

/// A whole arm: 32 bytes. A null pointer is `None`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ArmApi {
    /// Its size.
    pub struct_size: u32,
    /// [`ARM_ABI_VERSION`].
    pub abi_version: u32,
    /// Builds it.
    pub create: Option<Create>,
    /// Frees it.
    pub destroy: Option<Destroy>,
    /// What is timed.
    pub run: Option<Run>,
}

/// Selection alone: 32 bytes. A null pointer is `None`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SelectApi {
    /// Its size.
    pub struct_size: u32,
    /// [`ARM_ABI_VERSION`].
    pub abi_version: u32,
    /// Builds it.
    pub create: Option<Create>,
    /// Frees it.
    pub destroy: Option<Destroy>,
    /// What is timed.
    pub select: Option<Select>,
}

// SAFETY: a table of functions that is never written.
unsafe impl Sync for ArmApi {}
// SAFETY: as above.
unsafe impl Sync for SelectApi {}

/// The fold of no outcome: FNV-1a's 64-bit offset basis (Fowler, Noll and Vo).
pub const CHECKSUM_EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Folds one more outcome: its value, and at the top the number of who computed it.
#[inline(always)]
pub fn fold(checksum: u64, value: u64, handler: u16) -> u64 {
    (checksum ^ value ^ (handler as u64) << 48).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}
