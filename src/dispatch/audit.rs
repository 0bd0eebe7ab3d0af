//! Audits of handlers and packets: are the bodies distinct, is the list sorted beforehand, is the pool in the cache?
//!
//! Bodies are asked by what they do, never by where they lie.

use std::collections::HashSet;

use super::generated::Code;
use super::objects::Objects;
use super::{HandlerSet, order};
use crate::Result;
use crate::machine::Card;
use crate::race::{Check, Placement, Watch};
use crate::traffic::Packet;

/// Packets that bodies are told apart by.
const PROBES: u64 = 4;

/// Runs every built-in body on the same packets and counts how many different results come out: `(distinct, handlers)`.
///
/// Addresses prove nothing (a linker may hand out jump thunks, or fold equal code); results do.
///
/// # Errors
/// [`Error::Os`](crate::Error::Os) where objects can't be placed.
pub fn distinct_bodies(set: &HandlerSet) -> Result<(usize, usize)> {
    let objects = Objects::place(set, &mut Placement::new(0))?;
    let packets = probe_packets();
    let pointers = objects.pointers().iter().zip(set.order());
    let results: HashSet<Vec<u64>> = pointers
        .filter(|&(_, &id)| id < set.built_in())
        .map(|(pointer, _)| {
            // SAFETY: `objects` lives to the end of this function.
            let handler = unsafe { pointer.get() };
            packets.iter().map(|packet| handler.process(packet).value).collect()
        })
        .collect();
    Ok((results.len(), set.built_in()))
}

/// Everything to be said of a race's handlers and packets before it is timed: whether bodies are distinct
/// ([`bodies_check`]), whether a list is sorted beforehand ([`list_order_checks`]), whether the pool is in the cache
/// ([`pool_check`]). `sets` are those of the arms, repetitions allowed.
///
/// # Errors
/// [`Error::Os`](crate::Error::Os) where objects can't be placed; [`Error::Interrupted`](crate::Error::Interrupted) once
/// `watch` is stopped.
pub fn checks(sets: &[&HandlerSet], packets: &[Packet], card: &Card, watch: &Watch) -> Result<Vec<Check>> {
    let mut checks = vec![bodies_check(sets)?];
    checks.extend(list_order_checks(sets, packets, watch)?);
    checks.push(pool_check(packets, card));
    Ok(checks)
}

/// [`distinct_bodies`] of all `sets` as one check.
///
/// # Errors
/// As there.
pub fn bodies_check(sets: &[&HandlerSet]) -> Result<Check> {
    let mut examined = Vec::new();
    let mut details = Vec::new();
    let mut all_distinct = true;
    for set in sets {
        // Keys, predicates and order don't enter into what bodies compute.
        let bodies = (set.body(), set.built_in());
        if examined.contains(&bodies) {
            continue;
        }
        examined.push(bodies);
        let (distinct, total) = distinct_bodies(set)?;
        all_distinct &= distinct == total;
        details.push(format!(
            "{distinct} different results from {total} handlers' bodies ({}) on the same packets",
            set.body()
        ));
    }
    Ok(Check::new("bodies-distinct", all_distinct, details.join("; ")))
}

/// Whether the list of each different set follows the traffic already; see [`order::busiest_first`]. None of a set that
/// no packet runs a handler of.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn list_order_checks(sets: &[&HandlerSet], packets: &[Packet], watch: &Watch) -> Result<Vec<Check>> {
    let mut examined = Vec::<&HandlerSet>::new();
    let mut checks = Vec::new();
    for &set in sets {
        if !examined.contains(&set) {
            examined.push(set);
            checks.extend(order::busiest_first(set, packets, watch)?.map(|order| order.check()));
        }
    }
    Ok(checks)
}

/// Whether the packets stay in this machine's L2: a pool past it measures memory with a dispatch attached.
pub fn pool_check(packets: &[Packet], card: &Card) -> Check {
    let bytes = size_of_val(packets);
    match card.l2_bytes() {
        Some(l2) => {
            Check::new("pool-in-cache", bytes < l2, format!("pool {} KiB, L2 {} KiB", bytes >> 10, l2 >> 10))
        }
        None => Check::not_applicable("pool-in-cache", "the size of the L2 isn't known here"),
    }
}

/// Where each built-in handler's `process` lies, by handler number: to find its symbol and size.
pub fn process_addresses(set: &HandlerSet) -> Vec<usize> {
    (0..set.built_in()).map(|n| Code::of(set.body(), n).process_address()).collect()
}

/// Where each built-in handler's `matches` lies, by handler number.
pub fn matches_addresses(set: &HandlerSet) -> Vec<usize> {
    (0..set.built_in()).map(|n| Code::of(set.body(), n).matches_address()).collect()
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
