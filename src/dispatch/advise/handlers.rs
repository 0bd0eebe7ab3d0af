//! The handlers that are advised on, and how often each runs.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::runs::Runs;
use super::{DRAWN, Order, Question, Seen, draw};
use crate::dispatch::{HandlerSet, HandlerSpec, MAX_HANDLERS, Residual};
use crate::race::Watch;
use crate::traffic::{Packet, key_counts};
use crate::{Error, Result};

/// Orders of which the median is taken.
const SHUFFLES: usize = 99;
/// Keeps the orders' stream apart from that of the keys that get predicates (SplitMix64's increment, as in the generator).
const ORDER_STREAM: u64 = 0x9e37_79b9_7f4a_7c15;
/// Handlers of a key that is told apart by two bits of the payload's first byte.
const MEMBERS: usize = 4;

/// Handlers, in an order, and what the traffic asks of them.
pub(super) struct Workload {
    pub set: HandlerSet,
    pub order: Order,
    pub runs: Runs,
    pub total: f64,
    pub unclaimed_keys: usize,
    /// By handler number, and the share of keys that nobody claims; `None` where packets were given.
    weights: Option<(Vec<f64>, f64)>,
}

impl Workload {
    /// At most `count` packets of the traffic: the first of those given, or drawn ones.
    pub fn packets(&self, question: &Question, count: usize, watch: &Watch) -> Result<Vec<Packet>> {
        match (&question.seen, &self.weights) {
            (Seen::Packets(packets), _) => Ok(packets[..count.min(packets.len())].to_vec()),
            (_, Some((weights, unmatched))) => {
                draw(&self.set, weights, *unmatched, count, question.seed, watch)
            }
            (_, None) => unreachable!("weights are kept wherever no packets were given"),
        }
    }
}

/// Finds or makes the handlers, and counts.
pub(super) fn workload(question: &Question, watch: &Watch) -> Result<Workload> {
    let (keys, total) = keys_seen(question, watch)?;
    let (set, order_given) = match &question.set {
        Some(set) => {
            if let Some(handlers) = question.handlers {
                return Err(Error::invalid(
                    "handlers",
                    handlers,
                    "handlers were given already; leave it out",
                ));
            }
            if set.built_in() < set.len() {
                let wanted =
                    "built-in handlers only: what a plugin's predicate accepts can't be told beforehand";
                return Err(Error::invalid("handlers", "a set with a plugin", wanted));
            }
            (set.clone(), true)
        }
        None => (made(question, &keys)?, question.order_given),
    };
    let claimed: HashMap<u16, usize> = set.specs().iter().fold(HashMap::new(), |mut claimed, spec| {
        *claimed.entry(spec.key).or_default() += 1;
        claimed
    });
    let unclaimed_keys = keys.iter().filter(|(key, _)| !claimed.contains_key(key)).count();
    let weights = match &question.seen {
        Seen::Packets(_) => None,
        Seen::Handlers(weights) => Some((weights.clone(), 0.0)),
        Seen::Keys(_) => {
            let by_key: HashMap<u16, f64> = keys.iter().copied().collect();
            let weight = |spec: &HandlerSpec| {
                by_key.get(&spec.key).copied().unwrap_or_default() / claimed[&spec.key] as f64
            };
            let weights: Vec<f64> = set.specs().iter().map(weight).collect();
            let unclaimed: f64 =
                keys.iter().filter(|(key, _)| !claimed.contains_key(key)).map(|(_, weight)| weight).sum();
            if unclaimed >= total {
                let wanted = "wanted traffic of which the handlers claim at least one key";
                return Err(Error::invalid("weights", format!("{} keys", keys.len()), wanted));
            }
            Some((weights, unclaimed / total))
        }
    };
    let runs = runs(&set, question, weights.as_ref(), watch)?;
    let (set, order) = match order_given {
        true => (set, Order::Given),
        false => (typical(&set, &runs, question.seed)?, Order::Typical),
    };
    Ok(Workload { set, order, runs, total, unclaimed_keys, weights })
}

fn runs(
    set: &HandlerSet,
    question: &Question,
    weights: Option<&(Vec<f64>, f64)>,
    watch: &Watch,
) -> Result<Runs> {
    match (&question.seen, weights) {
        (Seen::Packets(packets), _) => Runs::counted(set, packets, watch),
        (_, Some((weights, unmatched))) => match Runs::expected(set, weights, *unmatched)? {
            Some(runs) => Ok(runs),
            None => {
                let packets = draw(set, weights, *unmatched, DRAWN, question.seed, watch)?;
                Runs::counted(set, &packets, watch)
            }
        },
        (_, None) => unreachable!("weights are kept wherever no packets were given"),
    }
}

/// Each key once with its weight, in the order of first appearance, and the sum.
fn keys_seen(question: &Question, watch: &Watch) -> Result<(Vec<(u16, f64)>, f64)> {
    let refuse = |value: &f64, what: &str| {
        let wanted = format!("wanted finite numbers of 0 or more{what}");
        Err(Error::invalid("weights", value, wanted))
    };
    let keys = match &question.seen {
        Seen::Packets(packets) if packets.is_empty() => {
            return Err(Error::invalid("packets", "0 packets", "wanted at least one"));
        }
        Seen::Packets(packets) => {
            key_counts(packets, watch)?.into_iter().map(|(key, count)| (key, count as f64)).collect()
        }
        Seen::Handlers(weights) => {
            let set = question.set.as_ref();
            let specs = set.map(HandlerSet::specs).filter(|specs| specs.len() == weights.len());
            let Some(specs) = specs else {
                let wanted = format!("wanted one for each of {} handlers", set.map_or(0, HandlerSet::len));
                return Err(Error::invalid("weights", format!("{} weights", weights.len()), wanted));
            };
            specs.iter().map(|spec| spec.key).zip(weights.iter().copied()).collect()
        }
        Seen::Keys(keys) => keys.clone(),
    };
    let mut place: HashMap<u16, usize> = HashMap::new();
    let mut once: Vec<(u16, f64)> = Vec::new();
    for (key, weight) in keys {
        if !(weight.is_finite() && weight >= 0.0) {
            return refuse(&weight, "");
        }
        match place.get(&key) {
            Some(&at) => once[at].1 += weight,
            None => {
                place.insert(key, once.len());
                once.push((key, weight));
            }
        }
    }
    if once.is_empty() {
        return Err(Error::invalid("weights", "no weights", "wanted at least one key with a weight"));
    }
    let total: f64 = once.iter().map(|(_, weight)| weight).sum();
    // Shares of the smallest numbers that there are would be no shares.
    if !(total.is_finite() && total > 1e-200) {
        return refuse(&total, " with a finite sum above 0");
    }
    Ok((once, total))
}

/// Handlers for the most frequent keys, in the order in which the keys stand.
fn made(question: &Question, keys: &[(u16, f64)]) -> Result<HandlerSet> {
    let wanted_keys = question.handlers.unwrap_or(keys.len());
    if wanted_keys == 0 || (question.handlers.is_some() && wanted_keys > MAX_HANDLERS) {
        let wanted = format!("wanted 1 to {MAX_HANDLERS}");
        return Err(Error::invalid("handlers", wanted_keys, wanted));
    }
    let mut count = wanted_keys.min(keys.len()).min(MAX_HANDLERS);
    let (mut shared, mut overlapping) = predicates(question, count)?;
    while count + (MEMBERS - 1) * shared + overlapping > MAX_HANDLERS {
        if question.handlers.is_some() {
            let all = count + (MEMBERS - 1) * shared + overlapping;
            let wanted = format!("its predicates make {all} handlers of that, more than {MAX_HANDLERS}");
            return Err(Error::invalid("handlers", count, wanted));
        }
        count -= 1;
        (shared, overlapping) = predicates(question, count)?;
    }
    // The most frequent keys, and of those the order that they had.
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_by(|&a, &b| keys[b].1.total_cmp(&keys[a].1).then(keys[a].0.cmp(&keys[b].0)));
    places.truncate(count);
    places.sort_unstable();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(question.seed);
    let mut drawn: Vec<usize> = (0..count).collect();
    drawn.shuffle(&mut random);
    let kind = |at: usize| drawn.iter().position(|&place| place == at).unwrap_or(count);
    let mut specs = Vec::new();
    for (at, &place) in places.iter().enumerate() {
        let key = keys[place].0;
        let testing = |value: usize| {
            let residual = Residual::Mask { offset: 0, mask: (MEMBERS - 1) as u8, value: value as u8 };
            HandlerSpec { key, residual }
        };
        let kind = kind(at);
        if kind < shared {
            specs.extend((0..MEMBERS).map(testing));
            continue;
        }
        if kind < shared + overlapping {
            specs.push(testing(0));
        }
        specs.push(HandlerSpec { key, residual: Residual::None });
    }
    HandlerSet::from_specs(specs, question.body)
}

/// How many of `keys` keys have [`MEMBERS`] handlers each, and how many a specific one before a general one.
fn predicates(question: &Question, keys: usize) -> Result<(usize, usize)> {
    let (share, many) = (question.residual_share, keys as f64);
    // s keys with 4 handlers each among K + 3s handlers: 4s = share · (K + 3s).
    let members = MEMBERS as f64;
    let shared = (share * many / (members - (members - 1.0) * share)).round() as usize;
    let overlapping = (question.overlap * many).round() as usize;
    if shared + overlapping > keys {
        let wanted = format!("together with residual_share it asks for more than the {keys} keys there are");
        return Err(Error::invalid("overlap", question.overlap, wanted));
    }
    Ok((shared, overlapping))
}

/// The set in an order as good as any: of many shuffles, overlapping pairs kept, the one with the median of probes.
fn typical(set: &HandlerSet, runs: &Runs, seed: u64) -> Result<HandlerSet> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ ORDER_STREAM);
    let pairs = set.overlaps();
    let mut orders = Vec::with_capacity(SHUFFLES);
    for _ in 0..SHUFFLES {
        let mut order = set.order().to_vec();
        order.shuffle(&mut random);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &id)| place[id] = at);
        // Pairs made here have no handler in common, and the first of each was registered first.
        for &(first, second) in &pairs {
            if place[first] > place[second] {
                order.swap(place[first], place[second]);
                place.swap(first, second);
            }
        }
        let order = set.reordered(&order)?;
        orders.push((runs.list(&order).mean, order));
    }
    orders.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(orders.swap_remove(SHUFFLES / 2).1)
}
