//! The rounds of a block, and the block's estimate from them.

use super::statistics::{hodges_lehmann, median};

/// What a block gives, one entry an arm.
pub(super) struct Estimate {
    /// The block's number: blocks of the same number in races that take turns were measured next to each other.
    pub number: u64,
    /// Nanoseconds an operation.
    pub ns: Vec<f64>,
    /// Log of the time ratio to the arm that each is compared with; 0 for the baseline.
    pub log_ratio: Vec<f64>,
    /// Least nanoseconds an operation of any rep.
    pub min_ns: Vec<f64>,
    /// First window after the build over the median, as a ratio of times.
    pub cold: Vec<f64>,
    /// First rep that counts over what the later ones cost; `None` where there is no later one.
    pub first: Vec<Option<f64>>,
    /// Median canary frequency in GHz, where there is a canary.
    pub ghz: Option<f64>,
    /// Rounds that count.
    pub rounds: usize,
    /// Shortest rep, in nanoseconds.
    pub shortest_ns: f64,
}

/// What the rounds that count have measured.
pub(super) struct Rounds {
    /// Nanoseconds: one row an arm, one column a round.
    pub times: Vec<Vec<f64>>,
    /// Which order each round ran in.
    pub orders: Vec<usize>,
    /// The canary's frequency before each round, GHz, where there is one.
    pub frequencies: Vec<f64>,
    /// Nanoseconds of reps that don't count and were run after those that do: one row an arm.
    pub later: Vec<Vec<f64>>,
}

impl Rounds {
    pub fn new(arms: usize) -> Self {
        Rounds {
            times: vec![Vec::new(); arms],
            orders: Vec::new(),
            frequencies: Vec::new(),
            later: vec![Vec::new(); arms],
        }
    }

    /// Adds a round: nanoseconds of each arm.
    pub fn add(&mut self, order: usize, taken: &[f64]) {
        for (times, ns) in self.times.iter_mut().zip(taken) {
            times.push(*ns);
        }
        self.orders.push(order);
    }

    /// The block's estimate; `None` if some order has no round that counts, since it would be out of balance.
    pub fn estimate(
        mut self,
        number: u64,
        against: &[usize],
        cold_ns: &[f64],
        orders: usize,
        operations: f64,
    ) -> Option<Estimate> {
        let mut in_order = vec![0usize; orders];
        self.orders.iter().for_each(|&order| in_order[order] += 1);
        let fewest = *in_order.iter().min()?;
        if fewest == 0 {
            return None;
        }
        let over_rounds = |values: &[f64]| {
            if fewest < LEAST_FOR_A_MEDIAN {
                return hodges_lehmann(values);
            }
            let middle = |order: usize| {
                let own = values.iter().zip(&self.orders).filter(|(_, own)| **own == order);
                median(&mut own.map(|(value, _)| *value).collect::<Vec<_>>())
            };
            (0..orders).map(middle).sum::<f64>() / orders as f64
        };
        let ns: Vec<f64> = self.times.iter().map(|times| over_rounds(times) / operations).collect();
        let log_ratio = self.times.iter().zip(against).map(|(own, &other)| {
            let logs: Vec<f64> =
                own.iter().zip(&self.times[other]).map(|(own, other)| (own / other).ln()).collect();
            over_rounds(&logs)
        });
        let least = |times: &Vec<f64>| times.iter().copied().fold(f64::INFINITY, f64::min);
        Some(Estimate {
            number,
            log_ratio: log_ratio.collect(),
            min_ns: self.times.iter().map(|times| least(times) / operations).collect(),
            cold: cold_ns.iter().zip(&ns).map(|(cold, ns)| cold / (ns * operations)).collect(),
            ns,
            first: self
                .times
                .iter()
                .zip(&self.later)
                .map(|(times, later)| first_over_later(times, later))
                .collect(),
            rounds: self.orders.len(),
            shortest_ns: self.times.iter().map(least).fold(f64::INFINITY, f64::min),
            ghz: (!self.frequencies.is_empty()).then(|| median(&mut self.frequencies)),
        })
    }
}

/// The first rep over the median of all later ones, those that don't count included.
fn first_over_later(times: &[f64], later: &[f64]) -> Option<f64> {
    let (first, rest) = times.split_first()?;
    let mut rest: Vec<f64> = rest.iter().chain(later).copied().collect();
    (!rest.is_empty()).then(|| first / median(&mut rest))
}

/// With fewer rounds than this in an order, a median within it resists no outlier; all rounds together then do, by
/// Hodges and Lehmann's estimate. A spread by order that is skewed would shift that one a little, for an arm and its control
/// alike.
const LEAST_FOR_A_MEDIAN: usize = 3;

/// The least and the greatest of what was seen.
pub(super) struct Extremes {
    low: f64,
    high: f64,
}

impl Extremes {
    pub fn of(first: Option<f64>) -> Self {
        let mut seen = Extremes { low: f64::INFINITY, high: 0.0 };
        seen.add(first);
        seen
    }

    pub fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
        }
    }

    /// How far they lie apart, relative to the greatest; 0 where nothing was seen.
    pub fn spread(&self) -> f64 {
        if self.high > 0.0 { 1.0 - self.low / self.high } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of two arms in which the one that runs first pays `first` more, and arm 1 costs `ratio` times as much.
    fn rounds(count: usize, first: f64, ratio: f64) -> Rounds {
        let mut rounds = Rounds::new(2);
        for round in 0..count {
            let pays = |arm: usize| if round % 2 == arm { first } else { 1.0 };
            rounds.add(round % 2, &[100.0 * pays(0), 100.0 * ratio * pays(1)]);
        }
        rounds
    }

    #[test]
    fn what_position_costs_cancels() {
        for count in [2, 4, 6, 40] {
            let estimate =
                rounds(count, 1.3, 1.02).estimate(0, &[0, 0], &[200.0, 100.0], 2, 10.0).expect("balanced");
            assert!((estimate.log_ratio[1] - 1.02f64.ln()).abs() < 1e-12, "{count}");
            assert_eq!((estimate.log_ratio[0], estimate.rounds, estimate.min_ns[0]), (0.0, count, 10.0));
            assert!((estimate.cold[0] - 200.0 / (estimate.ns[0] * 10.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_burst_of_noise_doesnt_move_it() {
        for count in [8, 40] {
            let mut noisy = rounds(count, 1.0, 1.02);
            noisy.times[1][count / 2] *= 3.0;
            let estimate = noisy.estimate(0, &[0, 0], &[1.0, 1.0], 2, 1.0).expect("balanced");
            assert!((estimate.log_ratio[1] - 1.02f64.ln()).abs() < 1e-9, "{count}: {:?}", estimate.log_ratio);
        }
    }

    #[test]
    fn an_order_without_a_round_gives_no_estimate() {
        let mut one_sided = Rounds::new(2);
        one_sided.add(0, &[1.0, 1.0]);
        assert!(one_sided.estimate(0, &[0, 0], &[1.0, 1.0], 2, 1.0).is_none());
        assert!(Rounds::new(2).estimate(0, &[0, 0], &[1.0, 1.0], 2, 1.0).is_none());
    }

    #[test]
    fn extremes_tell_a_change() {
        let mut seen = Extremes::of(None);
        assert_eq!(seen.spread(), 0.0);
        for (width, spread) in [(10.0, 0.0), (9.5, 0.05), (10.0, 0.05), (8.0, 0.2)] {
            seen.add(Some(width));
            assert!((seen.spread() - spread).abs() < 1e-12);
        }
    }
}
