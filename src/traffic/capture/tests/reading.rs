//! What comes out of a sound file.

use super::*;

#[test]
fn every_form_of_pcap_reads_alike() {
    let forms = [
        (Magic::Microseconds, false),
        (Magic::Microseconds, true),
        (Magic::Nanoseconds, false),
        (Magic::Nanoseconds, true),
        (Magic::Modified, false),
    ];
    for (magic, big_endian) in forms {
        let file = CaptureFile::pcap(magic, big_endian, 1, &frames());
        let capture = read(&file.bytes, KeyRule::IpProtocol).unwrap();
        assert_eq!(keys(&capture), [17, 6, 47], "{magic:?} {big_endian}");
        assert_eq!((capture.frames, capture.skipped, capture.cut_payloads, capture.cut_frames), (4, 1, 1, 0));
        let lengths: Vec<u16> = capture.packets.iter().map(|packet| packet.length).collect();
        assert_eq!(lengths, [14 + 28 + 10, 14 + 60 + 40, 14 + 20 + 9]);
        let mut question = [0; 24];
        question[..10].copy_from_slice(b"a question");
        assert_eq!(capture.packets[0].payload, question);
        assert_eq!(capture.packets[1].payload, [9; 24]);
    }
}

#[test]
fn pcapng_of_either_byte_order_with_sections_interfaces_and_foreign_blocks() {
    for big_endian in [false, true] {
        let mut file = CaptureFile::pcapng(big_endian);
        file.interface(1, 0).interface(101, 0);
        file.enhanced(0, &frames()[0], frames()[0].len() as u32);
        file.block(0x0bad, |file| file.bytes.extend([1; 8]));
        file.enhanced(1, &tcp6(80, b"x"), 61);
        // Another section, in the other byte order, with interfaces of its own; simple packets belong to the first.
        file.section(!big_endian).interface(228, 32);
        file.simple(&udp4(7, b"cut after 32 bytes")[..32], 46);
        let capture = read(&file.bytes, KeyRule::DestinationPort).unwrap();
        assert_eq!(keys(&capture), [53, 80, 7]);
        assert_eq!((capture.frames, capture.skipped, capture.cut_frames), (3, 0, 1));
        assert_eq!(capture.packets[2].length, 46);
        assert_eq!(&capture.packets[2].payload[..5], b"cut \0");
    }
}

#[test]
fn every_link_type_shows_the_same_packet() {
    let (four, six) = (udp4(53, b"same"), tcp6(53, b"same"));
    let cooked = |ether_type: u16, packet: &[u8]| [&[0; 14][..], &ether_type.to_be_bytes(), packet].concat();
    let cooked2 = |ether_type: u16, packet: &[u8]| [&ether_type.to_be_bytes()[..], &[0; 18], packet].concat();
    let family = |family: [u8; 4], packet: &[u8]| [&family[..], packet].concat();
    let vlan = |tags: &[u16], ether_type: u16, packet: &[u8]| {
        let mut bytes = vec![0xaa; 12];
        tags.iter().for_each(|tag| bytes.extend([tag.to_be_bytes(), [0, 5]].concat()));
        [&bytes[..], &ether_type.to_be_bytes(), packet].concat()
    };
    for (protocol, frames) in [
        (
            17,
            vec![
                (1, ethernet(0x0800, &four)),
                (1, vlan(&[0x8100], 0x0800, &four)),
                (1, vlan(&[0x88a8, 0x8100], 0x0800, &four)),
                (101, four.clone()),
                (12, four.clone()),
                (14, four.clone()),
                (228, four.clone()),
                (113, cooked(0x0800, &four)),
                (276, cooked2(0x0800, &four)),
                (0, family([2, 0, 0, 0], &four)),
                (0, family([0, 0, 0, 2], &four)),
                (108, family([0, 0, 0, 2], &four)),
            ],
        ),
        (
            6,
            vec![
                (1, ethernet(0x86dd, &six)),
                (1, vlan(&[0x8100], 0x86dd, &six)),
                (101, six.clone()),
                (229, six.clone()),
                (113, cooked(0x86dd, &six)),
                (276, cooked2(0x86dd, &six)),
                (0, family([30, 0, 0, 0], &six)),
                (0, family([0, 0, 0, 24], &six)),
                (108, family([0, 0, 0, 28], &six)),
            ],
        ),
    ] {
        let mut flows = Vec::new();
        for (link_type, frame) in frames {
            let file = CaptureFile::pcap(Magic::Microseconds, false, link_type, &[frame]);
            assert_eq!(
                keys(&read(&file.bytes, KeyRule::IpProtocol).unwrap()),
                [protocol],
                "link type {link_type}"
            );
            let capture = read(&file.bytes, KeyRule::DestinationPort).unwrap();
            assert_eq!(keys(&capture), [53], "link type {link_type}");
            assert_eq!(&capture.packets[0].payload[..5], b"same\0", "link type {link_type}");
            flows.push(capture.packets[0].flow);
        }
        flows.dedup();
        assert_eq!(flows.len(), 1, "the flow depends on the link");
    }
}

#[test]
fn the_check_sequence_length_beside_the_link_type_is_no_link_type() {
    let mut bytes = ethernet_pcap(&frames());
    bytes[23] = 0x44;
    assert_eq!(keys(&read(&bytes, KeyRule::IpProtocol).unwrap()), [17, 6, 47]);
}

#[test]
fn extension_headers_are_passed_over() {
    // IPv6: hop-by-hop (0) → destination options (60) → UDP.
    let udp = [&[0x0f, 0xa0, 0, 53, 0, 11, 0, 0][..], b"abc"].concat();
    let extensions = [&[60, 0, 1, 4, 0, 0, 0, 0][..], &[17, 0, 1, 4, 0, 0, 0, 0]].concat();
    let mut packet = vec![0x60, 0, 0, 0, 0, (extensions.len() + udp.len()) as u8, 0, 64];
    packet.extend([7; 32]);
    packet.extend([extensions, udp].concat());
    let file = CaptureFile::pcap(Magic::Microseconds, false, 101, &[packet]);
    assert_eq!(keys(&read(&file.bytes, KeyRule::IpProtocol).unwrap()), [17]);
    let capture = read(&file.bytes, KeyRule::DestinationPort).unwrap();
    assert_eq!(keys(&capture), [53]);
    assert_eq!(&capture.packets[0].payload[..4], b"abc\0");
}

#[test]
fn only_the_first_fragment_has_a_port() {
    let udp = [&[0x0f, 0xa0, 0, 53, 0, 200, 0, 0][..], &[1; 24]].concat();
    let (first, second) = (ip4(17, 0x2000, &udp), ip4(17, 0x0004, &udp));
    let file = CaptureFile::pcap(Magic::Microseconds, false, 101, &[first, second]);
    assert_eq!(keys(&read(&file.bytes, KeyRule::IpProtocol).unwrap()), [17, 17]);
    let capture = read(&file.bytes, KeyRule::DestinationPort).unwrap();
    assert_eq!((keys(&capture), capture.skipped), (vec![53], 1));
}

#[test]
fn bytes_are_taken_from_the_frame_and_masked() {
    let frames = [vec![0x11, 0x22, 0x33, 0x44], vec![0x55, 0x66, 0x77], vec![0x88]];
    let bytes = ethernet_pcap(&frames);
    let capture = read(&bytes, KeyRule::Bytes { offset: 1, mask: 0x0fff }).unwrap();
    assert_eq!((keys(&capture), capture.skipped), (vec![0x0233, 0x0677], 1));
    assert!(capture.packets.iter().all(|packet| packet.flow == 0));
    let refused = refusal(&bytes, KeyRule::Bytes { offset: usize::MAX, mask: 0xffff });
    assert!(matches!(refused, CaptureError::NoKey { frames: 3, .. }), "{refused}");
}

#[test]
fn flow_tells_every_part_of_the_five_tuple_apart() {
    let ip = frame::Ip {
        protocol: 6,
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        ports: Some((1_000, 80)),
    };
    // FNV-1a of 0a000001 0a000002 03e8 0050 06, computed elsewhere.
    assert_eq!(ip.flow(), 0x4158_bd17);
    let others = [
        frame::Ip { protocol: 17, ..ip },
        frame::Ip { source: [10, 0, 0, 3].into(), ..ip },
        frame::Ip { destination: [10, 0, 0, 3].into(), ..ip },
        frame::Ip { source: ip.destination, destination: ip.source, ..ip },
        frame::Ip { ports: Some((1_001, 80)), ..ip },
        frame::Ip { ports: Some((1_000, 81)), ..ip },
        frame::Ip { ports: None, ..ip },
    ];
    assert!(others.iter().all(|other| other.flow() != ip.flow()));
}

#[test]
fn wire_lengths_past_sixteen_bits_are_held_at_the_top() {
    let mut file = CaptureFile::pcapng(false);
    let frame = &frames()[0];
    file.interface(1, 0).enhanced(0, frame, 70_000).enhanced(0, frame, 0);
    let capture = read(&file.bytes, KeyRule::IpProtocol).unwrap();
    assert_eq!(capture.packets[0].length, u16::MAX);
    assert_eq!(usize::from(capture.packets[1].length), frame.len());
    assert_eq!(capture.cut_frames, 1);
}

#[test]
fn a_packet_cut_within_its_headers_keeps_what_there_is() {
    let whole = &frames()[2];
    let mut file = CaptureFile::pcapng(false);
    // The ports only; the IP header only; half an IP header.
    file.interface(1, 0);
    for cut in [58, 54, 30] {
        file.enhanced(0, &whole[..cut], whole.len() as u32);
    }
    let capture = read(&file.bytes, KeyRule::DestinationPort).unwrap();
    assert_eq!((keys(&capture), capture.skipped, capture.cut_frames), (vec![443], 2, 3));
    assert_eq!(keys(&read(&file.bytes, KeyRule::IpProtocol).unwrap()), [6, 6]);
}
