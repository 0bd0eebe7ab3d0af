//! The kata's scheme of keys and residual predicates.
//!
//! Handler `n` has key `n`, but about a tenth of them share keys and test the low bits of the payload's first byte
//! besides. Shared keys have three or four handlers each: with one each, a table would look better than it deserves.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{HandlerSpec, Residual};
use crate::{Error, Result};

/// The share at which the published rule applies, bit for bit.
pub const PUBLISHED_SHARE: f64 = 0.10;
/// The most handlers for which the published keys are defined.
pub const PUBLISHED_HANDLERS: usize = 100;
/// The first shared key (the public kata's figure).
pub const FIRST_SHARED_KEY: usize = 900;
/// Handlers that share a key at most: one for each value of the two bits that they test.
const MEMBERS: usize = 4;

/// What `n` handlers match at this share of residual ones. `n` has been checked.
pub(super) fn standard(n: usize, residual_share: f64, seed: u64) -> Result<Vec<HandlerSpec>> {
    if !(0.0..=1.0).contains(&residual_share) {
        return Err(Error::invalid("residual_share", residual_share, "a share between 0 and 1"));
    }
    if residual_share == PUBLISHED_SHARE {
        return Ok((0..n).map(|number| published(n, number)).collect());
    }
    let residual = drawn(n, (residual_share * n as f64).round() as usize, seed);
    let mut specs: Vec<HandlerSpec> = (0..n).map(ordinary).collect();
    let count = residual.len();
    for (position, n_residual) in residual.into_iter().enumerate() {
        specs[n_residual] = dealt(n, count, position);
    }
    Ok(specs)
}

/// What handler `number` of `n` matches at the published share: known when the program is compiled.
pub(super) const fn published(n: usize, number: usize) -> HandlerSpec {
    if number % 10 != 7 {
        return ordinary(number);
    }
    let position = number / 10;
    if n <= PUBLISHED_HANDLERS {
        return shared(FIRST_SHARED_KEY + (position + 1) % 3, position);
    }
    dealt(n, published_residual(n), position)
}

/// How many of `n` handlers are residual at the published share.
pub(super) const fn published_residual(n: usize) -> usize {
    (n + 2) / 10
}

/// How many keys `count` residual handlers share, where the published keys aren't defined.
pub(super) const fn groups(count: usize) -> usize {
    count.div_ceil(MEMBERS)
}

/// The first shared key, where the published keys aren't defined: above every ordinary key; 256 groups at most, so far
/// below traffic's unmatched keys.
pub(super) const fn first_shared_key(n: usize) -> usize {
    if n > FIRST_SHARED_KEY { n } else { FIRST_SHARED_KEY }
}

const fn ordinary(number: usize) -> HandlerSpec {
    HandlerSpec { key: number as u16, residual: Residual::None }
}

/// The residual handler at `position` of `count`, dealt to its group like a card, so that group sizes differ by one at
/// most.
const fn dealt(n: usize, count: usize, position: usize) -> HandlerSpec {
    let groups = groups(count);
    shared(first_shared_key(n) + position % groups, position / groups)
}

/// Most handlers of one key: each takes at least one of a byte's values.
pub const LONGEST_LIST: usize = 256;

/// What `n` handlers match where residual ones share keys by `length` at the most. A key's handlers cut the values of the
/// payload's first byte into ranges, so that each packet with the key matches exactly one of them: a longer list costs
/// more tests, and nothing else about it changes. `n` has been checked.
pub(super) fn lists(n: usize, residual_share: f64, length: usize, seed: u64) -> Result<Vec<HandlerSpec>> {
    if !(0.0..=1.0).contains(&residual_share) {
        return Err(Error::invalid("residual_share", residual_share, "a share between 0 and 1"));
    }
    if !(1..=LONGEST_LIST).contains(&length) {
        return Err(Error::invalid("list_length", length, format!("between 1 and {LONGEST_LIST}")));
    }
    let residual = drawn(n, (residual_share * n as f64).round() as usize, seed);
    let mut specs: Vec<HandlerSpec> =
        (0..n).map(|n| HandlerSpec { key: n as u16, residual: Residual::None }).collect();
    let (count, groups) = (residual.len(), residual.len().div_ceil(length));
    // Above every ordinary key, and with up to 1,024 lists far below traffic's unmatched keys.
    let base = FIRST_SHARED_KEY.max(n);
    for (position, n) in residual.into_iter().enumerate() {
        // Dealt out like cards, so that lists differ in length by one at most.
        let (group, member) = (position % groups, position / groups);
        let members = (count - group).div_ceil(groups);
        let bound = |member: usize| 256 * member / members;
        let residual =
            Residual::Range { offset: 0, low: bound(member) as u8, high: (bound(member + 1) - 1) as u8 };
        specs[n] = HandlerSpec { key: (base + group) as u16, residual };
    }
    Ok(specs)
}

const fn shared(key: usize, digit: usize) -> HandlerSpec {
    let residual = Residual::Mask { offset: 0, mask: 3, value: (digit & 3) as u8 };
    HandlerSpec { key: key as u16, residual }
}

/// `count` of `n` handlers by `seed`, in ascending order.
fn drawn(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn = rand::seq::index::sample(&mut random, n, count).into_vec();
    drawn.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_cover_every_byte_once(n in 1usize..=1024, share in 0.0..=1.0f64, length in 1usize..=256, seed: u64) {
            let specs = lists(n, share, length, seed).unwrap();
            let mut by_key = BTreeMap::<u16, Vec<(u8, u8)>>::new();
            for spec in &specs {
                if let Residual::Range { offset: 0, low, high } = spec.residual {
                    by_key.entry(spec.key).or_default().push((low, high));
                }
            }
            let residual: usize = by_key.values().map(Vec::len).sum();
            prop_assert_eq!(residual, (share * n as f64).round() as usize);
            let lengths = by_key.values().map(Vec::len);
            if let (Some(least), Some(most)) = (lengths.clone().min(), lengths.max()) {
                prop_assert!(most <= length && most - least <= 1);
            }
            for (key, mut ranges) in by_key {
                prop_assert!(usize::from(key) >= n.max(FIRST_SHARED_KEY) && key < 4096);
                ranges.sort_unstable();
                prop_assert_eq!((ranges[0].0, ranges[ranges.len() - 1].1), (0, 255));
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
            }
        }
    }

    #[test]
    fn what_makes_no_list_is_refused() {
        for (share, length, named) in [
            (1.5, 4, "residual_share = 1.5"),
            (f64::NAN, 4, "residual_share = NaN"),
            (0.5, 0, "list_length = 0"),
            (0.5, 257, "list_length = 257"),
        ] {
            let error = lists(10, share, length, 0).unwrap_err().to_string();
            assert!(error.starts_with(named), "{error}");
        }
    }
}
