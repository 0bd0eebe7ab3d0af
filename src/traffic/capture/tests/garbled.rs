//! Arbitrary, cut and flipped bytes.

use proptest::prelude::*;

use super::*;

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
