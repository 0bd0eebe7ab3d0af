//! Which share of what a table wins is had by sorting the list.

use crate::race::contrast::LEVEL;
use crate::race::statistics::{Interval, signed_rank_interval};
use crate::race::{Cell, Probes};

/// The arms that the share is made of.
pub const SCAN: &str = "scan";
pub const SORTED: &str = "scan_ordered";
pub const TABLE: &str = "table_compact";

/// (scan − sorted) / (scan − table): 0 where sorting changes nothing, 1 where it does as well as the table, above 1
/// where it does better. `None` where the table wins nothing, of which there is no share.
pub fn share(scan: f64, sorted: f64, table: f64) -> Option<f64> {
    (scan > table).then(|| (scan - sorted) / (scan - table))
}

/// The share of each block, by the block's number. `None` where the table wins nothing in some block.
pub fn by_block(cell: &Cell) -> Option<Vec<(u64, f64)>> {
    let costs = |arm: &str| Some(&cell.arm(arm)?.blocks);
    let (scan, sorted, table) = (costs(SCAN)?, costs(SORTED)?, costs(TABLE)?);
    let blocks = scan.iter().zip(sorted).zip(table);
    let shares = blocks.map(|((&scan, &sorted), &table)| share(scan, sorted, table));
    cell.block_numbers.iter().zip(shares).map(|(&number, share)| Some((number, share?))).collect()
}

/// The measured share of a race with its interval, over blocks: the three arms ran in the same rounds, so that drift
/// cancels.
pub fn measured(cell: &Cell) -> Option<Interval> {
    let shares: Vec<f64> = by_block(cell)?.into_iter().map(|(_, share)| share).collect();
    (!shares.is_empty()).then(|| signed_rank_interval(&shares, LEVEL))
}

/// The share in probes: exact for this input, and no matter of the clock.
pub fn in_probes(cell: &Cell) -> Option<f64> {
    let mean = |arm: &str| cell.arm(arm)?.probes.as_ref().map(|probes: &Probes| probes.mean);
    share(mean(SCAN)?, mean(SORTED)?, mean(TABLE)?)
}

/// How far two races' shares lie apart, over the blocks that both have.
pub fn apart(a: &Cell, b: &Cell) -> Option<Interval> {
    let (a, b) = (by_block(a)?, by_block(b)?);
    let differences: Vec<f64> = a
        .iter()
        .filter_map(|(number, share)| {
            let (_, other) = b.iter().find(|(other, _)| other == number)?;
            Some(share - other)
        })
        .collect();
    (!differences.is_empty()).then(|| signed_rank_interval(&differences, LEVEL))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn neither_unit_nor_common_cost_changes_the_share(
            table in 1.0..100.0f64, win in 1.0..1000.0f64, part in -0.5..1.5f64, scale in 0.01..100.0f64, common in 0.0..1e3f64,
        ) {
            let (scan, sorted) = (table + win, table + win * (1.0 - part));
            let of = |cost: f64| scale * cost + common;
            prop_assert!((share(scan, sorted, table).unwrap() - part).abs() < 1e-9);
            prop_assert!((share(of(scan), of(sorted), of(table)).unwrap() - part).abs() < 1e-6);
        }
    }

    #[test]
    fn the_ends_are_what_they_say() {
        assert_eq!(share(500.0, 500.0, 70.0), Some(0.0));
        assert_eq!(share(500.0, 70.0, 70.0), Some(1.0));
        // Sorting may make a list worse, or better than any table.
        assert!(share(500.0, 510.0, 70.0).unwrap() < 0.0 && share(500.0, 60.0, 70.0).unwrap() > 1.0);
        // Where the table wins nothing there is nothing to capture.
        assert_eq!(share(70.0, 60.0, 70.0), None);
        assert_eq!(share(60.0, 50.0, 70.0), None);
        assert_eq!(share(f64::NAN, 50.0, 70.0), None);
    }
}
