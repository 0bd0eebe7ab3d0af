//! Where one arm stops beating another as a parameter rises: a bracket between measured points, never a point in thin air.

use crate::race::statistics::Interval;

/// What the measured points say about a crossing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crossing {
    /// Ahead at every point, up to this one.
    Never {
        /// The last point.
        up_to: f64,
    },
    /// Behind from the first point on.
    AtOnce {
        /// The first point.
        from: f64,
    },
    /// Ahead up to one point, behind from a later one on.
    Between {
        /// The last point at which it is ahead.
        ahead: f64,
        /// The first at which it is behind.
        behind: f64,
        /// Where the line through the estimates crosses zero.
        estimate: f64,
    },
    /// Ahead up to one point, and not resolved beyond.
    Fades {
        /// The last point at which it is ahead.
        ahead: f64,
    },
    /// Not resolved up to one point, and behind from it on.
    Emerges {
        /// The first point at which it is behind.
        behind: f64,
    },
    /// Behind at one point and ahead again at a later one.
    BackAndForth,
    /// Neither ahead nor behind anywhere, or no points at all.
    Unresolved,
}

/// Finds the crossing from the advantage at each point (above zero is ahead), points ascending.
pub fn crossing(points: &[(f64, Interval)]) -> Crossing {
    let is_ahead = |(_, advantage): &(f64, Interval)| advantage.low > 0.0;
    let is_behind = |(_, advantage): &(f64, Interval)| advantage.high < 0.0;
    let last_ahead = points.iter().rposition(is_ahead);
    let first_behind = points.iter().position(is_behind);
    match (last_ahead, first_behind) {
        (None, None) => Crossing::Unresolved,
        (Some(at), None) if points.iter().all(is_ahead) => Crossing::Never { up_to: points[at].0 },
        (Some(at), None) => Crossing::Fades { ahead: points[at].0 },
        (None, Some(0)) => Crossing::AtOnce { from: points[0].0 },
        (None, Some(at)) => Crossing::Emerges { behind: points[at].0 },
        (Some(ahead), Some(behind)) if ahead < behind => Crossing::Between {
            ahead: points[ahead].0,
            behind: points[behind].0,
            estimate: zero(&points[ahead..=behind]),
        },
        (Some(_), Some(_)) => Crossing::BackAndForth,
    }
}

/// The first zero of the line through the estimates, of which the first is above zero and the last below.
fn zero(points: &[(f64, Interval)]) -> f64 {
    let falls = |pair: &&[(f64, Interval)]| pair[0].1.estimate > 0.0 && pair[1].1.estimate <= 0.0;
    let pair = points.windows(2).find(falls).expect("from above zero to below");
    let ((from, above), (to, below)) = (pair[0], pair[1]);
    from + (to - from) * above.estimate / (above.estimate - below.estimate)
}

impl Crossing {
    /// In words, of whoever is ahead or behind: "cheaper throughout, up to a residual share of 1".
    pub fn spoken(self, parameter: &str) -> String {
        match self {
            Crossing::Never { up_to } => format!("cheaper throughout, up to a {parameter} of {up_to}"),
            Crossing::AtOnce { from } => format!("never cheaper, dearer from a {parameter} of {from} on"),
            Crossing::Between { ahead, behind, estimate } => {
                format!(
                    "stops being cheaper between a {parameter} of {ahead} and {behind} (about {estimate:.2})"
                )
            }
            Crossing::Fades { ahead } => {
                format!("cheaper up to a {parameter} of {ahead}, not resolved throughout the rest")
            }
            Crossing::Emerges { behind } => {
                format!("not resolved at first, dearer from a {parameter} of {behind} on")
            }
            Crossing::BackAndForth => "cheaper and dearer by turns: no single crossing".into(),
            Crossing::Unresolved => "not resolved anywhere".into(),
        }
    }

    /// The estimate, where there is a bracket.
    pub fn estimate(self) -> Option<f64> {
        match self {
            Crossing::Between { estimate, .. } => Some(estimate),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn around(estimate: f64, half: f64) -> Interval {
        Interval { estimate, low: estimate - half, high: estimate + half }
    }

    const SHARES: [f64; 6] = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0];

    proptest! {
        #[test]
        fn the_bracket_holds_the_root_of_a_line(root in -0.5..1.5f64, slope in 0.1..1e3f64, half in 0.0..50.0f64) {
            let points: Vec<_> =
                SHARES.iter().map(|&share| (share, around(slope * (root - share), half))).collect();
            match crossing(&points) {
                Crossing::Between { ahead, behind, estimate } => {
                    prop_assert!(ahead < root && root < behind);
                    prop_assert!((estimate - root).abs() < 1e-9 * (1.0 + root.abs()) + 1e-9);
                }
                Crossing::Never { up_to } => prop_assert!(up_to == 1.0 && root > 1.0),
                Crossing::AtOnce { from } => prop_assert!(from == 0.0 && root < 0.0),
                Crossing::Fades { ahead } => prop_assert!(root > ahead && slope * (1.0 - root) <= half),
                Crossing::Emerges { behind } => prop_assert!(root < behind && slope * root <= half),
                Crossing::Unresolved => prop_assert!(slope * root <= half && slope * (1.0 - root) <= half),
                Crossing::BackAndForth => prop_assert!(false, "a line crosses once"),
            }
        }

        #[test]
        fn wider_intervals_never_narrow_the_bracket(root in 0.05..0.95f64, half in 0.0..0.3f64, more in 0.0..0.3f64) {
            let bracket = |half: f64| {
                let points: Vec<_> = SHARES.iter().map(|&share| (share, around(root - share, half))).collect();
                match crossing(&points) {
                    Crossing::Between { ahead, behind, .. } => Some((ahead, behind)),
                    _ => None,
                }
            };
            if let (Some(narrow), Some(wide)) = (bracket(half), bracket(half + more)) {
                prop_assert!(wide.0 <= narrow.0 && narrow.1 <= wide.1);
            }
        }
    }

    #[test]
    fn what_goes_back_and_forth_is_no_crossing() {
        let points: Vec<_> =
            [1.0, -1.0, 1.0].into_iter().zip(SHARES).map(|(at, share)| (share, around(at, 0.1))).collect();
        assert_eq!(crossing(&points), Crossing::BackAndForth);
        assert_eq!(crossing(&[]), Crossing::Unresolved);
    }
}
