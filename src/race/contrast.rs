//! Figures that follow from several arms or cells, with their intervals.

use std::collections::BTreeMap;

use super::report::{Cell, Contrast, Status};
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
    let interval = over_blocks(terms)?;
    let unit = serde_json::to_value(terms.first()?.1.unit).ok()?.as_str()?.to_string();
    let (value, low, high) = (interval.estimate, interval.low, interval.high);
    let void = terms.iter().any(|(_, cell, _)| cell.status == Status::NoVerdict);
    Some(Contrast { name, what, value, low, high, unit, level: LEVEL, margin: margin(terms), void })
}

/// What the races' controls leave open of a weighted sum: the most that any of its terms may be off by.
fn margin(terms: &[Term]) -> f64 {
    let open = terms.iter().filter_map(|(factor, cell, arm)| {
        Some(factor.abs() * cell.resolvable_margin * cell.arm(arm)?.median).filter(|open| open.is_finite())
    });
    open.fold(0.0, f64::max)
}

/// The interval of a weighted sum over the blocks that all cells have: joined by number, since a block that one race lost
/// has no partner in the others. `None` if an arm isn't there, or without a common block.
pub fn over_blocks(terms: &[Term]) -> Option<Interval> {
    let mut sums: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
    for (factor, cell, arm) in terms {
        for (number, cost) in cell.block_numbers.iter().zip(&cell.arm(arm)?.blocks) {
            let (seen, sum) = sums.entry(*number).or_default();
            *seen += 1;
            *sum += factor * cost;
        }
    }
    let common: Vec<f64> =
        sums.into_values().filter(|(seen, _)| *seen == terms.len()).map(|(_, sum)| sum).collect();
    (!common.is_empty()).then(|| signed_rank_interval(&common, LEVEL))
}
