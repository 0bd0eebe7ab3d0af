//! The handlers and packets of a burst, by how their keys lie in the 16-bit space.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::Result;
use crate::dispatch::{Body, HandlerSet, HandlerSpec};
use crate::race::Watch;
use crate::traffic::{Law, Packet, Traffic};

/// How keys lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// The kata's: handlers side by side at the low end, unmatched packets in 256 more.
    Kata,
    /// The handlers' keys as far apart as 16 bits allow.
    Spread,
    /// Packets with any key at all, drawn uniformly: a port scan, nearly all of it unmatched.
    Random,
}

impl Keys {
    pub const NAMES: [&'static str; 3] = ["kata", "spread", "random"];

    /// The one of that name, which the parameter has accepted.
    pub fn named(name: &str) -> Self {
        match name {
            "spread" => Keys::Spread,
            "random" => Keys::Random,
            _ => Keys::Kata,
        }
    }
}

/// Handlers and a burst of `count` packets for them.
pub fn burst(
    keys: Keys,
    handlers: usize,
    body: Body,
    count: usize,
    seed: u64,
    watch: &Watch,
) -> Result<(HandlerSet, Vec<Packet>)> {
    let kata = HandlerSet::standard(handlers, body, crate::dispatch::scheme::PUBLISHED_SHARE, seed)?;
    let set = if keys == Keys::Spread { spread(&kata)? } else { kata };
    let mut packets = Traffic::new(Law::Uniform).seed(seed).generate(count, &set.keys(), &watch.silent())?;
    if keys == Keys::Random {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        packets.iter_mut().for_each(|packet| packet.protocol = random.random());
    }
    Ok((set, packets))
}

/// The same handlers with their different keys moved apart, by an odd step: then no two of them share low bits, and a
/// compact table stays as small as it is.
fn spread(set: &HandlerSet) -> Result<HandlerSet> {
    let mut distinct = set.keys();
    distinct.sort_unstable();
    distinct.dedup();
    let step = (((1usize << 16) / distinct.len()).max(2) - 1) | 1;
    let moved = |key: u16| {
        let at = distinct.binary_search(&key).expect("one of them");
        (at * step) as u16
    };
    let specs = set.specs().iter().map(|spec| HandlerSpec { key: moved(spec.key), residual: spec.residual });
    HandlerSet::from_specs(specs.collect(), set.body())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn spreading_keeps_keys_apart_and_lists_together(handlers in 1usize..=1024) {
            let kata = HandlerSet::standard(handlers, Body::Tiny, 0.10, 0).unwrap();
            let spread = spread(&kata).unwrap();
            prop_assert_eq!(kata.distinct_keys(), spread.distinct_keys());
            for (a, b) in kata.specs().iter().zip(spread.specs()) {
                prop_assert_eq!(a.residual, b.residual);
            }
            // An odd step: as many different low ten bits as there are keys, up to what ten bits can tell.
            let low: HashSet<u16> = spread.keys().iter().map(|key| key & 1023).collect();
            prop_assert_eq!(low.len(), kata.distinct_keys());
        }
    }

    #[test]
    fn random_keys_reach_everywhere() {
        let (_, packets) = burst(Keys::Random, 100, Body::Tiny, 20_000, 1, &Watch::new()).unwrap();
        let high: HashSet<u16> = packets.iter().map(|packet| packet.protocol >> 8).collect();
        assert_eq!(high.len(), 256);
        for (name, keys) in Keys::NAMES.into_iter().zip([Keys::Kata, Keys::Spread, Keys::Random]) {
            assert_eq!(Keys::named(name), keys);
        }
    }
}
