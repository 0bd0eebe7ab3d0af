//! Estimates and intervals over block estimates.

use statrs::distribution::{Beta, ContinuousCDF, Normal};

/// An estimate with the two ends of its interval.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Half of the distance between the ends.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether `value` lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same under a monotone increasing map.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Interval { estimate: f(self.estimate), low: f(self.low), high: f(self.high) }
    }
}

/// The median of `values`, reordering them; the mean of the two middle ones for an even number.
///
/// # Panics
/// If `values` is empty or holds a NaN.
pub fn median(values: &mut [f64]) -> f64 {
    let count = values.len();
    assert!(count > 0, "the median of nothing");
    let (below, middle, _) =
        values.select_nth_unstable_by(count / 2, |a, b| a.partial_cmp(b).expect("no NaN"));
    let upper = *middle;
    if count % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}

/// Hodges and Lehmann's estimate: the median of all pairwise means, each value with itself included. Nearly as efficient
/// as the mean, and unmoved by outliers up to 29 % of the values.
///
/// # Panics
/// If `values` is empty or holds a NaN.
pub fn hodges_lehmann(values: &[f64]) -> f64 {
    median(&mut pairwise_means(values))
}

fn pairwise_means(values: &[f64]) -> Vec<f64> {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (at, first) in values.iter().enumerate() {
        means.extend(values[at..].iter().map(|second| first + (second - first) / 2.0));
    }
    means
}

/// [`hodges_lehmann`]'s estimate with the interval that inverts Wilcoxon's signed-rank test (Hollander, Wolfe and Chicken,
/// *Nonparametric Statistical Methods*, 3rd ed., section 3.2–3.3).
///
/// The exact null distribution is used up to 64 values, its normal approximation beyond. The interval is
/// conservative: its true level is at least `level`. With too few values for the level, its ends are infinite.
///
/// # Panics
/// If `values` is empty or holds a NaN, or `level` isn't inside (0, 1).
pub fn signed_rank_interval(values: &[f64], level: f64) -> Interval {
    assert!(!values.is_empty(), "an interval over nothing");
    assert!(level > 0.0 && level < 1.0, "level {level}");
    let mut means = pairwise_means(values);
    let rank = signed_rank_quantile(values.len(), (1.0 - level) / 2.0);
    let pairs = means.len();
    let estimate = median(&mut means);
    let mut nth = |k: usize| *means.select_nth_unstable_by(k, |a, b| a.partial_cmp(b).expect("no NaN")).1;
    let (low, high) = match rank {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        rank => (nth(rank - 1), nth(pairs - rank)),
    };
    Interval { estimate, low, high }
}

/// The largest `r` with P(V < r) ≤ `tail`, for the signed-rank statistic V of `count` values; 0 if there is none
/// above zero.
fn signed_rank_quantile(count: usize, tail: f64) -> usize {
    if count <= 64 {
        let sums = count * (count + 1) / 2;
        // probability[s] = P(V = s): each rank enters with probability one half.
        let mut probability = vec![0.0; sums + 1];
        probability[0] = 1.0;
        for rank in 1..=count {
            for sum in (0..=sums).rev() {
                let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
                probability[sum] = (probability[sum] + with) / 2.0;
            }
        }
        let mut below = 0.0;
        for (sum, p) in probability.iter().enumerate() {
            below += p;
            // P(V < sum + 1) = below: the first sum that takes it past the tail is the answer.
            if below > tail {
                return sum;
            }
        }
        return sums;
    }
    let n = count as f64;
    let mean = n * (n + 1.0) / 4.0;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let z = Normal::standard().inverse_cdf(tail);
    // Continuity correction: P(V ≤ r − 1) ≈ Φ((r − 1 + ½ − mean)/deviation) ≤ tail.
    (mean + z * deviation + 0.5).floor().max(0.0) as usize
}

/// The interval of the median that inverts the sign test: distribution-free, any shape.
///
/// # Panics
/// As [`signed_rank_interval`].
pub fn sign_interval(values: &[f64], level: f64) -> Interval {
    assert!(level > 0.0 && level < 1.0, "level {level}");
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    let count = sorted.len();
    let tail = (1.0 - level) / 2.0;
    // P(B < k) for B binomial(count, ½), by accumulating logarithms so that large counts don't underflow.
    let mut below = 0.0;
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let mut rank = 0;
    for k in 0..count {
        below += log_term.exp();
        if below > tail {
            rank = k;
            break;
        }
        log_term += ((count - k) as f64).ln() - ((k + 1) as f64).ln();
    }
    let estimate = median(&mut sorted.clone());
    match rank {
        0 => Interval { estimate, low: f64::NEG_INFINITY, high: f64::INFINITY },
        rank => Interval { estimate, low: sorted[rank - 1], high: sorted[count - rank] },
    }
}

/// Clopper and Pearson's exact interval of a proportion (Biometrika 26:404, 1934).
///
/// # Panics
/// If `hits > trials`, `trials` is 0, or `level` isn't inside (0, 1).
pub fn clopper_pearson(hits: u64, trials: u64, level: f64) -> Interval {
    assert!(trials > 0 && hits <= trials, "{hits} of {trials}");
    assert!(level > 0.0 && level < 1.0, "level {level}");
    let tail = (1.0 - level) / 2.0;
    let (h, t) = (hits as f64, trials as f64);
    let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).expect("both positive").inverse_cdf(p);
    Interval {
        estimate: h / t,
        low: if hits == 0 { 0.0 } else { quantile(h, t - h + 1.0, tail) },
        high: if hits == trials { 1.0 } else { quantile(h + 1.0, t - h, 1.0 - tail) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

    #[test]
    fn quantiles_agree_with_published_tables() {
        // Lower critical values of the signed-rank statistic, two-sided 5 % (Wilcoxon and Wilcox 1964): reject at
        // V ≤ c, so the interval uses rank c + 1.
        for (count, critical) in [(6, 0), (7, 2), (8, 3), (10, 8), (15, 25), (20, 52), (25, 89), (50, 434)] {
            assert_eq!(signed_rank_quantile(count, 0.025), critical + 1, "{count}");
        }
        assert_eq!(signed_rank_quantile(5, 0.025), 0);
    }

    #[test]
    fn exact_and_approximate_quantiles_meet() {
        let exact = signed_rank_quantile(64, 0.025) as f64;
        let next = signed_rank_quantile(65, 0.025) as f64;
        assert!(next > exact && next - exact < 40.0, "{exact} {next}");
    }

    #[test]
    fn too_few_values_give_no_interval() {
        let interval = signed_rank_interval(&[1.0, 2.0, 3.0], 0.95);
        assert_eq!(interval.estimate, 2.0);
        assert!(interval.low.is_infinite() && interval.high.is_infinite());
    }

    #[test]
    fn clopper_pearson_agrees_with_published_values() {
        // Newcombe, Statistics in Medicine 17:857 (1998), table I: 81/263 and 0/20, 1/29.
        for (hits, trials, low, high) in
            [(81, 263, 0.2527, 0.3676), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)]
        {
            let interval = clopper_pearson(hits, trials, 0.95);
            assert!((interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4, "{interval:?}");
        }
    }

    /// How often an interval over `count` draws misses the centre, in 4,000 trials.
    fn miss_rate(count: usize, level: f64, interval: fn(&[f64], f64) -> Interval) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(count as u64);
        let mut missed = 0;
        for _ in 0..4000 {
            // A symmetric law with heavy tails: the sum of three uniforms, sometimes ten times as wide.
            let values: Vec<f64> = (0..count)
                .map(|_| {
                    let wide = if random.random_bool(0.1) { 10.0 } else { 1.0 };
                    wide * (0..3).map(|_| random.random_range(-1.0..1.0)).sum::<f64>()
                })
                .collect();
            missed += usize::from(!interval(&values, level).contains(0.0));
        }
        missed as f64 / 4000.0
    }

    #[test]
    fn intervals_keep_their_level() {
        // 4,000 trials: a standard error of 0.35 points at 5 %.
        for count in [20, 40, 80] {
            let missed = miss_rate(count, 0.95, signed_rank_interval);
            assert!((0.03..0.063).contains(&missed), "{count}: {missed}");
            let missed = miss_rate(count, 0.95, sign_interval);
            assert!(missed < 0.063, "sign, {count}: {missed}");
        }
    }

    #[test]
    fn an_interval_at_the_wrong_level_is_noticed() {
        let missed = miss_rate(40, 0.80, signed_rank_interval);
        assert!(!(0.03..0.063).contains(&missed), "{missed}");
    }

    proptest! {
        #[test]
        fn intervals_move_with_the_values(
            values in proptest::collection::vec(-1e3f64..1e3, 6..60), shift in -100.0f64..100.0
        ) {
            let here = signed_rank_interval(&values, 0.9);
            let there = signed_rank_interval(&values.iter().map(|v| v + shift).collect::<Vec<_>>(), 0.9);
            prop_assert!((here.estimate + shift - there.estimate).abs() < 1e-9);
            prop_assert!((here.low + shift - there.low).abs() < 1e-9);
            prop_assert!(here.low <= here.estimate && here.estimate <= here.high);
            let flipped = signed_rank_interval(&values.iter().map(|v| -v).collect::<Vec<_>>(), 0.9);
            prop_assert!((flipped.low + here.high).abs() < 1e-9);
        }

        #[test]
        fn median_splits_the_values(mut values in proptest::collection::vec(-1e3f64..1e3, 1..60)) {
            let middle = median(&mut values);
            let below = values.iter().filter(|v| **v < middle).count();
            let above = values.iter().filter(|v| **v > middle).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
        }
    }
}
