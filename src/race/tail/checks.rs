//! What must hold for per-operation times to mean anything.

use super::Tail;
use crate::race::report::{Check, Outcome};

/// Name of the check that every operation was timed as often as it should.
pub(super) const COUNT: &str = "operations-timed";
/// Name of the check that the timer costs little beside what it times.
pub(super) const FLOOR: &str = "timer-floor";
/// Name of the check that the counter runs at one rate.
pub(super) const RATE: &str = "tsc-invariant";
/// How the names of controls over per-operation figures begin.
pub(super) const CONTROL: &str = "control:tail-";
/// Flag of an arm whose median is near the floor.
pub(super) const NEAR_FLOOR: &str = "near the timer's floor";

/// Of an arm's median the timer may be this share: more, and the figure says as much of the timer as of the arm.
const FLOOR_SHARE: f64 = 0.5;
/// A counter whose rate moves by more than this isn't one to time with. The kernel's clock, which it is held against, may
/// itself be slewed by 0.05 % (adjtimex(2)).
const MOST_DRIFT: f64 = 1e-3;

/// Whether floor and tick are small beside the arm's median.
pub(super) fn floor_is_small(tail: &Tail) -> bool {
    tail.floor.p50.max(tail.tick_ns) <= FLOOR_SHARE * tail.whole.all.percentiles.p50
}

/// Every arm's floor against its median.
pub(super) fn timer_floor(arms: &[(&str, &Tail)], tick_ns: f64) -> Check {
    let Some((_, first)) = arms.first() else { return Check::not_applicable(FLOOR, "no arm was timed") };
    let medians = arms.iter().map(|(name, tail)| (*name, tail.whole.all.percentiles.p50));
    let (least, p50) = medians.min_by(|a, b| a.1.total_cmp(&b.1)).expect("at least one");
    let near: Vec<&str> =
        arms.iter().filter(|(_, tail)| !floor_is_small(tail)).map(|(name, _)| *name).collect();
    let mut detail = format!(
        "the timer and an empty call cost {:.1} ns (p99 {:.1}), tick {tick_ns:.1} ns; the cheapest arm's median is {p50:.1} ns \
         ({least}); never subtracted",
        first.floor.p50, first.floor.p99
    );
    if !near.is_empty() {
        detail = format!("{detail}; more than half of the median of {}: not resolved", near.join(", "));
    }
    Check::new(FLOOR, near.is_empty(), detail)
}

/// That each histogram holds operations × replays times, and what disturbed them.
pub(super) fn counted(arms: &[(&str, &Tail)], operations: usize, replays: usize) -> Check {
    let wanted = (operations * replays) as u64;
    let missing: Vec<String> = arms
        .iter()
        .map(|(name, tail)| (name, tail.whole.all.histogram.iter().map(|(_, count)| count).sum::<u64>()))
        .filter(|(_, count)| *count != wanted)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    if !missing.is_empty() {
        return Check::new(COUNT, false, format!("wanted {wanted} times an arm: {}", missing.join(", ")));
    }
    let sum = |of: fn(&Tail) -> u64| arms.iter().map(|(_, tail)| of(tail)).sum::<u64>();
    let detail = format!(
        "{operations} operations {replays} times each, one by one; while they were timed: {} involuntary switches, {} \
         migrations, {} page faults, none left out",
        sum(|tail| tail.disturbed.involuntary_switches),
        sum(|tail| tail.disturbed.migrations),
        sum(|tail| tail.disturbed.page_faults),
    );
    Check::new(COUNT, true, detail)
}

/// Whether the counter runs at one rate, by what the processor promises and by the system's clock over the whole run.
pub(super) fn one_rate(
    promised: Option<bool>,
    hypervisor: Option<&str>,
    drift: f64,
    backwards: u64,
) -> Check {
    let seen = format!("against the system's clock its rate moved by {:+.4} %", 100.0 * drift);
    if backwards > 0 {
        let detail =
            format!("{backwards} operations ended before they began: counters of CPUs are apart; {seen}");
        return Check::new(RATE, false, detail);
    }
    if drift.is_nan() || drift.abs() > MOST_DRIFT {
        return Check::new(RATE, false, format!("{seen}, more than {} %", 100.0 * MOST_DRIFT));
    }
    let host =
        hypervisor.map(|name| format!("; under {name} its rate is the host's affair")).unwrap_or_default();
    match promised {
        Some(true) => Check::new(RATE, true, format!("promised by the processor; {seen}{host}")),
        // Hypervisors hide the bit from guests that may be moved to another machine.
        Some(false) if hypervisor.is_some() => {
            Check::not_applicable(RATE, format!("the processor doesn't promise it; {seen}{host}"))
        }
        Some(false) => Check::new(RATE, false, format!("the processor doesn't promise one rate; {seen}")),
        None => Check::not_applicable(RATE, "no counter to ask about"),
    }
}

/// Whether any check that per-operation figures rest on has failed.
pub(super) fn any_failed(checks: &[Check]) -> bool {
    let ours = |check: &&Check| {
        [COUNT, FLOOR, RATE].contains(&check.name.as_str()) || check.name.starts_with(CONTROL)
    };
    checks.iter().filter(ours).any(|check| check.outcome == Outcome::Failed)
}
