//! Orders by frequency: free, and with overlapping pairs left as they are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::dispatch::HandlerSet;

/// Handler numbers, the one that runs most often first, ties in registration order.
pub(super) fn by_frequency(set: &HandlerSet, shares: &[f64]) -> Vec<usize> {
    let mut order = set.order().to_vec();
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    order
}

/// The same, but of two handlers that can both match a packet the one that is registered first stays first: whom each
/// packet runs doesn't change. Greedy: next is always the most frequent handler whose overlapping predecessors are
/// placed. (The best such order is a scheduling problem, 1|prec|Σ wC, hard in general: Lawler 1978.)
pub(super) fn kept_order(set: &HandlerSet, shares: &[f64]) -> Vec<usize> {
    let mut place = vec![0; set.len()];
    set.order().iter().enumerate().for_each(|(at, &id)| place[id] = at);
    let (mut waits_for, mut before) = (vec![0_usize; set.len()], vec![Vec::new(); set.len()]);
    for (a, b) in set.overlaps() {
        let (first, second) = if place[a] < place[b] { (a, b) } else { (b, a) };
        waits_for[second] += 1;
        before[first].push(second);
    }
    // Shares are never negative, so their bits are ordered as they are.
    let rank = |id: usize| (shares[id].to_bits(), Reverse(place[id]), id);
    let mut ready: BinaryHeap<_> = (0..set.len()).filter(|&id| waits_for[id] == 0).map(rank).collect();
    let mut order = Vec::with_capacity(set.len());
    while let Some((_, _, id)) = ready.pop() {
        order.push(id);
        for &next in &before[id] {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push(rank(next));
            }
        }
    }
    order
}
