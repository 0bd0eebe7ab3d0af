//! Laws: how often each handler is drawn.

use crate::{Error, Result};

/// How often each handler's key occurs, exactly, over the number of handlers there is.
///
/// `Uniform`, `Zipf`, `Skewed` and `Periodic` speak of *ranks* (rank 0 is the busiest); a permutation says which
/// handler holds which rank. `Hot`, `Worst` and `Weights` name handlers themselves, in registration order, and are
/// never permuted.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// All equally often.
    Uniform,
    /// Rank r (from 0) with weight 1/(r + 1)^exponent over the ranks that exist: exact for every finite
    /// `exponent` ≥ 0, where 0 is uniform. Zipf's law over a finite set, as in Knuth, TAOCP 3, section 6.1.
    Zipf {
        /// The exponent; 1.1 is the kata's.
        exponent: f64,
    },
    /// `top` ranks share `share` evenly, the others share the rest evenly: 95/5 is a share of 0.95 and a top of 2.
    Skewed {
        /// What the top ranks get together, 0 to 1.
        share: f64,
        /// How many top ranks there are.
        top: usize,
    },
    /// One handler only.
    Hot {
        /// Its place in registration order.
        handler: usize,
    },
    /// The last handler only: the most that a scan in registration order can cost.
    Worst,
    /// The first `period` ranks, one after the other, again and again: nothing about the order is random.
    Periodic {
        /// Packets until the order repeats.
        period: usize,
    },
    /// Weights by handler, in registration order; they needn't sum to one.
    Weights(Vec<f64>),
}

impl Law {
    /// A short name: `uniform`, `zipf`, `skewed`, `hot`, `worst`, `periodic`, `weights`.
    pub fn name(&self) -> &'static str {
        match self {
            Law::Uniform => "uniform",
            Law::Zipf { .. } => "zipf",
            Law::Skewed { .. } => "skewed",
            Law::Hot { .. } => "hot",
            Law::Worst => "worst",
            Law::Periodic { .. } => "periodic",
            Law::Weights(_) => "weights",
        }
    }

    /// Whether its weights go by rank, so that a permutation applies.
    pub fn is_ranked(&self) -> bool {
        matches!(self, Law::Uniform | Law::Zipf { .. } | Law::Skewed { .. } | Law::Periodic { .. })
    }

    /// The weights, summing to one: by rank where [`Law::is_ranked`], else by handler.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the law makes no sense over `handlers` handlers; it names the parameter.
    pub fn weights(&self, handlers: usize) -> Result<Vec<f64>> {
        self.check(handlers)?;
        let one_hot = |hot: usize| (0..handlers).map(|handler| f64::from(handler == hot)).collect();
        Ok(match self {
            Law::Uniform => vec![1.0 / handlers as f64; handlers],
            // libm's pow is plain code and gives the same bits everywhere; the system's need not.
            Law::Zipf { exponent } => {
                normalised((0..handlers).map(|rank| 1.0 / libm::pow((rank + 1) as f64, *exponent)).collect())
            }
            // Nobody is left to take the rest, so the top takes all.
            Law::Skewed { top, .. } if *top == handlers => vec![1.0 / handlers as f64; handlers],
            Law::Skewed { share, top } => {
                let (each_top, each_other) = (share / *top as f64, (1.0 - share) / (handlers - top) as f64);
                (0..handlers).map(|rank| if rank < *top { each_top } else { each_other }).collect()
            }
            Law::Hot { handler } => one_hot(*handler),
            Law::Worst => one_hot(handlers - 1),
            Law::Periodic { period } => {
                (0..handlers).map(|rank| if rank < *period { 1.0 / *period as f64 } else { 0.0 }).collect()
            }
            Law::Weights(weights) => normalised(weights.clone()),
        })
    }

    fn check(&self, handlers: usize) -> Result<()> {
        if handlers == 0 {
            return Err(Error::invalid("handlers", 0, "wanted at least one handler"));
        }
        match self {
            Law::Uniform | Law::Worst => Ok(()),
            Law::Zipf { exponent } if exponent.is_finite() && *exponent >= 0.0 => Ok(()),
            Law::Zipf { exponent } => {
                Err(Error::invalid("exponent", exponent, "wanted a finite number of at least 0"))
            }
            Law::Skewed { share, .. } if !(0.0..=1.0).contains(share) => {
                Err(Error::invalid("share", share, "wanted a number from 0 to 1"))
            }
            Law::Skewed { top, .. } if *top == 0 || *top > handlers => {
                Err(Error::invalid("top", top, format!("wanted 1 to {handlers}, the number of handlers")))
            }
            Law::Skewed { .. } => Ok(()),
            Law::Hot { handler } if *handler >= handlers => {
                let wanted = format!("wanted 0 to {}: there are {handlers} handlers", handlers - 1);
                Err(Error::invalid("handler", handler, wanted))
            }
            Law::Hot { .. } => Ok(()),
            Law::Periodic { period } if *period == 0 || *period > handlers => Err(Error::invalid(
                "period",
                period,
                format!("wanted 1 to {handlers}, the number of handlers"),
            )),
            Law::Periodic { .. } => Ok(()),
            Law::Weights(weights) => check_weights(weights, handlers),
        }
    }
}

fn check_weights(weights: &[f64], handlers: usize) -> Result<()> {
    if weights.is_empty() {
        return Err(Error::invalid("weights", "[]", format!("wanted {handlers}, one a handler")));
    }
    if let Some(at) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        let wanted = "wanted finite numbers of at least 0";
        return Err(Error::invalid(format!("weights[{at}]"), weights[at], wanted));
    }
    if weights.len() != handlers {
        let value = format!("{} values", weights.len());
        return Err(Error::invalid("weights", value, format!("wanted {handlers}, one a handler")));
    }
    if weights.iter().all(|weight| *weight == 0.0) {
        return Err(Error::invalid("weights", "all zero", "wanted at least one above 0"));
    }
    Ok(())
}

/// Divides by the sum, which must be above zero. The largest goes first, so that no sum overflows.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    weights.iter_mut().for_each(|weight| *weight /= largest);
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zipf_is_what_its_formula_says() {
        let weights = Law::Zipf { exponent: 1.1 }.weights(100).unwrap();
        let sum: f64 = (1..=100).map(|rank| f64::from(rank).powf(-1.1)).sum();
        for (rank, weight) in weights.iter().enumerate() {
            let exact = ((rank + 1) as f64).powf(-1.1) / sum;
            assert!((weight / exact - 1.0).abs() < 1e-12, "rank {rank}: {weight} for {exact}");
        }
    }

    #[test]
    fn ninety_five_five_is_the_katas() {
        let weights = Law::Skewed { share: 0.95, top: 2 }.weights(100).unwrap();
        assert_eq!((weights[0], weights[1]), (0.475, 0.475));
        assert!((weights[2] - 0.05 / 98.0).abs() < 1e-15);
    }

    #[test]
    fn huge_and_tiny_weights_neither_overflow_nor_vanish() {
        assert_eq!(Law::Weights(vec![f64::MAX; 4]).weights(4).unwrap(), [0.25; 4]);
        assert_eq!(Law::Weights(vec![5e-324, 5e-324]).weights(2).unwrap(), [0.5; 2]);
    }

    #[test]
    fn an_exponent_past_all_others_leaves_the_first_rank_alone() {
        assert_eq!(Law::Zipf { exponent: 1e300 }.weights(3).unwrap(), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name_and_value() {
        let cases = [
            (Law::Zipf { exponent: f64::NAN }, "exponent", "NaN"),
            (Law::Zipf { exponent: -0.1 }, "exponent", "-0.1"),
            (Law::Zipf { exponent: f64::INFINITY }, "exponent", "inf"),
            (Law::Skewed { share: 1.01, top: 2 }, "share", "1.01"),
            (Law::Skewed { share: f64::NAN, top: 2 }, "share", "NaN"),
            (Law::Skewed { share: 0.9, top: 0 }, "top", "0"),
            (Law::Skewed { share: 0.9, top: 4 }, "top", "4"),
            (Law::Hot { handler: 3 }, "handler", "3"),
            (Law::Periodic { period: 0 }, "period", "0"),
            (Law::Periodic { period: 4 }, "period", "4"),
            (Law::Weights(vec![]), "weights", "[]"),
            (Law::Weights(vec![1.0, -2.0, 1.0]), "weights[1]", "-2"),
            (Law::Weights(vec![1.0, 1.0, f64::NAN]), "weights[2]", "NaN"),
            (Law::Weights(vec![f64::INFINITY, 1.0, 1.0]), "weights[0]", "inf"),
            (Law::Weights(vec![0.0; 3]), "weights", "all zero"),
            (Law::Weights(vec![1.0; 2]), "weights", "2 values"),
        ];
        for (law, wanted_name, wanted_value) in cases {
            match law.weights(3) {
                Err(Error::InvalidArgument { name, value, .. }) => {
                    assert_eq!((name.as_str(), value.as_str()), (wanted_name, wanted_value));
                }
                other => panic!("{law:?} gave {other:?}"),
            }
        }
        assert!(
            matches!(Law::Uniform.weights(0), Err(Error::InvalidArgument { name, .. }) if name == "handlers")
        );
    }

    fn any_law() -> impl Strategy<Value = (Law, usize)> {
        (1usize..200).prop_flat_map(|handlers| {
            let law = prop_oneof![
                Just(Law::Uniform),
                (0.0..50.0).prop_map(|exponent| Law::Zipf { exponent }),
                (0.0..=1.0, 1..=handlers).prop_map(|(share, top)| Law::Skewed { share, top }),
                (0..handlers).prop_map(|handler| Law::Hot { handler }),
                Just(Law::Worst),
                (1..=handlers).prop_map(|period| Law::Periodic { period }),
                proptest::collection::vec(1e-9..1e9, handlers).prop_map(Law::Weights),
            ];
            (law, Just(handlers))
        })
    }

    proptest! {
        #[test]
        fn every_law_is_a_distribution((law, handlers) in any_law()) {
            let weights = law.weights(handlers).unwrap();
            prop_assert_eq!(weights.len(), handlers);
            prop_assert!(weights.iter().all(|weight| (0.0..=1.0 + 1e-12).contains(weight)));
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn no_rank_is_busier_than_the_one_before(exponent in 0.0..20.0f64, handlers in 1usize..500) {
            let weights = Law::Zipf { exponent }.weights(handlers).unwrap();
            prop_assert!(weights.windows(2).all(|pair| pair[0] >= pair[1]));
        }
    }
}
