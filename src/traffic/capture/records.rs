//! From a file's bytes to its frames: pcap and pcapng, either byte order.
//!
//! The layouts are those of draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. Records are measured here and
//! parsed by `pcap-parser`, one whole record at a time, so that "more bytes wanted" from the parser can only mean a
//! record that contradicts itself, while a file that ends inside a record is told apart beforehand.

use std::io::Read;

use pcap_parser::{
    Block, PcapHeader, parse_block_be, parse_block_le, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_frame_modified, parse_pcap_header,
};

use super::source::Source;

/// Largest record. libpcap keeps at most 256 KiB of a frame on the links that are read here (`MAXIMUM_SNAPLEN`), and
/// refuses pcapng blocks past 16 MiB (`INITIAL_MAX_BLOCKSIZE` in its `sf-pcapng.c`). Anything above is a broken length
/// field, and not worth the memory.
const MOST_RECORD_BYTES: u64 = 16 << 20;

/// `pcap_parser` gives type 2 (the Packet Block that pcapng dropped) as unknown; it holds packets, so it can't be
/// passed over in silence.
const OBSOLETE_PACKET_BLOCK: u32 = 2;

/// One captured frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// Link type, as tcpdump.org's registry numbers them.
    pub link_type: u16,
    /// Its length on the wire.
    pub wire_bytes: u32,
    /// What was captured of it.
    pub bytes: &'a [u8],
}

/// Why reading stopped before the end.
#[derive(Debug)]
pub(super) enum Stop {
    Io(std::io::Error),
    Empty,
    NotACapture { first_bytes: Vec<u8> },
    Truncated { record_start: u64, end: u64 },
    Malformed { at: u64, reason: String },
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::Io(error)
    }
}

enum Format {
    Pcap(PcapHeader),
    /// Interfaces of the section so far.
    Pcapng {
        big_endian: bool,
        interfaces: Vec<Interface>,
    },
}

#[derive(Clone, Copy)]
struct Interface {
    link_type: u16,
    /// Bytes kept of a frame; 0 is all.
    snapshot_bytes: u32,
}

/// The frames of a stream, in order.
pub(super) struct Records<R> {
    source: Source<R>,
    format: Format,
}

impl<R: Read> Records<R> {
    /// Reads the file's header.
    pub(super) fn open(stream: R) -> Result<Self, Stop> {
        let mut source = Source::new(stream);
        let first_bytes = source.peek(4)?.to_vec();
        let format = match first_bytes[..] {
            [] => return Err(Stop::Empty),
            [0x0a, 0x0d, 0x0d, 0x0a] => Format::Pcapng { big_endian: false, interfaces: Vec::new() },
            [0xd4, 0xc3, 0xb2, 0xa1] | [0xa1, 0xb2, 0xc3, 0xd4] => Format::Pcap(file_header(&mut source)?),
            [0x4d, 0x3c, 0xb2, 0xa1] | [0xa1, 0xb2, 0x3c, 0x4d] => Format::Pcap(file_header(&mut source)?),
            [0x34, 0xcd, 0xb2, 0xa1] => Format::Pcap(file_header(&mut source)?),
            _ => return Err(Stop::NotACapture { first_bytes: source.peek(8)?.to_vec() }),
        };
        Ok(Records { source, format })
    }

    /// Bytes of the stream that lie behind.
    pub(super) fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Hands the next record's frame to `see`, if it has one (pcapng blocks needn't). `None` at the end of the stream.
    pub(super) fn next<T>(&mut self, see: impl FnOnce(Frame) -> T) -> Result<Option<Option<T>>, Stop> {
        if self.source.peek(1)?.is_empty() {
            return Ok(None);
        }
        let (seen, bytes) = match &mut self.format {
            Format::Pcap(header) => {
                let (frame, bytes) = pcap_record(&mut self.source, header)?;
                (Some(see(frame)), bytes)
            }
            Format::Pcapng { big_endian, interfaces } => {
                let (frame, bytes) = pcapng_block(&mut self.source, big_endian, interfaces)?;
                (frame.map(see), bytes)
            }
        };
        self.source.take(bytes);
        Ok(Some(seen))
    }
}

/// The next `bytes` bytes, or a stop if the stream ends inside them.
fn whole<R: Read>(source: &mut Source<R>, bytes: u64) -> Result<&[u8], Stop> {
    let record_start = source.offset();
    if bytes > MOST_RECORD_BYTES {
        let reason = format!("a record of {bytes} bytes, more than the {MOST_RECORD_BYTES} that are read");
        return Err(Stop::Malformed { at: record_start, reason });
    }
    let seen = source.peek(bytes as usize)?;
    if (seen.len() as u64) < bytes {
        return Err(Stop::Truncated { record_start, end: record_start + seen.len() as u64 });
    }
    Ok(seen)
}

fn file_header<R: Read>(source: &mut Source<R>) -> Result<PcapHeader, Stop> {
    const BYTES: usize = 24;
    let malformed = |reason: String| Stop::Malformed { at: 0, reason };
    let (_, header) = parse_pcap_header(whole(source, BYTES as u64)?)
        .map_err(|_| malformed("the file header can't be read".into()))?;
    // 2.4 is the only version written since 1998, and earlier ones swap the length fields.
    if (header.version_major, header.version_minor) != (2, 4) {
        let version = format!("pcap version {}.{}", header.version_major, header.version_minor);
        return Err(malformed(format!("{version}, wanted 2.4")));
    }
    source.take(BYTES);
    Ok(header)
}

fn pcap_record<'s, R: Read>(
    source: &'s mut Source<R>,
    header: &PcapHeader,
) -> Result<(Frame<'s>, usize), Stop> {
    let at = source.offset();
    let header_bytes: u64 = if header.is_modified_format() { 24 } else { 16 };
    let captured = word(whole(source, header_bytes)?, 8, header.is_bigendian());
    let record = whole(source, header_bytes + u64::from(captured))?;
    let parsed = if header.is_modified_format() {
        parse_pcap_frame_modified(record)
    } else if header.is_bigendian() {
        parse_pcap_frame_be(record)
    } else {
        parse_pcap_frame(record)
    };
    let (_, block) =
        parsed.map_err(|_| Stop::Malformed { at, reason: "the packet record contradicts itself".into() })?;
    // The upper half of the field says how long the frame check sequence is, not what the link is.
    let link_type = header.network.0 as u16;
    Ok((Frame { link_type, wire_bytes: block.origlen, bytes: block.data }, record.len()))
}

fn pcapng_block<'s, R: Read>(
    source: &'s mut Source<R>,
    big_endian: &mut bool,
    interfaces: &mut Vec<Interface>,
) -> Result<(Option<Frame<'s>>, usize), Stop> {
    let at = source.offset();
    let malformed = |reason: String| Stop::Malformed { at, reason };
    let start = whole(source, 12)?;
    // A section header reads the same in both byte orders, and says by its magic number which one follows.
    let is_section = start[..4] == [0x0a, 0x0d, 0x0d, 0x0a];
    if is_section {
        *big_endian = match start[8..12] {
            [0x1a, 0x2b, 0x3c, 0x4d] => true,
            [0x4d, 0x3c, 0x2b, 0x1a] => false,
            _ => return Err(malformed("a section without its byte-order magic".into())),
        };
    }
    let block_type = word(start, 0, *big_endian);
    let length = word(start, 4, *big_endian);
    if length < 12 || !length.is_multiple_of(4) {
        return Err(malformed(format!("a block of {length} bytes, wanted a multiple of 4 from 12 on")));
    }
    let bytes = whole(source, u64::from(length))?;
    if word(bytes, bytes.len() - 4, *big_endian) != length {
        return Err(malformed("a block whose two lengths differ".into()));
    }
    let parse = if *big_endian { parse_block_be } else { parse_block_le };
    let (_, block) = parse(bytes)
        .map_err(|_| malformed(format!("a block of type {block_type} that contradicts itself")))?;
    let interface = |number: u32, interfaces: &[Interface]| {
        interfaces.get(number as usize).copied().ok_or_else(|| {
            malformed(format!("a packet of interface {number}, and {} are described", interfaces.len()))
        })
    };
    let frame = match block {
        Block::SectionHeader(header) if header.major_version != 1 => {
            return Err(malformed(format!("pcapng version {}, wanted 1", header.major_version)));
        }
        Block::SectionHeader(_) => {
            interfaces.clear();
            None
        }
        Block::InterfaceDescription(described) => {
            // Sixteen bits in the file.
            let link_type = described.linktype.0 as u16;
            interfaces.push(Interface { link_type, snapshot_bytes: described.snaplen });
            None
        }
        Block::EnhancedPacket(packet) => {
            let link_type = interface(packet.if_id, interfaces)?.link_type;
            let captured = packet.data.get(..packet.caplen as usize);
            let captured = captured.ok_or_else(|| malformed("a packet longer than its block".into()))?;
            Some(Frame { link_type, wire_bytes: packet.origlen, bytes: captured })
        }
        Block::SimplePacket(packet) => {
            let Interface { link_type, snapshot_bytes } = interface(0, interfaces)?;
            let snapshot = if snapshot_bytes == 0 { u32::MAX } else { snapshot_bytes };
            let captured = packet.origlen.min(snapshot) as usize;
            let captured = packet
                .data
                .get(..captured)
                .ok_or_else(|| malformed("a packet longer than its block".into()))?;
            Some(Frame { link_type, wire_bytes: packet.origlen, bytes: captured })
        }
        Block::Unknown(_) if block_type == OBSOLETE_PACKET_BLOCK => {
            return Err(malformed(
                "an obsolete packet block (type 2): write the file anew with a current tool".into(),
            ));
        }
        _ => None,
    };
    Ok((frame, length as usize))
}

/// The 32-bit word at `at`, which must lie inside.
fn word(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let word = bytes[at..at + 4].try_into().expect("four bytes");
    if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}
