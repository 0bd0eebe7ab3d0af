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
    let published = residual_share == PUBLISHED_SHARE;
    let residual = if published {
        (0..n).filter(|n| n % 10 == 7).collect()
    } else {
        drawn(n, (residual_share * n as f64).round() as usize, seed)
    };
    let mut specs: Vec<HandlerSpec> =
        (0..n).map(|n| HandlerSpec { key: n as u16, residual: Residual::None }).collect();
    if published && n <= PUBLISHED_HANDLERS {
        for n in residual {
            specs[n] = shared(FIRST_SHARED_KEY + (n / 10 + 1) % 3, n / 10);
        }
        return Ok(specs);
    }
    let groups = residual.len().div_ceil(MEMBERS);
    // Above every ordinary key; 256 groups at most, so far below traffic's
    // unmatched keys.
    let base = FIRST_SHARED_KEY.max(n);
    for (position, n) in residual.into_iter().enumerate() {
        // Dealt out like cards, so that group sizes differ by one at most.
        specs[n] = shared(base + position % groups, position / groups);
    }
    Ok(specs)
}

fn shared(key: usize, digit: usize) -> HandlerSpec {
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
