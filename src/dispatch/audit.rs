//! Are the bodies distinct? Asked of what they do, never of where they lie.

use std::collections::HashSet;

use super::HandlerSet;
use super::generated::Code;
use super::objects::Objects;
use crate::Result;
use crate::race::{Check, Placement};
use crate::traffic::Packet;

/// Packets that bodies are told apart by.
const PROBES: u64 = 4;

/// Runs every body on the same packets and counts how many different results come out: `(distinct, handlers)`.
///
/// Addresses prove nothing (a linker may hand out jump thunks, or fold equal code); results do.
///
/// # Errors
/// [`Error::Os`](crate::Error::Os) where objects can't be placed.
pub fn distinct_bodies(set: &HandlerSet) -> Result<(usize, usize)> {
    let objects = Objects::place(set, &mut Placement::new(0))?;
    let packets = probe_packets();
    let results: HashSet<Vec<u64>> = objects
        .pointers()
        .iter()
        .map(|pointer| {
            // SAFETY: `objects` lives to the end of this function.
            let handler = unsafe { pointer.get() };
            packets.iter().map(|packet| handler.process(packet).value).collect()
        })
        .collect();
    Ok((results.len(), set.len()))
}

/// [`distinct_bodies`] as a check.
///
/// # Errors
/// As there.
pub fn bodies_check(set: &HandlerSet) -> Result<Check> {
    let (distinct, total) = distinct_bodies(set)?;
    let detail = format!("{distinct} different results from {total} handlers' bodies on the same packets");
    Ok(Check::new("bodies-distinct", distinct == total, detail))
}

/// Where each handler's `process` lies, by handler number: to find its symbol and size.
pub fn process_addresses(set: &HandlerSet) -> Vec<usize> {
    (0..set.len()).map(|n| Code::of(set.body(), n).process_address()).collect()
}

/// Where each handler's `matches` lies, by handler number.
pub fn matches_addresses(set: &HandlerSet) -> Vec<usize> {
    (0..set.len()).map(|n| Code::of(set.body(), n).matches_address()).collect()
}

fn probe_packets() -> Vec<Packet> {
    (0..PROBES)
        .map(|n| {
            let mut payload = [0; 24];
            for (at, word) in payload.chunks_exact_mut(8).enumerate() {
                word.copy_from_slice(&super::body::mix(3 * n + at as u64 + 1).to_le_bytes());
            }
            Packet { protocol: 0, length: 32, flow: n as u32, payload }
        })
        .collect()
}
