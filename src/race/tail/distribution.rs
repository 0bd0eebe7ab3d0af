//! What is kept of many times: percentiles, mean, a compact histogram.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::race::statistics::{Interval, sign_interval};

/// Percentiles, in nanoseconds: the smallest time that at least that share of operations doesn't exceed (nearest rank), to
/// within the histogram's 0.1 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// The greatest of all, exactly.
    pub max: f64,
}

/// The shares, in the order of the fields.
pub(super) const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Of so many times beyond a percentile rests one that is given for a single placement.
const LEAST_BEYOND: f64 = 4.0;

impl Percentiles {
    /// Of a histogram of counts with its exact greatest value.
    pub(super) fn of(counts: &Histogram<u64>, max: u64, ns_per_count: f64) -> Self {
        // The histogram gives the upper end of the bucket, which may lie above anything that was seen.
        let at = |share: f64| counts.value_at_quantile(share).min(max) as f64 * ns_per_count;
        let [p50, p90, p99, p999] = SHARES.map(at);
        Percentiles { p50, p90, p99, p999, max: max as f64 * ns_per_count }
    }

    /// The same, without those that rest on too few of `count` times to be anything but the greatest.
    pub(super) fn where_supported(mut self, count: u64) -> Self {
        let fields = [&mut self.p50, &mut self.p90, &mut self.p99, &mut self.p999];
        for (value, share) in fields.into_iter().zip(SHARES) {
            if (count as f64) * (1.0 - share) < LEAST_BEYOND {
                *value = f64::NAN;
            }
        }
        self
    }
}

/// The median placement's percentiles, with intervals by the sign test: distribution-free.
#[derive(Debug, Clone, Serialize)]
pub struct Typical {
    /// Median.
    pub p50: Option<Interval>,
    /// 90th percentile.
    pub p90: Option<Interval>,
    /// 99th percentile; `None` where a placement has too few operations for one.
    pub p99: Option<Interval>,
    /// 99.9th percentile; likewise.
    pub p999: Option<Interval>,
}

impl Typical {
    /// Over the percentiles of each placement.
    pub(super) fn of(blocks: &[Percentiles], level: f64) -> Self {
        let over = |percentile: fn(&Percentiles) -> f64| {
            let values: Vec<f64> = blocks.iter().map(percentile).collect();
            (!values.is_empty() && values.iter().all(|value| value.is_finite()))
                .then(|| sign_interval(&values, level))
        };
        Typical { p50: over(|b| b.p50), p90: over(|b| b.p90), p99: over(|b| b.p99), p999: over(|b| b.p999) }
    }
}

/// Many times.
#[derive(Debug, Clone, Serialize)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Their mean, in nanoseconds, exactly.
    pub mean: f64,
    /// Their percentiles.
    #[serde(flatten)]
    pub percentiles: Percentiles,
    /// Times in nanoseconds, ascending, each with how many lie there: those within 2 % of each other together, under the
    /// greatest of them.
    pub histogram: Vec<(f64, u64)>,
}

/// What is drawn needs no more, and a document with thousands of them is half as long.
pub(super) fn to_hundredths(ns: f64) -> f64 {
    (ns * 100.0).round() / 100.0
}

/// Neighbouring values within this share of the least of them are drawn as one.
const TOGETHER: f64 = 0.02;

impl Distribution {
    pub(super) fn of(recorded: &super::recorder::Recorded, ns_per_count: f64) -> Self {
        let mut groups: Vec<(u64, f64, u64)> = Vec::new();
        for step in recorded.counts.iter_recorded() {
            let (value, count) =
                (step.value_iterated_to().min(recorded.max), step.count_since_last_iteration());
            match groups.last_mut() {
                Some((least, greatest, together)) if value as f64 <= *least as f64 * (1.0 + TOGETHER) => {
                    (*greatest, *together) = (value as f64, *together + count);
                }
                _ => groups.push((value, value as f64, count)),
            }
        }
        Distribution {
            count: recorded.counts.len(),
            mean: recorded.sum as f64 * ns_per_count / recorded.counts.len() as f64,
            percentiles: Percentiles::of(&recorded.counts, recorded.max, ns_per_count),
            histogram: groups
                .into_iter()
                .map(|(_, greatest, together)| (to_hundredths(greatest * ns_per_count), together))
                .collect(),
        }
    }
}
