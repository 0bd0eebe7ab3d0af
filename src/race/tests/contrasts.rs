//! Sums over paired blocks.

use super::*;

/// A real cell with its blocks replaced.
fn cell_with(numbers: &[u64], blocks: &[f64]) -> Cell {
    let arms =
        vec![entry("a", Role::Baseline, Fold { repeats: 1 }), entry("b", Role::Arm, Fold { repeats: 1 })];
    let mut cell = race(arms).expect("a race");
    cell.block_numbers = numbers.to_vec();
    cell.arms[0].blocks = blocks.to_vec();
    cell
}

#[test]
fn drift_that_both_share_cancels_and_lost_blocks_have_no_partner() {
    let drift = |number: u64| (number * number % 37) as f64;
    let dear_numbers: Vec<u64> = (0..40).collect();
    // The other race lost two blocks: paired by position, everything after them would be out of step.
    let cheap_numbers: Vec<u64> = (0..40).filter(|number| ![3, 17].contains(number)).collect();
    let dear = cell_with(&dear_numbers, &dear_numbers.iter().map(|n| 50.0 + drift(*n)).collect::<Vec<_>>());
    let cheap =
        cell_with(&cheap_numbers, &cheap_numbers.iter().map(|n| 40.0 + drift(*n)).collect::<Vec<_>>());
    let interval = contrast::over_blocks(&[(1.0, &dear, "a"), (-1.0, &cheap, "a")]).expect("common blocks");
    assert_eq!((interval.low, interval.estimate, interval.high), (10.0, 10.0, 10.0));
    assert!(contrast::over_blocks(&[(1.0, &dear, "absent")]).is_none());
    let apart = cell_with(&[100, 101], &[1.0, 2.0]);
    assert!(contrast::over_blocks(&[(1.0, &dear, "a"), (-1.0, &apart, "a")]).is_none());
}
