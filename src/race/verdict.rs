//! From a ratio's interval to a word, and to words.

use super::Verdict;
use super::statistics::Interval;

/// Half-width of the band around 1 in which a ratio counts as *same*, unless the caller sets another.
pub const DEFAULT_MARGIN: f64 = 0.005;

/// Judges a ratio of times against the band 1 ± `margin`.
///
/// `faster` and `slower` need the whole interval outside the band, `same` the whole interval inside; anything else
/// isn't resolved.
pub fn judge(ratio: &Interval, margin: f64) -> Verdict {
    if ratio.high < 1.0 - margin {
        Verdict::Faster
    } else if ratio.low > 1.0 + margin {
        Verdict::Slower
    } else if ratio.low >= 1.0 - margin && ratio.high <= 1.0 + margin {
        Verdict::Same
    } else {
        Verdict::NotResolved
    }
}

/// Judges a ratio where controls support a margin of `resolvable` only. What they can't exclude may be all there is to a
/// smaller difference, so `faster` and `slower` must lie beyond it, and nothing reads `same`.
pub fn judge_beside_controls(ratio: &Interval, asked: f64, resolvable: f64) -> Verdict {
    if resolvable <= asked {
        return judge(ratio, asked);
    }
    match judge(ratio, resolvable) {
        Verdict::Same => Verdict::NotResolved,
        verdict => verdict,
    }
}

/// The margin that controls support: the one asked for if all of them lie within it, else as far as the widest reaches,
/// since a bias of that size can't be excluded.
pub fn resolvable_margin<'a>(asked: f64, controls: impl Iterator<Item = &'a Interval>) -> f64 {
    controls.map(|ratio| (ratio.high - 1.0).max(1.0 - ratio.low)).fold(asked, f64::max)
}

/// The verdict as a phrase: "1.09× faster than scan", "same as scan (within 0.5 %)".
pub fn in_words(verdict: Verdict, ratio: &Interval, margin: f64, against: &str) -> String {
    // Two digits: what is measured isn't known to more.
    let percent = (margin * 1000.0).round() / 10.0;
    match verdict {
        Verdict::Faster => format!("{}× faster than {against}", factor(1.0 / ratio.estimate)),
        Verdict::Slower => format!("{}× slower than {against}", factor(ratio.estimate)),
        Verdict::Same => format!("same as {against} (within {percent} %)"),
        Verdict::NotResolved => format!("not resolved against {against}"),
    }
}

/// Three figures, and never a "1.00×" for something that is outside the margin.
fn factor(times: f64) -> String {
    match times {
        t if t >= 100.0 => format!("{t:.0}"),
        t if t >= 10.0 => format!("{t:.1}"),
        t if t >= 1.01 => format!("{t:.2}"),
        t => format!("{t:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { estimate: (low + high) / 2.0, low, high }
    }

    #[test]
    fn each_verdict_at_its_edge() {
        for (low, high, verdict) in [
            (0.90, 0.994, Verdict::Faster),
            (0.90, 0.996, Verdict::NotResolved),
            (0.996, 1.004, Verdict::Same),
            (0.994, 1.001, Verdict::NotResolved),
            (1.004, 1.2, Verdict::NotResolved),
            (1.006, 1.2, Verdict::Slower),
            (f64::NEG_INFINITY, f64::INFINITY, Verdict::NotResolved),
        ] {
            assert_eq!(judge(&interval(low, high), DEFAULT_MARGIN), verdict, "{low} {high}");
        }
    }

    #[test]
    fn a_wide_control_widens_the_margin_and_forbids_equality() {
        let narrow = [interval(0.999, 1.001), interval(0.998, 1.004)];
        assert_eq!(resolvable_margin(0.005, narrow.iter()), 0.005);
        let wide = [interval(0.999, 1.001), interval(0.98, 1.01)];
        let resolvable = resolvable_margin(0.005, wide.iter());
        assert!((resolvable - 0.02).abs() < 1e-12);
        for (low, high, verdict) in [
            (0.999, 1.001, Verdict::NotResolved),
            (0.985, 0.99, Verdict::NotResolved),
            (0.90, 0.97, Verdict::Faster),
            (1.03, 1.04, Verdict::Slower),
        ] {
            assert_eq!(
                judge_beside_controls(&interval(low, high), 0.005, resolvable),
                verdict,
                "{low} {high}"
            );
        }
        assert_eq!(judge_beside_controls(&interval(0.999, 1.001), 0.005, 0.005), Verdict::Same);
    }

    #[test]
    fn words_follow_the_numbers() {
        let fast = interval(0.915, 0.919);
        assert_eq!(in_words(judge(&fast, 0.005), &fast, 0.005, "scan"), "1.09× faster than scan");
        let slow = interval(7.9, 8.1);
        assert_eq!(in_words(judge(&slow, 0.005), &slow, 0.005, "scan"), "8.00× slower than scan");
        let same = interval(0.999, 1.001);
        assert_eq!(in_words(judge(&same, 0.005), &same, 0.005, "scan"), "same as scan (within 0.5 %)");
    }

    proptest! {
        #[test]
        fn turning_the_comparison_round_turns_the_verdict_round(low in 0.2f64..3.0, width in 0.0f64..1.0) {
            let ratio = interval(low, low + width);
            let turned = Interval { estimate: 1.0 / ratio.estimate, low: 1.0 / ratio.high, high: 1.0 / ratio.low };
            // With no margin the two judgements are exact mirrors.
            let mirrored = match judge(&turned, 0.0) {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                other => other,
            };
            prop_assert_eq!(judge(&ratio, 0.0), mirrored);
        }
    }
}
