//! The rule: from figures to advice. Every sentence states the figures that it rests on.
//!
//! With budget B (one second over the rate), a win counts if it is at least `worth_share`·B a packet.
//!
//! 1. Somebody hostile may choose the packets: *table* if a list's worst packet costs more than B, or if what a table
//!    saves at worst counts; else *neither*. An order is a bet on the mix, and hostile traffic isn't in the mix.
//! 2. What a table saves doesn't count: *neither*. The list isn't the problem.
//! 3. Sorting captures at least `captured_share` of what a table saves, in probes and, where measured, in time, and
//!    the sorted list keeps within B wherever the table does: *sort*. One line of code, same data structure.
//! 4. Otherwise: *table*.

use serde::Serialize;

use super::cost::{Costs, Source};
use super::{Figure, Probing, Reordering};
use crate::{Error, Result};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Leave the list as it is.
    Neither,
    /// Sort the list and go home.
    Sort,
    /// Build a table.
    Table,
}

/// When a win counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Thresholds {
    /// Least share of the budget that a win must be.
    pub worth_share: f64,
    /// Least share of a table's win that sorting must capture to do instead.
    pub captured_share: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds { worth_share: 0.10, captured_share: 0.80 }
    }
}

impl Thresholds {
    /// Refuses what is no share.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], by name.
    pub fn validate(&self) -> Result<()> {
        for (name, value) in [("worth_share", self.worth_share), ("captured_share", self.captured_share)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::invalid(name, value, "wanted a share between 0 and 1"));
            }
        }
        Ok(())
    }
}

/// The advice itself.
#[derive(Debug, Clone, Serialize)]
pub struct Recommendation {
    /// What to do.
    pub choice: Choice,
    /// Number of the rule that settled it.
    pub rule: u8,
    /// Why: the figures that the rule looked at, a sentence each.
    pub because: Vec<String>,
    /// What must stay so, and what to do if it doesn't.
    pub conditions: Vec<String>,
    /// Whether a figure's interval reaches across the threshold that it was held against: measured again it may fall on
    /// the other side.
    pub close: bool,
}

/// Everything that the rule looks at.
pub(super) struct Case<'a> {
    pub handlers: usize,
    pub captured: Option<f64>,
    pub budget_ns: f64,
    pub adversarial: bool,
    pub probings: [&'a Probing; 3],
    pub costs: &'a Costs,
    pub reordering: &'a Reordering,
    pub thresholds: &'a Thresholds,
}

const SORTED: usize = 1;
const TABLE: usize = 2;

/// Applies the rule.
pub(super) fn recommend(case: &Case) -> Recommendation {
    let (choice, rule, because, close) = settle(case);
    Recommendation { choice, rule, because, conditions: conditions(case, choice), close }
}

fn settle(case: &Case) -> (Choice, u8, Vec<String>, bool) {
    let (costs, budget) = (case.costs, case.budget_ns);
    let worth = case.thresholds.worth_share * budget;
    let threshold =
        format!("{} of the {} budget, {}", percent(case.thresholds.worth_share), ns(budget), ns(worth));
    if case.adversarial {
        let (worst, saved) = (costs.worst[SORTED], costs.saved_at_worst);
        let over = worst.value > budget;
        let counts = saved.value >= worth;
        let close = if over { crosses(worst, budget) && !counts } else { crosses(saved, worth) };
        let because = vec![
            format!(
                "hostile packets can make any list ask all {}: {} a packet, {} the {} budget",
                case.handlers,
                ns(worst.value),
                if over { "over" } else { "within" },
                ns(budget)
            ),
            format!(
                "a table saves {} of that, {} {threshold}",
                ns(saved.value),
                if counts { "at least" } else { "less than" }
            ),
        ];
        let choice = if over || counts { Choice::Table } else { Choice::Neither };
        return (choice, 1, because, close);
    }
    let saved = costs.saved[TABLE - 1];
    if saved.value < worth {
        let because = vec![format!("a table saves {} a packet, less than {threshold}", ns(saved.value))];
        return (Choice::Neither, 2, because, crosses(saved, worth));
    }
    let mut because = vec![format!("a table saves {} a packet, at least {threshold}", ns(saved.value))];
    let least = case.thresholds.captured_share;
    // Enough in probes and in time: probes repeat exactly, time is what is paid.
    let in_time = costs.captured.filter(|_| costs.source == Source::Measured);
    let enough =
        case.captured.is_some_and(|share| share >= least) && in_time.is_none_or(|share| share.value >= least);
    let fits = costs.usual[SORTED].value <= budget || costs.usual[TABLE].value > budget;
    let timed = in_time.map_or(String::new(), |share| format!(" and {} of the time", percent(share.value)));
    because.push(format!(
        "sorting saves {}{timed} that a table saves, {} {}",
        case.captured
            .map_or("none of the probes".into(), |share| format!("{} of the probes", percent(share))),
        if enough { "at least" } else { "less than" },
        percent(least)
    ));
    if !fits {
        because.push(format!(
            "sorted, a packet still takes {}, over the budget; with a table {}",
            ns(costs.usual[SORTED].value),
            ns(costs.usual[TABLE].value)
        ));
    }
    let close = crosses(saved, worth)
        || in_time.is_some_and(|share| crosses(share, least))
        || crosses(costs.usual[SORTED], budget);
    match enough && fits {
        true => (Choice::Sort, 3, because, close),
        false => (Choice::Table, 4, because, close),
    }
}

fn conditions(case: &Case, choice: Choice) -> Vec<String> {
    let (costs, budget) = (case.costs, case.budget_ns);
    let mut conditions = Vec::new();
    let saved = if case.adversarial { costs.saved_at_worst } else { costs.saved[TABLE - 1] };
    // The rate at which what a table saves is worth it, and no more than that.
    let rate = (saved.value > 0.0).then(|| 1e9 * case.thresholds.worth_share / saved.value);
    match (choice, rate) {
        (Choice::Neither, Some(rate)) => {
            conditions.push(format!(
                "holds below {} packets/s, where what a table saves begins to count",
                number(rate)
            ));
        }
        (Choice::Neither, None) => conditions.push("holds at any rate: a table saves nothing".into()),
        // Where the worst packet alone breaks the budget, that decides: the list would do once it no longer does.
        (Choice::Table, _) if case.adversarial && costs.worst[SORTED].value > budget => {
            let within = 1e9 / costs.worst[SORTED].value;
            let rate = rate.map_or(within, |rate| rate.min(within));
            conditions.push(format!("below {} packets/s the plain list would do", number(rate)));
        }
        (_, Some(rate)) => {
            conditions.push(format!("below {} packets/s the plain list would do", number(rate)));
        }
        (_, None) => {}
    }
    if choice != Choice::Table && !case.adversarial {
        let worst = costs.worst[if choice == Choice::Sort { SORTED } else { 0 }].value;
        let (within, then) = match worst > budget {
            true => ("over", "if anybody hostile can send, build the table"),
            false => ("within", "a hostile sender can't break the budget by the search"),
        };
        conditions.push(format!(
            "at worst {}, {}, {within} the budget: {then}",
            probes(case.handlers),
            ns(worst)
        ));
    }
    if choice == Choice::Sort {
        let list = case.probings[0].mean;
        conditions.push(format!(
            "the mix stays as it is: sorted for another one, the list costs what it did ({list:.1} probes) or more; \
             count again from time to time"
        ));
    }
    if choice == Choice::Table {
        conditions.push(format!(
            "every handler can name its keys when it registers; at worst {}, whoever sends",
            probes(case.probings[TABLE].worst)
        ));
    }
    if case.reordering.overlapping_pairs > 0 {
        let text = match choice {
            Choice::Sort => "sort so that overlapping handlers keep their order, as counted here",
            Choice::Table => "keep each key's candidates in registration order",
            Choice::Neither => "registration order is behaviour: whoever sorts the list later changes it",
        };
        conditions.push(text.into());
    }
    if costs.usual[TABLE].value > budget && costs.source == Source::Measured {
        conditions.push(format!(
            "with a table too a packet takes {}, over the budget: the search isn't all of it",
            ns(costs.usual[TABLE].value)
        ));
    }
    conditions
}

fn crosses(figure: Figure, threshold: f64) -> bool {
    figure.low < threshold && threshold < figure.high
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn probes(count: usize) -> String {
    if count == 1 { "1 probe".into() } else { format!("{count} probes") }
}

/// Nanoseconds with three digits or all whole ones, in groups of three; milliseconds from a million on.
fn ns(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{:.1} ms", value / 1e6),
        v if v.round() >= 1e3 => {
            let whole = value.round() as i64;
            format!("{},{:03} ns", whole / 1000, whole.abs() % 1000)
        }
        v if v >= 100.0 => format!("{value:.0} ns"),
        _ => format!("{value:.1} ns"),
    }
}

/// A rate with three digits: 1.25 M, 380 k.
fn number(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.3} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e3 => format!("{:.0} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}
