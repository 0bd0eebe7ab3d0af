//! Which handler holds which rank.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// A uniformly drawn permutation of `0..count`, by Fisher and Yates (Durstenfeld's form, CACM 7:420, 1964).
///
/// Bounded draws are the high half of a 64 × 64-bit product (Lemire, ACM TOMACS 29:3, 2019) without its rejection
/// step: the bias is below `count` / 2⁶⁴, and every draw takes exactly one word, on every version of every library.
pub(super) fn permutation(count: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let drawn = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        order.swap(last, drawn as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn holds_each_once(count in 0usize..2_000, seed: u64) {
            let mut order = permutation(count, seed);
            order.sort_unstable();
            prop_assert!(order.into_iter().eq(0..count));
        }
    }

    #[test]
    fn all_orders_are_equally_likely() {
        let mut seen: HashMap<Vec<usize>, u32> = HashMap::new();
        for seed in 0..24_000 {
            *seen.entry(permutation(4, seed)).or_default() += 1;
        }
        // 24 orders, 1,000 expected of each: five standard deviations are 155.
        assert_eq!(seen.len(), 24);
        assert!(seen.values().all(|count| (845..=1_155).contains(count)), "{seen:?}");
    }

    #[test]
    fn is_the_same_on_every_version() {
        assert_eq!(permutation(10, 7), [3, 8, 9, 4, 6, 7, 2, 5, 1, 0]);
    }
}
