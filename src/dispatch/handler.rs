//! What a handler is, and what running one returns.

use crate::traffic::Packet;

/// The handler number of a packet that no handler took.
pub const NO_HANDLER: u16 = 0xFFFF;

/// What comes out for a packet that no handler takes.
pub const UNSUPPORTED: Outcome = Outcome { value: 0, handler: NO_HANDLER };

/// What processing one packet gives: two scalars, so that it returns in two registers and never through memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Outcome {
    /// What the body computed.
    pub value: u64,
    /// Who computed it; [`NO_HANDLER`] for nobody.
    pub handler: u16,
}

/// Knows one protocol. The one interface that every selection and mechanism works through.
pub trait Handler: Send + Sync {
    /// Whether this packet is this handler's.
    fn matches(&self, packet: &Packet) -> bool;
    /// The handler's work, under its number: its position in [`HandlerSet::specs`](super::HandlerSet::specs), whatever
    /// the order.
    ///
    /// By C's calling convention, so that arms in other languages call the very same code; it returns in two registers as
    /// Rust's own does.
    extern "C" fn process(&self, packet: &Packet) -> Outcome;
}
