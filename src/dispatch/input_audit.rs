//! Audits of packets against handlers: do they reach several of them, do they vary, are there enough of them?
//!
//! What somebody asked for by name (hot traffic, a short period) is no fault: it is then not judged, and says so.

use std::collections::HashSet;

use super::HandlerSet;
use crate::Result;
use crate::race::{Check, Watch};
use crate::traffic::{Packet, key_counts};

/// One key with more than this share of the packets that have a handler is one target for any predictor.
const DOMINANT: f64 = 0.99;
/// Fewer different payloads than this are constant, as far as predictors go.
const LEAST_PAYLOADS: usize = 16;
/// A pool shorter than this may be learned by heart, replayed as it is: see [`length_check`].
pub const LEAST_POOL: usize = 4096;

/// All audits of this kind. `asked_for` is the law that was asked for by name, if one was.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn checks(
    set: &HandlerSet,
    packets: &[Packet],
    asked_for: Option<&str>,
    watch: &Watch,
) -> Result<Vec<Check>> {
    Ok(vec![
        targets_check(set, packets, asked_for, watch)?,
        payloads_check(set, packets, watch)?,
        length_check(set, packets, asked_for, watch)?,
    ])
}

/// Whether packets reach more than one handler: with one, no call is ever mispredicted and no other code fetched.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn targets_check(
    set: &HandlerSet,
    packets: &[Packet],
    asked_for: Option<&str>,
    watch: &Watch,
) -> Result<Check> {
    const NAME: &str = "several-targets";
    if set.len() == 1 {
        return Ok(Check::not_applicable(NAME, "one handler is registered"));
    }
    let (keys, share) = reached(set, packets, watch)?;
    let detail =
        format!("packets reach {keys} handlers' keys; the busiest has {:.1} % of them", 100.0 * share);
    Ok(match asked_for {
        Some(law) if share > DOMINANT => Check::not_applicable(NAME, format!("{detail}, as {law} asks for")),
        _ => Check::new(NAME, share <= DOMINANT, detail),
    })
}

/// How many claimed keys the packets have, and the share of the busiest among packets whose key is claimed.
fn reached(set: &HandlerSet, packets: &[Packet], watch: &Watch) -> Result<(usize, f64)> {
    let claimed: HashSet<u16> = set.keys().into_iter().collect();
    let counts = key_counts(packets, watch)?;
    let own: Vec<u64> =
        counts.iter().filter(|(key, _)| claimed.contains(key)).map(|&(_, count)| count).collect();
    let all: u64 = own.iter().sum();
    Ok((own.len(), if all == 0 { 0.0 } else { own.iter().copied().max().unwrap_or(0) as f64 / all as f64 }))
}

/// Whether payloads vary where handlers decide by them: a residual test over a constant always goes the same way.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn payloads_check(set: &HandlerSet, packets: &[Packet], watch: &Watch) -> Result<Check> {
    const NAME: &str = "payloads-vary";
    let deciding: HashSet<u16> =
        set.specs().iter().filter(|spec| spec.residual.offset().is_some()).map(|spec| spec.key).collect();
    if deciding.is_empty() {
        return Ok(Check::not_applicable(NAME, "no handler decides by a payload"));
    }
    watch.check()?;
    let (mut seen, mut tested) = (HashSet::new(), 0usize);
    for packet in packets.iter().filter(|packet| deciding.contains(&packet.protocol)) {
        tested += 1;
        if seen.len() < LEAST_PAYLOADS {
            seen.insert(packet.payload);
        }
    }
    if tested < LEAST_PAYLOADS {
        return Ok(Check::not_applicable(NAME, format!("{tested} packets are decided by their payload")));
    }
    let many = if seen.len() < LEAST_PAYLOADS { "" } else { " or more" };
    let detail =
        format!("{tested} packets are decided by their payload, of which {}{many} are different", seen.len());
    Ok(Check::new(NAME, seen.len() >= LEAST_PAYLOADS, detail))
}

/// Whether the pool is too long to be learned by heart. Current branch predictors remember histories of thousands of
/// branches: a pool of random packets that is short enough is not random to them once it has been replayed a few times
/// (D. Lemire, "Benchmarking is hard: processors learn to predict branches", 2019, has 2,000 random branches learned). On a
/// Zen 4 the table's lookup and call over 100 tiny handlers costs 4.8, 6.9, 10.3, 12.2, 12.8, 13.4, 13.8 and 13.9 ns a packet at
/// pools of 64, 256, 1,024, 2,048, 4,096, 8,192, 16,384 and 30,000 packets; `traps.learned_pool` sweeps it anew.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn length_check(
    set: &HandlerSet,
    packets: &[Packet],
    asked_for: Option<&str>,
    watch: &Watch,
) -> Result<Check> {
    const NAME: &str = "pool-not-learned";
    let (_, share) = reached(set, packets, watch)?;
    if set.len() == 1 || share > DOMINANT {
        return Ok(Check::not_applicable(NAME, "one handler takes all packets: there is nothing to learn"));
    }
    if asked_for == Some("periodic") {
        return Ok(Check::not_applicable(NAME, "an order that can be learned is what periodic asks for"));
    }
    let detail = format!(
        "a pool of {} packets, replayed in the same order; predictors may learn fewer than {LEAST_POOL} by heart",
        packets.len()
    );
    Ok(Check::new(NAME, packets.len() >= LEAST_POOL, detail))
}
