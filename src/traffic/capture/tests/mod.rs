//! Captures read, refused and garbled.

mod garbled;
mod reading;
mod refusals;

use std::path::PathBuf;

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

fn udp_frame() -> Vec<u8> {
    ethernet(0x0800, &udp4(53, b""))
}
