//! Captures: the packets of a pcap or pcapng file.

mod error;
mod frame;
mod records;
mod source;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use error::CaptureError;
use frame::decode;
use records::{Frame, Records, Stop};

use super::Packet;
use super::packet::PAYLOAD_BYTES;
use crate::machine::memory;
use crate::race::Watch;
use crate::{Error, Result};

/// Which 16 bits of a captured frame are its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRule {
    /// The IP protocol number. Authentication headers and IPv6 extension headers are passed over.
    IpProtocol,
    /// The destination port of TCP or UDP; of fragments, only the first has one.
    DestinationPort,
    /// The big-endian 16-bit word at `offset` of the captured frame, link header included, masked.
    Bytes {
        /// Where it starts.
        offset: usize,
        /// Which of its bits count; at least one.
        mask: u16,
    },
}

impl std::fmt::Display for KeyRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeyRule::IpProtocol => write!(f, "an IP protocol"),
            KeyRule::DestinationPort => write!(f, "a TCP or UDP destination port"),
            KeyRule::Bytes { offset, .. } => write!(f, "bytes {offset} and {}", offset.saturating_add(1)),
        }
    }
}

/// What a capture held.
///
/// In each packet: `protocol` is the key; `length` the frame's length on the wire, at most 65,535; `flow` a stable
/// hash of addresses, ports and protocol (0 without IP); `payload` the first 24 bytes of what TCP or UDP carries,
/// else of what IP carries, else of what the link carries, zero-padded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// One a frame that has a key, in file order.
    pub packets: Vec<Packet>,
    /// Frames in the file.
    pub frames: usize,
    /// Frames without such a key (ARP under [`KeyRule::IpProtocol`]): not among the packets.
    pub skipped: usize,
    /// Packets with more payload in the file than the 24 bytes that are kept.
    pub cut_payloads: usize,
    /// Frames of which the file holds fewer bytes than went over the wire.
    pub cut_frames: usize,
}

/// Records between two looks at the stop flag, and the least room that is made for packets.
const CHUNK: usize = 1024;

/// Reads a whole pcap (micro- or nanoseconds, either byte order) or pcapng file (any number of sections and
/// interfaces), streaming: only the packets are kept in memory.
///
/// Link types: Ethernet with VLAN tags, raw IP, Linux cooked (both), loopback (both). A file that is cut exactly
/// between two records can't be told from a shorter capture, and is read as that; cut anywhere else, it is refused.
///
/// # Errors
/// [`Error::Capture`] with a [`CaptureError`]; nothing of an unusable file is returned. [`Error::InvalidArgument`]
/// for a mask without bits. [`Error::Interrupted`].
pub fn read_capture(path: &Path, rule: KeyRule, watch: &Watch) -> Result<Capture> {
    if let KeyRule::Bytes { mask: 0, .. } = rule {
        return Err(Error::invalid("mask", 0, "wanted at least one bit, or every key is 0"));
    }
    let unreadable = |source| CaptureError::Unreadable { path: path.to_owned(), source };
    // Before it is opened: a pipe that nobody writes to would wait there, deaf to any stop.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(unreadable(std::io::Error::other("not a regular file")).into());
    }
    let file = File::open(path).map_err(unreadable)?;
    let file_bytes = metadata.len();
    let reading = Reading { path, rule, watch, file_bytes, available: memory::available_bytes };
    reading.read(file)
}

/// What stays the same while a capture is read.
struct Reading<'a> {
    path: &'a Path,
    rule: KeyRule,
    watch: &'a Watch,
    /// For progress.
    file_bytes: u64,
    available: fn() -> Option<u64>,
}

impl Reading<'_> {
    fn read(&self, stream: impl Read) -> Result<Capture> {
        let mut capture =
            Capture { packets: Vec::new(), frames: 0, skipped: 0, cut_payloads: 0, cut_frames: 0 };
        let mut records = Records::open(stream).map_err(|stop| self.refusal(stop, 0))?;
        for record in 0usize.. {
            if record.is_multiple_of(CHUNK) {
                self.watch.check()?;
                self.watch.advance(records.offset() as f64 / self.file_bytes.max(1) as f64);
            }
            let frames = capture.frames;
            match records
                .next(|frame| self.add(frame, &mut capture))
                .map_err(|stop| self.refusal(stop, frames))?
            {
                None => break,
                Some(added) => added.transpose()?,
            };
        }
        if capture.packets.is_empty() {
            let wanted = self.rule.to_string();
            return Err(
                CaptureError::NoKey { path: self.path.to_owned(), frames: capture.frames, wanted }.into()
            );
        }
        self.watch.advance(1.0);
        Ok(capture)
    }

    fn add(&self, frame: Frame, capture: &mut Capture) -> Result<()> {
        let Some(decoded) = decode(frame.link_type, frame.bytes) else {
            let link_type = frame.link_type;
            return Err(CaptureError::UnsupportedLinkType { path: self.path.to_owned(), link_type }.into());
        };
        capture.frames += 1;
        capture.cut_frames += usize::from((frame.bytes.len() as u64) < u64::from(frame.wire_bytes));
        let key = match self.rule {
            KeyRule::IpProtocol => decoded.ip.map(|ip| u16::from(ip.protocol)),
            KeyRule::DestinationPort => {
                decoded.ip.and_then(|ip| ip.ports).map(|(_, destination)| destination)
            }
            KeyRule::Bytes { offset, mask } => {
                let word = frame.bytes.get(offset..).and_then(|rest| rest.first_chunk::<2>());
                word.map(|word| u16::from_be_bytes(*word) & mask)
            }
        };
        let Some(protocol) = key else {
            capture.skipped += 1;
            return Ok(());
        };
        let kept = decoded.payload.len().min(PAYLOAD_BYTES);
        let mut payload = [0; PAYLOAD_BYTES];
        payload[..kept].copy_from_slice(&decoded.payload[..kept]);
        capture.cut_payloads += usize::from(decoded.payload.len() > PAYLOAD_BYTES);
        // Some writers leave the wire length at zero; what was captured went over the wire in any case.
        let length = u16::try_from((frame.wire_bytes as usize).max(frame.bytes.len())).unwrap_or(u16::MAX);
        let flow = decoded.ip.map_or(0, |ip| ip.flow());
        self.make_room(&mut capture.packets)?;
        capture.packets.push(Packet { protocol, length, flow, payload });
        Ok(())
    }

    /// Doubles the room for packets when it is used up, if there is memory for that.
    fn make_room(&self, packets: &mut Vec<Packet>) -> Result<()> {
        if packets.len() < packets.capacity() {
            return Ok(());
        }
        let more = packets.len().max(CHUNK);
        let available = (self.available)();
        // Growing may copy: for a moment there are the old and the new.
        let needed_bytes = ((packets.len() + more) * size_of::<Packet>()) as u64;
        let fits = available.is_none_or(|bytes| needed_bytes <= bytes);
        if fits && packets.try_reserve_exact(more).is_ok() {
            return Ok(());
        }
        let available_bytes = available.unwrap_or(0);
        Err(CaptureError::TooLarge { path: self.path.to_owned(), needed_bytes, available_bytes }.into())
    }

    fn refusal(&self, stop: Stop, whole_packets: usize) -> Error {
        let path = self.path.to_owned();
        Error::from(match stop {
            Stop::Io(source) => CaptureError::Unreadable { path, source },
            Stop::Empty => CaptureError::Empty { path },
            Stop::NotACapture { first_bytes } => {
                let hint = CaptureError::hint(&first_bytes);
                let first_bytes: Vec<String> = first_bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                CaptureError::NotACapture { path, first_bytes: first_bytes.join(" "), hint }
            }
            Stop::Truncated { record_start, end } => {
                CaptureError::Truncated { path, whole_packets, record_start, end }
            }
            Stop::Malformed { at, reason } => CaptureError::Malformed { path, whole_packets, at, reason },
        })
    }
}

#[cfg(test)]
mod capture_file;
#[cfg(test)]
mod tests;
