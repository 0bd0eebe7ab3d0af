//! Registration order: what depends on it, and whether it already follows the traffic.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use serde::Serialize;

use super::{HandlerSet, reference};
use crate::Result;
use crate::race::{Check, Watch};
use crate::traffic::Packet;

/// Packets between two looks at the watch: 1,024 handlers asked of each take about 5 ms, two sets of them 10.
const CHUNK: usize = 4096;

/// How often each handler runs, by its number, and how many packets run none.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn run_counts(set: &HandlerSet, packets: &[Packet], watch: &Watch) -> Result<(Vec<usize>, usize)> {
    let mut counts = vec![0; set.len()];
    let mut unmatched = 0;
    for chunk in packets.chunks(CHUNK) {
        watch.check()?;
        for packet in chunk {
            match reference::running(set, packet) {
                Some(id) => counts[id] += 1,
                None => unmatched += 1,
            }
        }
    }
    Ok((counts, unmatched))
}

/// The handlers by how often each runs, most often first, ties in registration order: handler numbers.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn frequency_order(set: &HandlerSet, packets: &[Packet], watch: &Watch) -> Result<Vec<usize>> {
    let (counts, _) = run_counts(set, packets, watch)?;
    let mut order = set.order().to_vec();
    order.sort_by_key(|&id| std::cmp::Reverse(counts[id]));
    Ok(order)
}

/// How many packets run another handler when the set is registered in order `a` than in order `b`. Any above zero says
/// that order is behaviour: predicates overlap, and sorting the list changes what the service does.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) unless both orders name each handler once;
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn changed_handlers(
    set: &HandlerSet,
    packets: &[Packet],
    a: &[usize],
    b: &[usize],
    watch: &Watch,
) -> Result<usize> {
    let (a, b) = (set.reordered(a)?, set.reordered(b)?);
    let mut changed = 0;
    for chunk in packets.chunks(CHUNK) {
        watch.check()?;
        let differs = |packet: &&Packet| reference::running(&a, packet) != reference::running(&b, packet);
        changed += chunk.iter().filter(differs).count();
    }
    Ok(changed)
}

/// How far the registration order already follows the traffic.
#[derive(Debug, Clone, Serialize)]
pub struct TrafficOrder {
    /// Number of the handler that runs most often.
    pub busiest: usize,
    /// Its place in the list, from 0.
    pub position: usize,
    /// Its share of all packets.
    pub share: f64,
    /// Mean place of the handler that runs, from 1, in registration order.
    pub mean_place: f64,
    /// The same over a random order: (handlers + 1) / 2.
    pub random_place: f64,
    /// The same once sorted by frequency.
    pub sorted_place: f64,
    /// Share of random orders in which that mean is as low as in this one.
    pub chance: f64,
}

/// Random orders that [`busiest_first`] compares with: resolves a chance of 0.1 %.
const SHUFFLES: usize = 999;
/// Sorting must be able to save this share of the mean place before order says anything about traffic.
const WORTH_SORTING: f64 = 0.05;
/// With less than this share of that saving left, the list counts as sorted beforehand.
const ALREADY_SORTED: f64 = 0.05;

/// Is the busiest handler already first in the list, and the list as good as sorted? `None` if nobody runs.
///
/// A generator that gives the first handlers the most traffic leaves a sort by frequency nothing to fix, and so
/// reverses what a race of the two concludes, with figures that look sound.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
pub fn busiest_first(set: &HandlerSet, packets: &[Packet], watch: &Watch) -> Result<Option<TrafficOrder>> {
    let (counts, unmatched) = run_counts(set, packets, watch)?;
    Ok(judge(set, &counts, packets.len(), unmatched))
}

fn judge(set: &HandlerSet, counts: &[usize], packets: usize, unmatched: usize) -> Option<TrafficOrder> {
    let matched = packets - unmatched;
    let in_order: Vec<usize> = set.order().iter().map(|&id| counts[id]).collect();
    let mean_place = |counts: &[usize]| {
        let places: usize = counts.iter().zip(1..).map(|(count, place)| count * place).sum();
        places as f64 / matched as f64
    };
    let most = *in_order.iter().max().filter(|&&most| most > 0)?;
    let position = in_order.iter().position(|&count| count == most)?;
    let mut sorted = in_order.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let here = mean_place(&in_order);
    // A fixed seed: the audit of the same input says the same thing each time.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut shuffled = in_order.clone();
    let as_low = (0..SHUFFLES).filter(|_| {
        shuffled.shuffle(&mut random);
        mean_place(&shuffled) <= here
    });
    Some(TrafficOrder {
        busiest: set.order()[position],
        position,
        share: most as f64 / packets as f64,
        mean_place: here,
        random_place: (set.len() + 1) as f64 / 2.0,
        sorted_place: mean_place(&sorted),
        chance: (1 + as_low.count()) as f64 / (1 + SHUFFLES) as f64,
    })
}

impl TrafficOrder {
    /// Of what sorting saves over a random order, the share that it would still save over this one. Above 1 where this
    /// order is worse than random.
    pub fn gain_left(&self) -> f64 {
        (self.mean_place - self.sorted_place) / (self.random_place - self.sorted_place)
    }

    /// As a check: fails where the list is as good as sorted by the traffic it is to be measured on.
    pub fn check(&self) -> Check {
        const NAME: &str = "list-not-sorted-beforehand";
        if self.random_place - self.sorted_place < WORTH_SORTING * self.random_place {
            let detail = format!(
                "no order to exploit: sorting brings the mean place from {:.2} to {:.2}",
                self.random_place, self.sorted_place
            );
            return Check::not_applicable(NAME, detail);
        }
        let detail = format!(
            "the busiest handler ({}, {:.1} % of packets) stands at place {}; mean place {:.2}, sorted {:.2}, random {:.2}; \
             {:.1} % of random orders are as good",
            self.busiest,
            100.0 * self.share,
            self.position + 1,
            self.mean_place,
            self.sorted_place,
            self.random_place,
            100.0 * self.chance
        );
        Check::new(NAME, self.gain_left() >= ALREADY_SORTED, detail)
    }
}
