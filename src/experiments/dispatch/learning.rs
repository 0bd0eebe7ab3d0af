//! Whether an order of call targets is learned by this machine's predictor: judged by what it costs, never assumed.

use crate::race::{Contrast, Fact, Origin};

/// What the predictor makes of a periodic order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It costs at most a quarter of what random targets do.
    Learned,
    /// Something between.
    Partly,
    /// It costs at least three quarters of what random targets do.
    NotLearned,
    /// Random targets cost nothing that could be resolved, or the interval spans two of the above.
    NotResolved,
}

/// Shares of the penalty of random targets between which an order counts as partly learned. Half of all calls guessed
/// right lies in the middle, and a learned order leaves a few wrong guesses where a window begins.
const LEARNED_BELOW: f64 = 0.25;
const NOT_LEARNED_ABOVE: f64 = 0.75;

/// A verdict, and the two penalties that it rests on: what the order and what random targets cost more than one target.
#[derive(Debug, Clone)]
pub struct Learning {
    /// The verdict.
    pub verdict: Verdict,
    periodic: Contrast,
    random: Contrast,
}

/// Judges an order by its penalty beside that of random targets.
pub fn judged(periodic: Contrast, random: Contrast) -> Learning {
    let (low, high) = (LEARNED_BELOW * random.value, NOT_LEARNED_ABOVE * random.value);
    let verdict = if periodic.void || random.void || random.low <= 0.0 {
        Verdict::NotResolved
    } else if periodic.high <= low {
        Verdict::Learned
    } else if periodic.low >= high {
        Verdict::NotLearned
    } else if periodic.low > low && periodic.high < high {
        Verdict::Partly
    } else {
        Verdict::NotResolved
    };
    Learning { verdict, periodic, random }
}

impl Learning {
    /// As a fact on a periodic order of that many targets; its value is the share of random targets' penalty that is
    /// left: 0 for an order that costs no more than one target, 1 for one that isn't learned at all.
    pub fn fact(&self, targets: i64) -> Fact {
        let said = match self.verdict {
            Verdict::Learned => "learned here",
            Verdict::Partly => "partly learned here",
            Verdict::NotLearned => "not learned here",
            Verdict::NotResolved => "not resolved whether it is learned here",
        };
        let text = format!(
            "a periodic order of {targets} targets: {said} ({:+.2} ns [{:+.2}, {:+.2}] over one target, random {:+.2} ns)",
            self.periodic.value, self.periodic.low, self.periodic.high, self.random.value
        );
        let resolved = self.verdict != Verdict::NotResolved;
        Fact {
            name: format!("order:periodic:{targets}"),
            text,
            value: resolved.then(|| self.periodic.value / self.random.value),
            unit: String::new(),
            origin: Origin::Computed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn penalty(low: f64, high: f64) -> Contrast {
        let unit = "ns/packet".into();
        let value = (low + high) / 2.0;
        Contrast {
            name: "p".into(),
            what: "p".into(),
            value,
            low,
            high,
            unit,
            level: 0.95,
            margin: 0.0,
            void: false,
        }
    }

    #[test]
    fn each_verdict_can_come_out() {
        let random = || penalty(9.0, 11.0);
        let verdict = |low, high| judged(penalty(low, high), random()).verdict;
        assert_eq!(verdict(-0.2, 0.3), Verdict::Learned);
        assert_eq!(verdict(9.0, 10.0), Verdict::NotLearned);
        assert_eq!(verdict(4.0, 5.0), Verdict::Partly);
        assert_eq!(verdict(-1.0, 9.0), Verdict::NotResolved);
        assert_eq!(verdict(2.0, 3.0), Verdict::NotResolved);
    }

    #[test]
    fn nothing_is_said_without_a_penalty_or_without_a_verdict() {
        let nothing = penalty(-0.1, 0.2);
        assert_eq!(judged(nothing.clone(), nothing.clone()).verdict, Verdict::NotResolved);
        let void = Contrast { void: true, ..penalty(9.0, 11.0) };
        let judged = judged(nothing, void);
        assert_eq!(judged.verdict, Verdict::NotResolved);
        assert!(judged.fact(5).value.is_none() && judged.fact(5).text.contains("not resolved"));
    }
}
