//! Figures that follow from several arms or cells, with their intervals.

use super::report::{Cell, Contrast};
use super::statistics::{Interval, signed_rank_interval};

/// Confidence level of contrasts.
pub const LEVEL: f64 = 0.95;

/// One term of a contrast: a factor, and the cost of an arm in a cell.
pub type Term<'a> = (f64, &'a Cell, &'a str);

/// A weighted sum of costs, paired by block: arms of one race ran in the same rounds, and the races of one run took
/// turns block by block, so that the machine's drift cancels. Hodges–Lehmann with signed ranks over the blocks' sums.
///
/// `None` if an arm isn't there.
pub fn linear(terms: &[Term], name: String, what: String) -> Option<Contrast> {
    let blocks = terms
        .iter()
        .map(|(factor, cell, arm)| Some((*factor, &cell.arm(arm)?.blocks)))
        .collect::<Option<Vec<_>>>()?;
    let interval = over_blocks(&blocks)?;
    let unit = serde_json::to_value(terms.first()?.1.unit).ok()?.as_str()?.to_string();
    let (value, low, high) = (interval.estimate, interval.low, interval.high);
    Some(Contrast { name, what, value, low, high, unit, level: LEVEL })
}

/// What `dear` costs beyond `cheap`, block by block.
pub fn paired(dear: &[f64], cheap: &[f64]) -> Interval {
    over_blocks(&[(1.0, &dear.to_vec()), (-1.0, &cheap.to_vec())]).expect("blocks on both sides")
}

/// Where one side has more blocks than another, its last ones have no partner. `None` without a common block.
fn over_blocks(terms: &[(f64, &Vec<f64>)]) -> Option<Interval> {
    let common = terms.iter().map(|(_, blocks)| blocks.len()).min().filter(|&common| common > 0)?;
    let sums: Vec<f64> =
        (0..common).map(|block| terms.iter().map(|(factor, blocks)| factor * blocks[block]).sum()).collect();
    Some(signed_rank_interval(&sums, LEVEL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_that_both_share_cancels() {
        let drift: Vec<f64> = (0..40).map(|block| f64::from(block * block % 37)).collect();
        let dear: Vec<f64> = drift.iter().map(|d| 50.0 + d).collect();
        let cheap: Vec<f64> = drift.iter().map(|d| 40.0 + d).collect();
        let interval = paired(&dear, &cheap);
        assert_eq!((interval.low, interval.estimate, interval.high), (10.0, 10.0, 10.0));
    }

    #[test]
    fn only_common_blocks_count() {
        let dear = vec![1.0; 30];
        let mut cheap = vec![0.0; 40];
        cheap[30..].fill(1e9);
        assert_eq!(paired(&dear, &cheap).estimate, 1.0);
        assert!(over_blocks(&[(1.0, &vec![])]).is_none());
    }
}
