//! From a captured frame to what a packet is made of: link header, IP, transport.

use std::net::IpAddr;

use etherparse::{EtherType, Ipv6ExtensionSlice, LaxNetSlice, LaxSlicedPacket, TransportSlice, ip_number};

/// What headers say of a frame. Tunnels are not entered: the outermost IP header counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decoded<'a> {
    /// Of IP frames.
    pub ip: Option<Ip>,
    /// What TCP or UDP carries; without those, what IP carries; without that, what the link carries.
    pub payload: &'a [u8],
}

/// An IP header, extensions passed over, and the ports behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ip {
    /// The protocol that is carried: 6 is TCP (IANA's protocol numbers).
    pub protocol: u8,
    pub source: IpAddr,
    pub destination: IpAddr,
    /// Source and destination port of TCP and UDP; `None` for others and for all but the first fragment.
    pub ports: Option<(u16, u16)>,
}

/// Takes a frame of that link type apart, as far as it goes; frames cut short or garbled just yield less.
///
/// `None` if the link type isn't read. The numbers are those of tcpdump.org's registry of link types.
pub(super) fn decode(link_type: u16, bytes: &[u8]) -> Option<Decoded<'_>> {
    let behind = |header: usize| bytes.get(header..).unwrap_or_default();
    Some(match link_type {
        // Ethernet, VLAN tags included.
        1 => match LaxSlicedPacket::from_ethernet(bytes) {
            Ok(packet) => decoded(packet, behind(14)),
            Err(_) => Decoded { ip: None, payload: behind(14) },
        },
        // Raw IP: LINKTYPE_RAW, the two that name the version, and DLT_RAW as BSD and OpenBSD number it.
        101 | 228 | 229 | 12 | 14 => from_ip(bytes),
        // Linux cooked: an EtherType in a header of 16 bytes, or of 20.
        113 => from_ether_type(bytes.get(14..16), behind(16)),
        276 => from_ether_type(bytes.get(0..2), behind(20)),
        // Loopback: an address family in the capturing host's byte order (0), or in network order (108). IP's
        // version says the same.
        0 | 108 => match bytes.first_chunk().copied().map(u32::from_be_bytes) {
            Some(family) if is_ip_family(family) || is_ip_family(family.swap_bytes()) => from_ip(behind(4)),
            _ => Decoded { ip: None, payload: behind(4) },
        },
        _ => return None,
    })
}

/// AF_INET everywhere; AF_INET6 on Linux, NetBSD and OpenBSD, FreeBSD, macOS.
fn is_ip_family(family: u32) -> bool {
    [2, 10, 24, 28, 30].contains(&family)
}

fn from_ip(bytes: &[u8]) -> Decoded<'_> {
    match LaxSlicedPacket::from_ip(bytes) {
        Ok(packet) => decoded(packet, bytes),
        Err(_) => Decoded { ip: None, payload: bytes },
    }
}

fn from_ether_type<'a>(ether_type: Option<&[u8]>, bytes: &'a [u8]) -> Decoded<'a> {
    let Some(&[high, low]) = ether_type else { return Decoded { ip: None, payload: bytes } };
    decoded(LaxSlicedPacket::from_ether_type(EtherType(u16::from_be_bytes([high, low])), bytes), bytes)
}

fn decoded<'a>(packet: LaxSlicedPacket<'a>, link_payload: &'a [u8]) -> Decoded<'a> {
    let (source, destination, payload, fragment) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let (source, destination) = (header.source_addr().into(), header.destination_addr().into());
            (source, destination, ip.payload().clone(), header.fragments_offset().value())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let fragment = ip.extensions().clone().into_iter().find_map(|extension| match extension {
                Ipv6ExtensionSlice::Fragment(fragment) => Some(fragment.fragment_offset().value()),
                _ => None,
            });
            let (source, destination) = (header.source_addr().into(), header.destination_addr().into());
            (source, destination, ip.payload().clone(), fragment.unwrap_or(0))
        }
        Some(LaxNetSlice::Arp(_)) | None => return Decoded { ip: None, payload: link_payload },
    };
    // Ports are the first four bytes of either header, so they are there even if the capture cut the rest.
    let ports = match (payload.ip_number, fragment, payload.payload) {
        (ip_number::TCP | ip_number::UDP, 0, &[a, b, c, d, ..]) => {
            Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
        }
        _ => None,
    };
    let carried = match &packet.transport {
        Some(TransportSlice::Tcp(tcp)) => tcp.payload(),
        Some(TransportSlice::Udp(udp)) => udp.payload(),
        _ => payload.payload,
    };
    Decoded { ip: Some(Ip { protocol: payload.ip_number.0, source, destination, ports }), payload: carried }
}

impl Ip {
    /// A stable hash of the five-tuple: FNV-1a (Fowler, Noll and Vo's 32-bit constants) over source address,
    /// destination address, source port, destination port (both zero where there are none) and protocol, in network
    /// order. The two directions of a conversation differ.
    pub(super) fn flow(&self) -> u32 {
        let (source_port, destination_port) = self.ports.unwrap_or((0, 0));
        let mut hash = 0x811c_9dc5_u32;
        let mut fold = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
            }
        };
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(address) => fold(&address.octets()),
                IpAddr::V6(address) => fold(&address.octets()),
            }
        }
        fold(&source_port.to_be_bytes());
        fold(&destination_port.to_be_bytes());
        fold(&[self.protocol]);
        hash
    }
}
