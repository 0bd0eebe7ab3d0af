//! Who runs how often, and what finding them takes in probes.

use std::collections::HashMap;

use serde::Serialize;

use crate::Result;
use crate::dispatch::expected::{expected_probes, run_shares};
use crate::dispatch::{HandlerSet, Residual, SelectionArm};
use crate::race::Watch;
use crate::traffic::Packet;

/// Probes a packet: `matches` calls of a list; lookup and tests of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Probing {
    /// On average, exactly.
    pub mean: f64,
    /// At worst, over every packet that there could be.
    pub worst: usize,
}

/// How often each handler runs, and what a table needs. In every order that keeps overlapping pairs the same handlers
/// run, so that lists in all of them follow from this.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    /// By handler number, as shares of all packets.
    pub shares: Vec<f64>,
    /// Share of packets that nobody takes.
    pub nobody: f64,
    /// What a table needs.
    pub table: Probing,
}

/// Packets between two looks at the watch: some 5 ms of work.
const CHUNK: usize = 1 << 16;

impl Runs {
    /// By enumeration over weights; `None` where that is out of reach.
    pub fn expected(set: &HandlerSet, weights: &[f64], unmatched: f64) -> Result<Option<Runs>> {
        let table = expected_probes(SelectionArm::TableCompact, set, weights, unmatched)?;
        let (Some(shares), Some(mean)) = (run_shares(set, weights, unmatched)?, table) else {
            return Ok(None);
        };
        // What a sum of shares misses of 1 by rounding is nobody's packet.
        const ROUNDING: f64 = 1e-9;
        let nobody = Some(1.0 - shares.iter().sum::<f64>()).filter(|nobody| *nobody > ROUNDING);
        let nobody = nobody.unwrap_or_default();
        Ok(Some(Runs { shares, nobody, table: Probing { mean, worst: worst_of_table(set) } }))
    }

    /// Counted over packets, of which there is at least one.
    pub fn counted(set: &HandlerSet, packets: &[Packet], watch: &Watch) -> Result<Runs> {
        let by_key = candidates(set);
        let (mut counts, mut nobody, mut probes) = (vec![0_u64; set.len()], 0_u64, 0_u64);
        for chunk in packets.chunks(CHUNK) {
            watch.check()?;
            for packet in chunk {
                // Looked up at least; then tested up to the first match, unless the first needs no test.
                probes += 1;
                let Some(candidates) = by_key.get(&packet.protocol) else {
                    nobody += 1;
                    continue;
                };
                let found = candidates.iter().position(|(_, residual)| residual.holds(packet));
                if !candidates[0].1.is_none() {
                    probes += found.map_or(candidates.len(), |at| at + 1) as u64;
                }
                match found {
                    Some(at) => counts[candidates[at].0] += 1,
                    None => nobody += 1,
                }
            }
        }
        let share = |count: u64| count as f64 / packets.len() as f64;
        Ok(Runs {
            shares: counts.into_iter().map(share).collect(),
            nobody: share(nobody),
            table: Probing { mean: share(probes), worst: worst_of_table(set) },
        })
    }

    /// What a list in the order of `set` needs: everybody up to the one that runs, and everybody where none does.
    pub fn list(&self, set: &HandlerSet) -> Probing {
        let places = set.order().iter().zip(1..);
        let found: f64 = places.map(|(&id, place)| self.shares[id] * f64::from(place)).sum();
        Probing { mean: found + self.nobody * set.len() as f64, worst: set.len() }
    }

    /// The same on average over all orders, where no predicates overlap.
    pub fn any_order(&self, handlers: usize) -> f64 {
        let n = handlers as f64;
        (1.0 - self.nobody) * (n + 1.0) / 2.0 + self.nobody * n
    }
}

/// Each key's handlers in registration order, as a table keeps them: none behind one that takes every packet.
fn candidates(set: &HandlerSet) -> HashMap<u16, Vec<(usize, Residual)>> {
    let mut by_key: HashMap<u16, Vec<(usize, Residual)>> = HashMap::new();
    for (id, spec) in set.registered() {
        let candidates = by_key.entry(spec.key).or_default();
        if candidates.last().is_none_or(|(_, last)| !last.is_none()) {
            candidates.push((id, spec.residual));
        }
    }
    by_key
}

/// A lookup and every candidate of the longest list.
fn worst_of_table(set: &HandlerSet) -> usize {
    let tests = |candidates: &Vec<(usize, Residual)>| match candidates[0].1 {
        Residual::None => 0,
        _ => candidates.len(),
    };
    1 + candidates(set).values().map(tests).max().unwrap_or(0)
}
