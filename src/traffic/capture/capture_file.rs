//! Writes capture files for the tests, byte by byte and without the libraries that read them.

use etherparse::PacketBuilder;

/// A file, and where each of its packet records ends.
#[derive(Debug, Clone)]
pub struct CaptureFile {
    pub bytes: Vec<u8>,
    pub ends: Vec<usize>,
    big_endian: bool,
}

/// Variants of pcap's magic number.
#[derive(Debug, Clone, Copy)]
pub enum Magic {
    Microseconds,
    Nanoseconds,
    /// Kuznetzov's variant: eight more bytes a record.
    Modified,
}

impl CaptureFile {
    fn word(&mut self, word: u32) -> &mut Self {
        self.bytes.extend(if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() });
        self
    }

    fn half(&mut self, half: u16) -> &mut Self {
        self.bytes.extend(if self.big_endian { half.to_be_bytes() } else { half.to_le_bytes() });
        self
    }

    /// A pcap file of those frames, whole.
    pub fn pcap(magic: Magic, big_endian: bool, link_type: u16, frames: &[Vec<u8>]) -> Self {
        let mut file = CaptureFile { bytes: Vec::new(), ends: Vec::new(), big_endian };
        file.word(match magic {
            Magic::Microseconds => 0xa1b2_c3d4,
            Magic::Nanoseconds => 0xa1b2_3c4d,
            Magic::Modified => 0xa1b2_cd34,
        });
        file.half(2).half(4).word(0).word(0).word(65_535).word(u32::from(link_type));
        for frame in frames {
            file.word(1).word(2).word(frame.len() as u32).word(frame.len() as u32);
            if matches!(magic, Magic::Modified) {
                file.word(0).word(0);
            }
            file.bytes.extend(frame);
            file.ends.push(file.bytes.len());
        }
        file
    }

    /// A pcapng section without blocks.
    pub fn pcapng(big_endian: bool) -> Self {
        let mut file = CaptureFile { bytes: Vec::new(), ends: Vec::new(), big_endian };
        file.section(big_endian);
        file
    }

    pub fn section(&mut self, big_endian: bool) -> &mut Self {
        self.big_endian = big_endian;
        self.block(0x0a0d_0d0a, |file| {
            file.word(0x1a2b_3c4d).half(1).half(0).word(u32::MAX).word(u32::MAX);
        })
    }

    pub fn interface(&mut self, link_type: u16, snapshot_bytes: u32) -> &mut Self {
        self.block(1, |file| {
            file.half(link_type).half(0).word(snapshot_bytes);
        })
    }

    /// An enhanced packet with an option behind it; `wire_bytes` may exceed what is captured.
    pub fn enhanced(&mut self, interface: u32, frame: &[u8], wire_bytes: u32) -> &mut Self {
        self.block(6, |file| {
            file.word(interface).word(0).word(0).word(frame.len() as u32).word(wire_bytes);
            file.padded(frame);
            // Option 1, a comment, then the end of options.
            file.half(1).half(2).padded(b"hi");
            file.half(0).half(0);
        });
        self.ends.push(self.bytes.len());
        self
    }

    pub fn simple(&mut self, frame: &[u8], wire_bytes: u32) -> &mut Self {
        self.block(3, |file| {
            file.word(wire_bytes);
            file.padded(frame);
        });
        self.ends.push(self.bytes.len());
        self
    }

    /// Any block, its length before and behind.
    pub fn block(&mut self, block_type: u32, body: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.bytes.len();
        self.word(block_type).word(0);
        body(self);
        let length = (self.bytes.len() - start + 4) as u32;
        self.word(length);
        let length = if self.big_endian { length.to_be_bytes() } else { length.to_le_bytes() };
        self.bytes[start + 4..start + 8].copy_from_slice(&length);
        self
    }

    fn padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }
}

/// An IPv4 packet with UDP to that port, without a link header.
pub fn udp4(port: u16, payload: &[u8]) -> Vec<u8> {
    written(PacketBuilder::ipv4([192, 0, 2, 1], [198, 51, 100, 2], 64).udp(4_000, port), payload)
}

/// An IPv6 packet with TCP to that port.
pub fn tcp6(port: u16, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = ([0x20; 16], [0x30; 16]);
    let builder = PacketBuilder::ipv6(source, destination, 64).tcp(5_000, port, 1, 1_024);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, payload).unwrap();
    bytes
}

fn written(builder: etherparse::PacketBuilderStep<etherparse::UdpHeader>, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    builder.write(&mut bytes, payload).unwrap();
    bytes
}

/// An IPv4 packet of any protocol; `fragment` is the word of flags and offset.
pub fn ip4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((20 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 7]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2]);
    bytes.extend(payload);
    bytes
}

/// The packet behind an Ethernet header.
pub fn ethernet(ether_type: u16, packet: &[u8]) -> Vec<u8> {
    [&[0xaa; 12][..], &ether_type.to_be_bytes(), packet].concat()
}

/// An ARP request as it goes over Ethernet.
pub fn arp() -> Vec<u8> {
    ethernet(0x0806, &[&[0, 1, 8, 0, 6, 4, 0, 1][..], &[1; 20]].concat())
}
