//! `dispatch.calibration`: what the budget of a packet buys on this machine.

mod adds;
mod allocation;
mod atomic;
mod branch;
mod call;
mod counted;
mod kernel;
mod operation;
mod table;

use std::time::Duration;

use operation::{Operation, Prepared};

use crate::Result;
use crate::experiments::cache::chase::NODE_BYTES;
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Parameter, Plan, Role, Unit, Value,
    Values, Watch,
};

/// The experiment.
pub struct Calibration;

/// The arm that does the operation in question.
const OPERATION: &str = "operation";
/// The arm whose cycles are known.
const YARDSTICK: &str = "sixteen_adds";
/// Enough for a figure; verdicts to half a percent aren't what this is for.
const PATIENCE: usize = 1;
const BLOCK: Duration = Duration::from_millis(5);
/// Least rep beside an operation of up to some hundred nanoseconds: the yardstick's. With the usual 50 µs the operation's
/// own would last milliseconds, and hardly one would go undisturbed on a busy machine.
const REP_BESIDE_SLOW: Duration = Duration::from_micros(16);
/// The kata's rate.
const RATE: f64 = 3e6;

/// Largest set: every block copies it, which must not take long between two looks at the stop flag.
const LARGEST_SET: usize = 256 << 20;
const SMALLEST_SET: usize = 4 * 1024;

impl Experiment for Calibration {
    fn id(&self) -> &'static str {
        "dispatch.calibration"
    }

    fn title(&self) -> &'static str {
        "What the budget of a packet buys on this machine"
    }

    fn about(&self) -> &'static str {
        "Before anything is called expensive: what do the elementary things cost here, and how many of each fill the \
         time that a packet may take? One race an operation, so that none evicts what another needs. Loads chase one \
         random cycle through a set that fits one level of the memory and not the one before; pages are of the \
         system's usual size, so far levels include address translation. Both branches are the same machine code, \
         over decisions that alternate and over fair coins; whatever predicts fair coins is wrong half the time, so a \
         misprediction costs twice the difference. Calls reach a function that adds one, each waiting for the one \
         before. Every figure includes its loop, which runs beside the operation. Sixteen dependent adds stand beside \
         each as the yardstick: sixteen cycles, or the cycles of all others aren't believed. Control: the operation \
         once more, built apart (loads: half a turn ahead)."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerOperation
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let choices: Vec<&'static str> = Operation::ALL.map(Operation::name).to_vec();
        let all = choices.iter().map(|&name| Value::Text(name.into())).collect();
        let first = Value::Text(choices[0].into());
        let mut parameters = vec![
            Parameter::new("operation", Kind::Choice { choices }, first, "what is done").series(all),
            Parameter::new(
                "rate",
                Kind::Float { low: 1.0, high: 1e12 },
                Value::Float(RATE),
                "packets a second that the budget is for",
            )
            .unit("packets/s"),
        ];
        parameters.extend(set_sizes(card).map(|(name, bytes, help)| {
            let kind = Kind::Int { low: SMALLEST_SET as i64, high: LARGEST_SET as i64 };
            Parameter::new(name, kind, Value::Int(bytes as i64), help).unit("bytes")
        }));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: YARDSTICK, help: "sixteen dependent register adds: sixteen cycles" },
            ArmInfo { name: OPERATION, help: "the operation that the parameter names" },
            ArmInfo { name: "operation_again", help: "control: the same operation, built apart" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let operation = Operation::named(values.text("operation"));
        let set = operation.set_parameter().map(|name| values.size(name));
        let Prepared { source, own, again, ceiling } = operation.prepare(set, seed, watch)?;
        let (adds, counted) = operation::yardstick();
        let control = Role::Control { against: OPERATION.into() };
        let entries = vec![
            Entry::new(YARDSTICK, Role::Baseline, adds, counted, "adds"),
            Entry { ceiling: Some(ceiling), ..Entry::new(OPERATION, Role::Arm, own.0, own.1, "operation") },
            // Half a turn ahead a walk meets other links, and folds something else.
            Entry::new("operation_again", control, again.0, again.1, "operation again"),
        ];
        let checks = set.map(|bytes| set_check(operation, bytes, card)).into_iter().collect();
        let min_rep = operation.is_slow().then_some(REP_BESIDE_SLOW);
        let plan = Plan::new(source, entries);
        Ok(Plan { checks, min_rep, patience: Some(PATIENCE), block: Some(BLOCK), ..plan })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        table::contrasts(cells)
    }

    fn judge(&self, cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        let mut checks = table::yardstick_checks(cells);
        checks.extend(table::order_checks(cells));
        checks.extend(table::share_check(cells));
        checks
    }

    fn facts(&self, cells: &[Cell], _card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        Ok(table::facts(cells))
    }
}

/// Name, default and meaning of each set: well inside its level, and at least three times the one before. The second level's
/// stays within the reach of a first-level TLB (64 pages of 4 KiB and more on current cores).
fn set_sizes(card: &Card) -> impl Iterator<Item = (&'static str, usize, &'static str)> {
    let l1 = card.l1d_bytes().unwrap_or(32 << 10);
    let l2 = card.l2_bytes().unwrap_or(1 << 20);
    let l3 = card.l3_bytes().unwrap_or(32 << 20);
    let whole = |bytes: usize| bytes.clamp(SMALLEST_SET, LARGEST_SET) / NODE_BYTES * NODE_BYTES;
    [
        ("l1_set", whole(l1 / 2), "bytes that loads from L1 walk over"),
        ("l2_set", whole((l2 / 4).max(2 * l1)), "bytes that loads from L2 walk over"),
        // As little as outgrows the second level: of a shared L3 a virtual machine may get a few ways only.
        ("l3_set", whole((3 * l2).min(l3)), "bytes that loads from L3 walk over"),
        ("dram_set", whole((4 * l3).max(64 << 20)), "bytes that loads from memory walk over"),
    ]
    .into_iter()
}

/// Does the set lie in the level that it is to measure, and not in the one before?
fn set_check(operation: Operation, bytes: usize, card: &Card) -> Check {
    let (l1, l2, l3) = (card.l1d_bytes(), card.l2_bytes(), card.l3_bytes());
    let (inner, outer, level) = match operation {
        Operation::LoadL1 => (Some(0), l1, "L1"),
        Operation::LoadL2 => (l1, l2, "L2"),
        Operation::LoadL3 => (l2, l3, "L3"),
        _ => (l3, Some(usize::MAX), "memory"),
    };
    const NAME: &str = "set-in-its-level";
    let kib = |bytes: usize| format!("{} KiB", bytes >> 10);
    let (Some(inner), Some(outer)) = (inner, outer) else {
        return Check::not_applicable(NAME, format!("the cache sizes around {level} aren't known here"));
    };
    let mut detail = format!("{} for {level}", kib(bytes));
    if inner > 0 {
        detail = format!("{detail}; at least {}, twice the level before", kib(2 * inner));
    }
    if outer < usize::MAX {
        detail = format!("{detail}; at most {}", kib(outer));
    }
    Check::new(NAME, 2 * inner <= bytes && bytes <= outer, detail)
}

#[cfg(test)]
mod tests;
