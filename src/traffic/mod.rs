//! Traffic: packets, the laws that draw them, and captures.

pub mod packet;

pub use packet::Packet;

/// A packet capture that can't be used.
#[derive(Debug, thiserror::Error)]
#[error("placeholder")]
pub struct CaptureError;
