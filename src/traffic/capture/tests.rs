use std::path::PathBuf;

use proptest::prelude::*;

use super::capture_file::{CaptureFile, Magic, arp, ethernet, ip4, tcp6, udp4};
use super::*;

fn read_with(bytes: &[u8], rule: KeyRule, available: fn() -> Option<u64>) -> Result<Capture> {
    let (path, watch) = (PathBuf::from("test.pcap"), Watch::new());
    let file_bytes = bytes.len() as u64;
    Reading { path: &path, rule, watch: &watch, file_bytes, available }.read(bytes)
}

fn read(bytes: &[u8], rule: KeyRule) -> Result<Capture> {
    read_with(bytes, rule, || None)
}

fn refusal(bytes: &[u8], rule: KeyRule) -> CaptureError {
    match read(bytes, rule) {
        Err(Error::Capture(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

/// Three frames with keys, and one without.
fn frames() -> Vec<Vec<u8>> {
    vec![
        ethernet(0x0800, &udp4(53, b"a question")),
        arp(),
        ethernet(0x86dd, &tcp6(443, &[9; 40])),
        ethernet(0x0800, &ip4(47, 0, b"tunnelled")),
    ]
}

fn keys(capture: &Capture) -> Vec<u16> {
    capture.packets.iter().map(|packet| packet.protocol).collect()
}

fn ethernet_pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    CaptureFile::pcap(Magic::Microseconds, false, 1, frames).bytes
}

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

#[test]
fn what_is_no_capture_is_refused_with_its_first_bytes() {
    assert!(matches!(refusal(b"", KeyRule::IpProtocol), CaptureError::Empty { .. }));
    for (bytes, seen) in [
        (&b"#!/bin/sh\n"[..], "23 21 2f 62 69 6e 2f 73, wanted a pcap or pcapng file"),
        (b"\x1f\x8b\x08", "1f 8b 08, which is gzip: decompress it first"),
        (b"\xd4\xc3", "d4 c3, wanted a pcap or pcapng file"),
    ] {
        let message = refusal(bytes, KeyRule::IpProtocol).to_string();
        assert!(message.contains(seen) && message.contains("test.pcap"), "{message}");
    }
}

#[test]
fn what_cant_be_opened_is_refused_with_its_path() {
    let watch = Watch::new();
    for path in ["no/such/capture.pcap", "/"] {
        match read_capture(Path::new(path), KeyRule::IpProtocol, &watch) {
            Err(Error::Capture(refused @ CaptureError::Unreadable { .. })) => {
                assert!(refused.to_string().contains(path), "{refused}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_file_is_read_and_progress_ends_at_one() {
    let path = std::env::temp_dir().join(format!("nanokata-capture-{}.pcap", std::process::id()));
    std::fs::write(&path, ethernet_pcap(&frames())).unwrap();
    let watch = Watch::new();
    let capture = read_capture(&path, KeyRule::IpProtocol, &watch).unwrap();
    assert_eq!((keys(&capture), watch.progress().1), (vec![17, 6, 47], 1.0));
    watch.stop();
    let stopped = read_capture(&path, KeyRule::IpProtocol, &watch);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn unread_link_types_are_named_once_a_packet_has_one() {
    let mut file = CaptureFile::pcapng(false);
    file.interface(1, 0).interface(147, 0).enhanced(0, &frames()[0], 52);
    assert!(read(&file.bytes, KeyRule::IpProtocol).is_ok());
    file.enhanced(1, &[0; 4], 4);
    let refused = refusal(&file.bytes, KeyRule::IpProtocol);
    assert!(matches!(refused, CaptureError::UnsupportedLinkType { link_type: 147, .. }), "{refused}");
}

#[test]
fn a_capture_without_such_a_key_is_refused() {
    let refused = refusal(&ethernet_pcap(&[arp(), arp()]), KeyRule::DestinationPort).to_string();
    assert!(refused.contains("none of the 2 packets") && refused.contains("destination port"), "{refused}");
    let refused = refusal(&ethernet_pcap(&[]), KeyRule::IpProtocol);
    assert!(matches!(refused, CaptureError::NoKey { frames: 0, .. }));
}

#[test]
fn more_packets_than_memory_are_refused() {
    let bytes = ethernet_pcap(&vec![udp_frame(); 3_000]);
    assert!(read_with(&bytes, KeyRule::IpProtocol, || Some(4_096 * 32)).is_ok());
    match read_with(&bytes, KeyRule::IpProtocol, || Some(4_096 * 32 - 1)) {
        Err(Error::Capture(CaptureError::TooLarge { needed_bytes, available_bytes, .. })) => {
            assert_eq!((needed_bytes, available_bytes), (4_096 * 32, 4_096 * 32 - 1));
        }
        other => panic!("{other:?}"),
    }
}

fn udp_frame() -> Vec<u8> {
    ethernet(0x0800, &udp4(53, b""))
}

#[test]
fn broken_structures_are_refused_with_their_place() {
    let reason = |bytes: &[u8]| match refusal(bytes, KeyRule::IpProtocol) {
        CaptureError::Malformed { at, reason, .. } => format!("{at}: {reason}"),
        other => panic!("{other}"),
    };
    let mut version = ethernet_pcap(&frames());
    version[4] = 3;
    assert_eq!(reason(&version), "0: pcap version 3.4, wanted 2.4");
    let mut huge = ethernet_pcap(&frames());
    huge[24 + 11] = 0x7f;
    assert!(reason(&huge).starts_with("24: a record of "));
    let good = CaptureFile::pcapng(false).interface(1, 0).enhanced(0, &udp_frame(), 42).bytes.clone();
    let start = 28 + 20;
    let mut lengths = good.clone();
    *lengths.last_mut().unwrap() = 1;
    assert_eq!(reason(&lengths), "48: a block whose two lengths differ");
    let mut odd = good.clone();
    odd[start + 4] += 1;
    assert!(reason(&odd).starts_with("48: a block of "));
    let mut longer = good.clone();
    longer[start + 20] = 200;
    assert!(reason(&longer).starts_with("48: a block of type 6"), "{}", reason(&longer));
    let mut magic = good.clone();
    magic[8] = 0;
    assert_eq!(reason(&magic), "0: a section without its byte-order magic");
    let stray = CaptureFile::pcapng(true).enhanced(0, &udp_frame(), 42).bytes.clone();
    assert_eq!(reason(&stray), "28: a packet of interface 0, and 0 are described");
    let old = CaptureFile::pcapng(true).block(2, |file| file.bytes.extend([0; 20])).bytes.clone();
    assert!(reason(&old).starts_with("28: an obsolete packet block"));
}

/// Whatever is cut off: between records what is left is a shorter capture, elsewhere the file is refused and says
/// after how many packets.
fn check_every_cut(file: &CaptureFile, headers_end: usize, between: &[usize]) {
    let rule = KeyRule::Bytes { offset: 0, mask: 0xffff };
    let whole = read(&file.bytes, rule).unwrap();
    for cut in 0..file.bytes.len() {
        let packets = file.ends.iter().filter(|end| **end <= cut).count();
        let at_boundary = cut == headers_end || between.contains(&cut) || file.ends.contains(&cut);
        match read(&file.bytes[..cut], rule) {
            Ok(capture) => {
                assert!(at_boundary, "cut at {cut} was read");
                assert_eq!(capture.packets, whole.packets[..packets]);
            }
            Err(Error::Capture(CaptureError::NoKey { .. })) => assert!(at_boundary && packets == 0, "{cut}"),
            Err(Error::Capture(CaptureError::Truncated { whole_packets, end, .. })) => {
                assert!(!at_boundary && end == cut as u64 && whole_packets == packets, "{cut}");
            }
            Err(Error::Capture(CaptureError::Empty { .. })) => assert_eq!(cut, 0),
            Err(Error::Capture(CaptureError::NotACapture { .. })) => assert!(cut < 4),
            Err(other) => panic!("cut at {cut}: {other}"),
        }
    }
}

#[test]
fn a_file_cut_inside_a_record_is_refused() {
    for (magic, big_endian) in
        [(Magic::Microseconds, false), (Magic::Nanoseconds, true), (Magic::Modified, false)]
    {
        check_every_cut(&CaptureFile::pcap(magic, big_endian, 1, &frames()), 24, &[]);
    }
    for big_endian in [false, true] {
        let mut file = CaptureFile::pcapng(big_endian);
        let section_end = file.bytes.len();
        file.interface(1, 0);
        let interface_end = file.bytes.len();
        frames().iter().for_each(|frame| {
            file.enhanced(0, frame, frame.len() as u32);
        });
        check_every_cut(&file, section_end, &[interface_end]);
    }
}

fn any_rule() -> impl Strategy<Value = KeyRule> {
    prop_oneof![
        Just(KeyRule::IpProtocol),
        Just(KeyRule::DestinationPort),
        (0usize..80, any::<u16>()).prop_map(|(offset, mask)| KeyRule::Bytes { offset, mask }),
    ]
}

fn any_link_type() -> impl Strategy<Value = u16> {
    proptest::sample::select(vec![0u16, 1, 12, 14, 101, 108, 113, 228, 229, 276])
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let payload = || proptest::collection::vec(any::<u8>(), 0..60);
    prop_oneof![
        payload(),
        (any::<u16>(), payload()).prop_map(|(port, payload)| ethernet(0x0800, &udp4(port, &payload))),
        (any::<u16>(), payload()).prop_map(|(port, payload)| ethernet(0x86dd, &tcp6(port, &payload))),
        (any::<u8>(), any::<u16>(), payload())
            .prop_map(|(protocol, fragment, payload)| ip4(protocol, fragment, &payload)),
        Just(arp()),
    ]
}

fn any_file() -> impl Strategy<Value = CaptureFile> {
    (any_link_type(), any::<bool>(), 0..4, proptest::collection::vec(any_frame(), 1..8)).prop_map(
        |(link_type, big_endian, form, frames)| match form {
            0 => CaptureFile::pcap(Magic::Microseconds, big_endian, link_type, &frames),
            1 => CaptureFile::pcap(Magic::Modified, false, link_type, &frames),
            _ => {
                let mut file = CaptureFile::pcapng(big_endian);
                file.interface(link_type, 0);
                for frame in &frames {
                    if form == 2 {
                        file.enhanced(0, frame, frame.len() as u32);
                    } else {
                        file.simple(frame, frame.len() as u32);
                    }
                }
                file
            }
        },
    )
}

/// Whatever comes out hangs together.
fn check_sound(outcome: Result<Capture>) -> std::result::Result<(), TestCaseError> {
    match outcome {
        Ok(capture) => {
            prop_assert!(!capture.packets.is_empty());
            prop_assert_eq!(capture.packets.len() + capture.skipped, capture.frames);
            prop_assert!(
                capture.cut_payloads <= capture.packets.len() && capture.cut_frames <= capture.frames
            );
        }
        Err(Error::Capture(refused)) => prop_assert!(refused.to_string().contains("test.pcap")),
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_bytes_make_it_panic(
        start in proptest::sample::select(vec![
            &b""[..], b"\xd4\xc3\xb2\xa1\x02\0\x04\0", b"\xa1\xb2\x3c\x4d\0\x02\0\x04", b"\x34\xcd\xb2\xa1\x02\0\x04\0",
            b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0",
        ]),
        rest in proptest::collection::vec(prop_oneof![3 => Just(0u8), 2 => 0u8..8, 1 => any::<u8>()], 0..300),
        rule in any_rule(),
    ) {
        check_sound(read(&[start, &rest].concat(), rule))?;
    }

    #[test]
    fn no_frame_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120), link_type in any_link_type()) {
        let decoded = decode(link_type, &bytes).expect("a link type that is read");
        prop_assert!(decoded.payload.len() <= bytes.len());
    }

    #[test]
    fn flipped_bytes_never_make_it_panic(
        file in any_file(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..12),
        rule in any_rule(),
    ) {
        let mut bytes = file.bytes;
        for (place, flip) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        check_sound(read(&bytes, rule))?;
    }

    #[test]
    fn every_frame_of_a_whole_file_is_seen(file in any_file(), rule in any_rule()) {
        match read(&file.bytes, rule) {
            Ok(capture) => prop_assert_eq!(capture.frames, file.ends.len()),
            Err(Error::Capture(CaptureError::NoKey { frames, .. })) => prop_assert_eq!(frames, file.ends.len()),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        }
    }

    #[test]
    fn a_cut_file_is_a_prefix_or_refused(file in any_file(), cut in any::<prop::sample::Index>(), rule in any_rule()) {
        let cut = &file.bytes[..cut.index(file.bytes.len())];
        if let (Ok(part), Ok(whole)) = (read(cut, rule), read(&file.bytes, rule)) {
            prop_assert_eq!(&part.packets[..], &whole.packets[..part.packets.len()]);
            prop_assert!(file.ends.contains(&cut.len()));
        }
    }
}
