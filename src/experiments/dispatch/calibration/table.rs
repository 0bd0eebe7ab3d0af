//! What follows from the races: how many of each fill the budget, what a misprediction costs, and whether it all fits.

use super::operation::Operation;
use super::{OPERATION, YARDSTICK, adds};
use crate::race::{Cell, Check, Contrast, Fact, Origin, Outcome, Status, Value, contrast};

/// Tolerance of the yardstick: the canary and it are two measurements of one frequency, which moves between them.
const YARDSTICK_TOLERANCE: f64 = 0.03;
/// Of fair coins whatever predicts them gets this share wrong.
const WRONG_OF_FAIR_COINS: f64 = 0.5;

fn of(cells: &[Cell], operation: Operation) -> Option<&Cell> {
    cells.iter().find(|cell| cell.parameters["operation"] == Value::Text(operation.name().into()))
}

/// Differences that the cells give together.
pub fn contrasts(cells: &[Cell]) -> Vec<Contrast> {
    let between = |factor: f64, more: Operation, less: Operation, name: &str, what: &str| {
        let (more, less) = (of(cells, more)?, of(cells, less)?);
        let terms = [(factor, more, OPERATION), (-factor, less, OPERATION)];
        contrast::linear(&terms, name.into(), what.into())
    };
    let miss = between(
        1.0 / WRONG_OF_FAIR_COINS,
        Operation::BranchRandom,
        Operation::BranchPredicted,
        "branch-miss",
        "a mispredicted branch: twice what fair coins add, as half of them are mispredicted",
    );
    let pointer = between(
        1.0,
        Operation::CallIndirect,
        Operation::CallDirect,
        "call-indirect",
        "calling through a pointer that never changes − calling directly",
    );
    [miss, pointer].into_iter().flatten().collect()
}

/// Sixteen dependent adds take sixteen cycles; where they don't, no cycle count of that race is worth anything.
pub fn yardstick_checks(cells: &mut [Cell]) -> Vec<Check> {
    let mut off = Vec::new();
    let mut seen = Vec::new();
    for cell in cells.iter_mut() {
        let Some(cycles) = cell.arm(YARDSTICK).map(|arm| arm.cycles).filter(|cycles| cycles.is_finite())
        else {
            continue;
        };
        seen.push(cycles);
        if (cycles / adds::ADDS as f64 - 1.0).abs() > YARDSTICK_TOLERANCE {
            let reason = format!("control:yardstick: {} adds took {cycles:.2} cycles", adds::ADDS);
            off.push(format!("{cycles:.2} beside {}", cell.parameters["operation"]));
            cell.void(reason);
        }
    }
    const NAME: &str = "control:yardstick";
    if seen.is_empty() {
        return vec![Check::not_applicable(NAME, "no canary on this architecture, so no cycles")];
    }
    let (low, high) =
        seen.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &at| (low.min(at), high.max(at)));
    let detail = match off.is_empty() {
        true => format!("{} dependent adds took {low:.2} to {high:.2} cycles", adds::ADDS),
        false => format!("{} dependent adds took {} cycles", adds::ADDS, off.join(", ")),
    };
    vec![Check::new(NAME, off.is_empty(), detail)]
}

/// Pairs of which the first can't cost more than the second, on any machine.
const ORDER: [(Operation, Operation); 4] = [
    (Operation::LoadL1, Operation::LoadL2),
    (Operation::LoadL2, Operation::LoadL3),
    (Operation::LoadL3, Operation::LoadDram),
    (Operation::BranchPredicted, Operation::BranchRandom),
];

/// Nearer is cheaper, and what is predicted is cheaper than what isn't: where that doesn't come out, the arms don't
/// measure what they are called.
pub fn order_checks(cells: &mut [Cell]) -> Vec<Check> {
    let mut checks = Vec::new();
    for (less, more) in ORDER {
        let (Some(low), Some(high)) = (of(cells, less), of(cells, more)) else { continue };
        let name = format!("order:{}:{}", less.name(), more.name());
        let rise = contrast::over_blocks(&[(1.0, high, OPERATION), (-1.0, low, OPERATION)]);
        let Some(rise) = rise.filter(|rise| rise.low.is_finite()) else {
            checks.push(Check::not_applicable(name, "too few blocks that the races have in common"));
            continue;
        };
        let detail = format!("{:+.2} ns ({:.2}…{:.2})", rise.estimate, rise.low, rise.high);
        let check = match rise {
            rise if rise.low > 0.0 => Check::new(name, true, detail),
            rise if rise.high > 0.0 => Check::not_applicable(name, format!("not resolved: {detail}")),
            _ => Check::new(name, false, format!("the wrong way round: {detail}; find the artefact")),
        };
        if check.outcome == Outcome::Failed {
            for cell in cells.iter_mut().filter(|cell| {
                [less, more].iter().any(|it| cell.parameters["operation"] == Value::Text(it.name().into()))
            }) {
                cell.void(format!("{}: {}", check.name, check.detail));
            }
        }
        checks.push(check);
    }
    checks
}

/// A walk through L3 that costs more than this share of one through memory goes to memory itself. Where all of it hits,
/// it is a third or less (cores of the last decade: 10 to 25 ns against 60 ns and more).
const MOST_OF_MEMORY: f64 = 0.5;

/// The size that the machine states isn't the share that it gives: neighbours on the host fill an L3, or are given most
/// of its ways. A set that fits by its size alone and costs what memory costs is no figure of L3.
pub fn share_check(cells: &mut [Cell]) -> Option<Check> {
    const NAME: &str = "control:l3-nearer-than-memory";
    let cost = |cells: &[Cell], operation| {
        let arm = of(cells, operation)?.arm(OPERATION)?;
        (arm.median.is_finite() && arm.median > 0.0).then_some(arm.median)
    };
    let share = cost(cells, Operation::LoadL3)? / cost(cells, Operation::LoadDram)?;
    let at = cells.iter_mut().find(|cell| cell.parameters["operation"] == load_l3())?;
    let set = &at.parameters["l3_set"];
    let mut detail =
        format!("a load from the set of {set} bytes costs {:.0} % of one from memory", 100.0 * share);
    let held = share <= MOST_OF_MEMORY;
    if !held {
        detail +=
            ": it doesn't stay in L3, of which less may be ours than the machine says; a smaller l3_set may";
        at.void(format!("{NAME}: {detail}"));
    }
    Some(Check::new(NAME, held, detail))
}

fn load_l3() -> Value {
    Value::Text(Operation::LoadL3.name().into())
}

/// How many of an operation fill the budget.
pub fn fill(budget_ns: f64, cost_ns: f64) -> Option<f64> {
    (cost_ns > 0.0 && budget_ns.is_finite()).then(|| budget_ns / cost_ns)
}

/// One line an operation, and one for the misprediction: what it costs, and how many fill the budget.
pub fn facts(cells: &[Cell]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = cells.iter().filter_map(operation_fact).collect();
    let miss = contrasts(cells).into_iter().find(|contrast| contrast.name == "branch-miss");
    if let (Some(miss), Some(cell)) = (miss, of(cells, Operation::BranchRandom)) {
        let text = if miss.void {
            ("a mispredicted branch: no verdict".to_string(), None)
        } else {
            let budget = budget_ns(cell);
            let count = fill(budget, miss.value);
            let ghz = ghz(cell).map_or(String::new(), |ghz| format!(", {:.1} cycles", miss.value * ghz));
            (filling("a mispredicted branch", miss.value, &ghz, count, budget), count)
        };
        facts.push(fact("fills:branch_miss", text));
    }
    facts
}

fn operation_fact(cell: &Cell) -> Option<Fact> {
    let Value::Text(name) = &cell.parameters["operation"] else { return None };
    let spoken = Operation::named(name).spoken();
    let arm = cell.arm(OPERATION)?;
    let text = if cell.status == Status::NoVerdict {
        (format!("{spoken}: no verdict ({})", cell.reason.as_deref().unwrap_or("unknown reason")), None)
    } else {
        let budget = budget_ns(cell);
        let count = fill(budget, arm.median);
        let cycles = match arm.cycles.is_finite() {
            true => format!(", {:.1} cycles", arm.cycles),
            false => String::new(),
        };
        (filling(spoken, arm.median, &cycles, count, budget), count)
    };
    Some(fact(&format!("fills:{name}"), text))
}

fn fact(name: &str, (text, value): (String, Option<f64>)) -> Fact {
    Fact { name: name.into(), text, value, unit: "operations".into(), origin: Origin::Computed }
}

fn filling(what: &str, ns: f64, cycles: &str, count: Option<f64>, budget: f64) -> String {
    let count = count.map_or("no number".to_string(), |count| match count {
        count if count < 10.0 => format!("{count:.1}"),
        count => format!("{count:.0}"),
    });
    format!("{what}: {ns:.2} ns{cycles}; {count} fill {budget:.0} ns")
}

fn budget_ns(cell: &Cell) -> f64 {
    match cell.parameters["rate"] {
        Value::Float(rate) => 1e9 / rate,
        _ => f64::NAN,
    }
}

/// The frequency of a race, by its canary.
fn ghz(cell: &Cell) -> Option<f64> {
    let arm = cell.arm(OPERATION)?;
    (arm.cycles.is_finite() && arm.median > 0.0).then(|| arm.cycles / arm.median)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_fills_the_budget_is_the_budget_again(budget in 1.0..1e6f64, cost in 1e-3..1e6f64) {
            let count = fill(budget, cost).expect("a cost");
            prop_assert!((count * cost / budget - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cost_of_nothing_fills_nothing() {
        assert_eq!(fill(333.0, 0.0), None);
        assert_eq!(fill(333.0, -1.0), None);
        assert_eq!(fill(333.0, f64::NAN), None);
    }
}
