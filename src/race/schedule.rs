//! The order in which arms run: balanced for position and for carry-over.

/// How reps of different arms follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Rounds of one rep an arm, in the orders of a Williams design.
    #[default]
    Balanced,
    /// All reps of one arm, then all of the next. Exists only to show what it does wrong: drift of the clock
    /// frequency is charged to whoever runs last.
    ArmMajor,
}

/// The orders of a Williams design (E. J. Williams, Aust. J. Chem. 2:149, 1949) over `arms` treatments: each arm
/// stands equally often in each position, and equally often right after each other arm.
///
/// There are `arms` orders for an even number of arms and twice as many for an odd one.
pub fn williams_orders(arms: usize) -> Vec<Vec<usize>> {
    if arms <= 1 {
        return vec![(0..arms).collect()];
    }
    // First row 0, 1, n−1, 2, n−2, …: neighbouring differences are all distinct modulo n.
    let mut first = vec![0];
    for step in 1..arms {
        let magnitude = step.div_ceil(2);
        first.push(if step % 2 == 1 { magnitude } else { arms - magnitude });
    }
    let shifted = |by: usize| first.iter().map(|arm| (arm + by) % arms).collect::<Vec<_>>();
    let mut orders: Vec<Vec<usize>> = (0..arms).map(shifted).collect();
    if arms % 2 == 1 {
        let mirrored: Vec<Vec<usize>> =
            orders.iter().map(|order| order.iter().rev().copied().collect()).collect();
        orders.extend(mirrored);
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_arm_in_every_position_and_after_every_other_equally_often(arms in 2usize..24) {
            let orders = williams_orders(arms);
            let mut at = vec![vec![0usize; arms]; arms];
            let mut after = vec![vec![0usize; arms]; arms];
            for order in &orders {
                let mut seen = order.clone();
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..arms).collect::<Vec<_>>());
                for (position, &arm) in order.iter().enumerate() {
                    at[position][arm] += 1;
                }
                for pair in order.windows(2) {
                    after[pair[0]][pair[1]] += 1;
                }
            }
            let each = orders.len() / arms;
            for first in 0..arms {
                for second in 0..arms {
                    prop_assert_eq!(at[first][second], each);
                    prop_assert_eq!(after[first][second], if first == second { 0 } else { each });
                }
            }
        }
    }

    #[test]
    fn one_arm_has_one_order() {
        assert_eq!(williams_orders(1), vec![vec![0]]);
        assert_eq!(williams_orders(2), vec![vec![0, 1], vec![1, 0]]);
    }
}
