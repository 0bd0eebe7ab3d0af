//! What is refused, and how.

use super::*;

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
fn a_mask_without_bits_is_refused() {
    let rule = KeyRule::Bytes { offset: 0, mask: 0 };
    let refused = read_capture(Path::new("any.pcap"), rule, &Watch::new()).unwrap_err();
    assert!(refused.to_string().starts_with("mask = 0"), "{refused}");
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
