//! Keys that no handler claims.

use rand::Rng;

use crate::{Error, Result};

/// Where keys of unmatched packets come from (the dispatch kata's range).
pub const UNMATCHED_KEYS: std::ops::RangeInclusive<u16> = 4096..=4351;

/// The keys of [`UNMATCHED_KEYS`] that are free, drawn uniformly.
pub(super) struct UnmatchedKeys {
    free: Vec<u16>,
}

impl UnmatchedKeys {
    /// Leaves out what handlers claim; refuses if nothing is left and `share` asks for some.
    pub(super) fn new(claimed: &[u16], share: f64) -> Result<Self> {
        let free: Vec<u16> = UNMATCHED_KEYS.filter(|key| !claimed.contains(key)).collect();
        if free.is_empty() && share > 0.0 {
            let wanted = "handlers claim every key from 4096 to 4351, which leaves none for unmatched packets: \
                          wanted 0, or other keys";
            return Err(Error::invalid("unmatched", share, wanted));
        }
        Ok(UnmatchedKeys { free })
    }

    /// One free key; takes one word. Seldom needed, so it stays out of the loop.
    #[inline(never)]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u16 {
        // High half of the product, as in `permutation`: the bias is below 2⁻⁵⁶.
        self.free[((u128::from(random.next_u64()) * self.free.len() as u128) >> 64) as usize]
    }
}
