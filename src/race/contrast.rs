//! Figures that follow from several arms or cells, with their intervals.

use super::report::{Cell, Contrast};
use super::statistics::{sign_interval, signed_rank_interval};

/// Confidence level of contrasts.
pub const LEVEL: f64 = 0.95;

/// What `dear` costs beyond `cheap` in one race, an operation: paired by block, Hodges–Lehmann with signed ranks.
/// `None` if an arm isn't there.
pub fn difference(cell: &Cell, dear: &str, cheap: &str, name: String, what: String) -> Option<Contrast> {
    let (dear, cheap) = (cell.arm(dear)?, cell.arm(cheap)?);
    let differences: Vec<f64> =
        dear.blocks.iter().zip(&cheap.blocks).map(|(dear, cheap)| dear - cheap).collect();
    let interval = signed_rank_interval(&differences, LEVEL);
    let (value, low, high) = (interval.estimate, interval.low, interval.high);
    let unit = unit(cell);
    Some(Contrast { name, what, value, low, high, unit, level: LEVEL, paired: true })
}

/// What an arm costs in one cell beyond another cell: two races, one after the other, so not paired. The intervals of
/// the two medians are combined as independent.
pub fn across(dear: &Cell, cheap: &Cell, arm: &str, name: String, what: String) -> Option<Contrast> {
    let [dear_median, cheap_median] =
        [dear, cheap].map(|cell| Some(sign_interval(&cell.arm(arm)?.blocks, LEVEL)));
    let (dear_median, cheap_median) = (dear_median?, cheap_median?);
    let value = dear_median.estimate - cheap_median.estimate;
    let below = (dear_median.estimate - dear_median.low).hypot(cheap_median.high - cheap_median.estimate);
    let above = (dear_median.high - dear_median.estimate).hypot(cheap_median.estimate - cheap_median.low);
    let (low, high) = (value - below, value + above);
    Some(Contrast { name, what, value, low, high, unit: unit(dear), level: LEVEL, paired: false })
}

/// The difference of two independent contrasts.
pub fn minus(first: &Contrast, second: &Contrast, name: &str, what: &str) -> Contrast {
    let value = first.value - second.value;
    let below = (first.value - first.low).hypot(second.high - second.value);
    let above = (first.high - first.value).hypot(second.value - second.low);
    Contrast {
        name: name.into(),
        what: what.into(),
        value,
        low: value - below,
        high: value + above,
        unit: first.unit.clone(),
        level: first.level,
        paired: false,
    }
}

fn unit(cell: &Cell) -> String {
    serde_json::to_value(cell.unit).ok().and_then(|unit| unit.as_str().map(String::from)).unwrap_or_default()
}
