//! Controls over several cells: a difference that must be small beside the one that it vouches for.

use crate::race::{Cell, Check, Contrast, Outcome, Verdict};

/// Judges a control by what it is a control of: `held` if its interval lies within `share` of the effect, `failed` if
/// it lies outside, else not applicable, since the interval is too wide to say.
///
/// A tolerance in nanoseconds would be too strict on one machine and too lax on another, and a share of the cost says
/// nothing of the difference that is claimed: a bias of a tenth of an effect can't be that effect.
pub fn beside(name: String, control: &Contrast, effect: &Contrast, share: f64) -> Check {
    let shown =
        |figure: &Contrast| format!("{:+.2} ns [{:+.2}, {:+.2}]", figure.value, figure.low, figure.high);
    let detail = format!("{}: {}; {}: {}", control.what, shown(control), effect.what, shown(effect));
    if control.void || effect.void {
        return Check::not_applicable(name, format!("a race that it rests on has no verdict; {detail}"));
    }
    if !(effect.low > 0.0 || effect.high < 0.0) {
        return Check::not_applicable(name, format!("there is no effect to vouch for; {detail}"));
    }
    let allowed = share * effect.value.abs();
    let detail = format!("{detail}; allowed ±{allowed:.2}");
    if control.low >= -allowed && control.high <= allowed {
        Check::new(name, true, detail)
    } else if control.low > allowed || control.high < -allowed {
        Check::new(name, false, detail)
    } else {
        Check::not_applicable(name, format!("too wide to say; {detail}"))
    }
}

/// Judges an arm that does the same as another by construction: `held` if its verdict reads same.
pub fn same(name: String, cell: &Cell, arm: &str) -> Option<Check> {
    let arm = cell.arm(arm)?;
    let detail = format!(
        "{} against {}: {:.4} [{:.4}, {:.4}]",
        arm.arm, arm.against, arm.ratio?, arm.ratio_low?, arm.ratio_high?
    );
    Some(match arm.verdict? {
        Verdict::Same => Check::new(name, true, detail),
        Verdict::Faster | Verdict::Slower => Check::new(name, false, detail),
        Verdict::NotResolved => Check::not_applicable(name, format!("too wide to say; {detail}")),
    })
}

/// Takes the verdicts of the cells concerned where a control over them failed.
pub fn void(cells: &mut [Cell], check: &Check, concerned: impl Fn(&Cell) -> bool) {
    if check.outcome == Outcome::Failed {
        for cell in cells.iter_mut().filter(|cell| concerned(cell)) {
            cell.void(format!("{}: {}", check.name, check.detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(low: f64, high: f64) -> Contrast {
        Contrast {
            name: "a".into(),
            what: "figure".into(),
            value: (low + high) / 2.0,
            low,
            high,
            unit: "ns/packet".into(),
            level: 0.95,
            margin: 0.0,
            void: false,
        }
    }

    #[test]
    fn a_control_is_judged_by_its_effect() {
        let effect = figure(9.0, 11.0);
        let outcome = |low, high| beside("control:x".into(), &figure(low, high), &effect, 0.1).outcome;
        assert_eq!(outcome(-0.5, 0.9), Outcome::Held);
        assert_eq!(outcome(1.1, 3.0), Outcome::Failed);
        assert_eq!(outcome(-3.0, -1.1), Outcome::Failed);
        assert_eq!(outcome(0.5, 1.5), Outcome::NotApplicable);
        assert_eq!(outcome(-20.0, 20.0), Outcome::NotApplicable);
        assert_eq!(outcome(f64::NEG_INFINITY, f64::INFINITY), Outcome::NotApplicable);
    }

    #[test]
    fn nothing_is_vouched_for_where_there_is_nothing() {
        let zero = figure(-0.1, 0.1);
        let judged =
            |control: &Contrast, effect: &Contrast| beside("control:x".into(), control, effect, 0.1).outcome;
        assert_eq!(judged(&zero, &zero), Outcome::NotApplicable);
        assert_eq!(judged(&zero, &figure(-11.0, -9.0)), Outcome::Held);
        let void = Contrast { void: true, ..figure(9.0, 11.0) };
        assert_eq!(judged(&zero, &void), Outcome::NotApplicable);
        assert_eq!(judged(&void, &figure(9.0, 11.0)), Outcome::NotApplicable);
    }
}
