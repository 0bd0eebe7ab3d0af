//! What can be wrong with a capture.

use std::path::PathBuf;

/// A packet capture that can't be used; nothing of it is returned.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// Absent, not allowed, a directory, or the read failed.
    #[error("can't read the capture {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's own error.
        source: std::io::Error,
    },
    /// A file of no bytes.
    #[error("{} is empty: wanted a pcap or pcapng file", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Neither pcap nor pcapng.
    #[error("{} is no capture: it starts with {first_bytes}, {hint}", path.display())]
    NotACapture {
        /// The file.
        path: PathBuf,
        /// Its first bytes, in hexadecimal.
        first_bytes: String,
        /// What that looks like, or what was wanted.
        hint: &'static str,
    },
    /// The file ends inside a record.
    #[error(
        "{} is truncated: it ends at byte {end}, inside the record that starts at byte {record_start}, after \
         {whole_packets} whole packets; capture it again, or cut it to that byte",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Packets before the broken record.
        whole_packets: usize,
        /// Where the broken record (or header) starts.
        record_start: u64,
        /// Bytes of the file.
        end: u64,
    },
    /// The file's structure is broken, or older than what is read.
    #[error("{} is broken at byte {at}, after {whole_packets} whole packets: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Packets before it.
        whole_packets: usize,
        /// Where the offending record starts.
        at: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Packets of a kind of link that isn't read.
    #[error(
        "{} holds packets of link type {link_type}, which isn't read: wanted Ethernet (1), raw IP (101, 228, 229), \
         Linux cooked (113, 276) or loopback (0, 108)",
        path.display()
    )]
    UnsupportedLinkType {
        /// The file.
        path: PathBuf,
        /// The number, as in the registry of link types that tcpdump.org keeps.
        link_type: u16,
    },
    /// A well-formed capture without a packet that has such a key.
    #[error("none of the {frames} packets in {} has {wanted}", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
        /// Packets looked at.
        frames: usize,
        /// The key that was looked for.
        wanted: String,
    },
    /// More packets than memory.
    #[error(
        "the packets of {} need {needed_bytes} bytes, {available_bytes} are available: use a shorter capture",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes needed so far.
        needed_bytes: u64,
        /// Bytes available.
        available_bytes: u64,
    },
}

impl CaptureError {
    /// What a file that is no capture looks like from its first bytes.
    pub(super) fn hint(first_bytes: &[u8]) -> &'static str {
        match first_bytes {
            [0x1f, 0x8b, ..] => "which is gzip: decompress it first",
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "which is Zstandard: decompress it first",
            [0xfd, b'7', b'z', ..] => "which is xz: decompress it first",
            [b'B', b'Z', b'h', ..] => "which is bzip2: decompress it first",
            [b'P', b'K', ..] => "which is a zip archive: unpack it first",
            _ => "wanted a pcap or pcapng file",
        }
    }
}
