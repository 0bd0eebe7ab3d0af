//! Captures: the packets of a pcap or pcapng file.

mod error;

use std::path::Path;

pub use error::CaptureError;

use super::Packet;
use crate::Result;
use crate::race::Watch;

/// Which 16 bits of a captured packet are its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRule {
    /// The IP protocol number; IPv6 extension headers are passed over.
    IpProtocol,
    /// The destination port of TCP or UDP.
    DestinationPort,
    /// The big-endian 16-bit word at `offset` of the captured frame, link header included, and `mask`.
    Bytes {
        /// Where it starts.
        offset: usize,
        /// Which of its bits count.
        mask: u16,
    },
}

/// What a capture held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// One a frame that has a key, in file order.
    pub packets: Vec<Packet>,
    /// Frames in the file.
    pub frames: usize,
    /// Frames without such a key (ARP under [`KeyRule::IpProtocol`]): not among the packets.
    pub skipped: usize,
    /// Packets whose payload was longer than the 24 bytes that are kept.
    pub cut_payloads: usize,
    /// Frames of which the file holds fewer bytes than went over the wire.
    pub cut_frames: usize,
}

/// Reads.
pub fn read_capture(_path: &Path, _rule: KeyRule, _watch: &Watch) -> Result<Capture> {
    unimplemented!()
}
