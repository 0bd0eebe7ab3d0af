//! `dispatch.tail`: what the dearest packets cost, and what a shift of the traffic does to them.

use std::sync::Arc;

use super::stream::{self, HALVES, SHIFTS, Stream};
use super::traffic;
use crate::Result;
use crate::dispatch::worst::most_probes;
use crate::dispatch::{ScanReference, SelectionArm, SelectionRecipe, ceiling};
use crate::machine::Card;
use crate::race::tail::{self, Percentiles};
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Origin, Outcome, Parameter, Part,
    PerOperation, Plan, Probes, Role, Source, Unit, Value, Values, Watch,
};

/// The experiment.
pub struct TailCost;

/// A percentile, and what it is called.
type Of = (&'static str, fn(&Percentiles) -> f64);
const P50: Of = ("p50", |of| of.p50);
const P99: Of = ("p99", |of| of.p99);

/// The arms: every kind of scan, and the table.
const ARMS: [SelectionArm; 5] = [
    SelectionArm::Scan,
    SelectionArm::ScanOrdered,
    SelectionArm::ScanMoveToFront,
    SelectionArm::ScanKeys,
    SelectionArm::TableCompact,
];
const SORTED: &str = "scan_ordered";
const TABLE: &str = "table_compact";
const CONTROL: &str = "table_compact_again";

impl Experiment for TailCost {
    fn id(&self) -> &'static str {
        "dispatch.tail"
    }

    fn title(&self) -> &'static str {
        "What the dearest packets cost, before and after the traffic shifts"
    }

    fn about(&self) -> &'static str {
        "A list sorted by how often each handler runs is cheap on average, on the mix that it was sorted for. A table is \
         a bound. Here the first half of the stream is that mix; in the second half an adversary sends what costs the \
         sorted scan most, the last handler's key and keys that nobody claims (`shift=none` sends the first half again, \
         as a control). Every packet is timed by itself, between two fenced readings of the timestamp counter, into a \
         histogram an arm. Fences keep packets from overlapping, so this is latency in isolation, higher than the \
         race's cost a packet, and the timer's own floor, measured by an arm that does nothing, is in every figure. \
         p99.9 and max hold the machine's interruptions; each packet's least over all replays doesn't. Beside them, \
         without any clock: the probes that were counted, and the most that any packet can cost. Controls: a second \
         compact table, built apart, and halves that are alike."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let timing = PerOperation::default();
        let whole = |value: usize| Value::Int(value as i64);
        let mut parameters = vec![
            Parameter::new(
                "shift",
                Kind::Choice { choices: SHIFTS.to_vec() },
                Value::Text(SHIFTS[0].into()),
                "what the second half of the stream is: none (the first half again) or adversary",
            )
            .series(SHIFTS.map(|shift| Value::Text(shift.into())).to_vec()),
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered",
            ),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("fat".into()),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            ),
            traffic::traffic("skewed"),
            Parameter::new(
                "replays",
                Kind::Int { low: 1, high: tail::MOST_REPLAYS as i64 },
                whole(timing.replays),
                "passes over the stream in each of the placements (20 or more), every packet timed",
            ),
            Parameter::new(
                "turn",
                Kind::Int { low: 1, high: tail::LONGEST_TURN as i64 },
                whole(timing.turn),
                "packets that an arm is timed over before the next one's turn",
            )
            .unit("packets"),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let control = ArmInfo { name: CONTROL, help: "control: the same arm, built apart" };
        let help = |arm: SelectionArm| match arm {
            SelectionArm::ScanOrdered => {
                "scan, over the handlers sorted by how often each runs in the first half"
            }
            other => other.help(),
        };
        ARMS.map(|arm| ArmInfo { name: arm.name(), help: help(arm) }).into_iter().chain([control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let stream = stream::stream(values, seed, card, watch)?;
        let reference = Arc::new(ScanReference::new(&stream.set));
        let mut entries = Vec::new();
        let mut asked = Vec::new();
        for arm in ARMS {
            let recipe = recipe(arm, &stream)?;
            let probes = Probes::of(recipe.pass(&stream.packets, watch)?.probes, None);
            asked.push((arm.name(), probes.max, most_probes(arm, &stream.set)));
            let role = if arm == SelectionArm::Scan { Role::Baseline } else { Role::Arm };
            let ceiling = Some(ceiling::selection(arm, Some(&probes)));
            let entry = Entry::new(arm.name(), role, Arc::new(recipe), reference.clone(), "dispatch");
            entries.push(Entry { probes: Some(probes), ceiling, ..entry });
        }
        let table = Arc::new(recipe(SelectionArm::TableCompact, &stream)?);
        let control = Role::Control { against: TABLE.into() };
        entries.push(Entry::new(CONTROL, control, table, reference, "dispatch"));
        let half = |name: &str, first: usize, count: usize| Part { name: name.into(), first, count };
        let shift = stream.shift;
        let per_operation = PerOperation {
            replays: values.size("replays"),
            turn: values.size("turn"),
            parts: vec![half(HALVES[0], 0, shift), half(HALVES[1], shift, stream.packets.len() - shift)],
        };
        let mut checks = stream.checks;
        checks.push(bounded(&asked));
        Ok(Plan {
            checks,
            per_operation: Some(per_operation),
            ..Plan::new(Source::from_items(stream.packets), entries)
        })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        let [before, after] = HALVES.map(Some);
        let over = |arm| ((arm, after), (arm, before));
        let over_table = |half| ((SORTED, half), (TABLE, half));
        let of_cell = |cell: &Cell| match is_calm(cell) {
            true => vec![
                (
                    P99,
                    over_table(before),
                    "sorted-over-table",
                    "sorted scan − table, on the mix it was sorted for",
                ),
                (
                    P50,
                    over(SORTED),
                    "control:sorted",
                    "control: sorted scan, the same packets again − before",
                ),
                (P50, over(TABLE), "control:table", "control: table, the same packets again − before"),
            ],
            false => vec![
                (
                    P99,
                    over_table(before),
                    "sorted-over-table:before",
                    "sorted scan − table, before the shift",
                ),
                (
                    P99,
                    over_table(after),
                    "sorted-over-table:after",
                    "sorted scan − table, under the adversary",
                ),
                (P50, over(SORTED), "shift:sorted", "sorted scan: under the adversary − before"),
                (P50, over(TABLE), "shift:table", "table: under the adversary − before"),
            ],
        };
        let contrast = |cell, ((of, percentile), places, name, what): (Of, _, _, _)| {
            tail::difference(cell, places, percentile, format!("{of}:{name}"), format!("{of}, {what}"))
        };
        let all = cells.iter().flat_map(|cell| of_cell(cell).into_iter().map(move |wanted| (cell, wanted)));
        all.filter_map(|(cell, wanted)| contrast(cell, wanted)).collect()
    }

    fn judge(&self, cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        for cell in cells.iter_mut() {
            let controls = controls(cell);
            cell.checks.extend(controls);
        }
        // What is wrong with halves that are alike is wrong with those that aren't.
        let failed = |check: &&Check| check.name == ALIKE && check.outcome == Outcome::Failed;
        let unlike = cells.iter().flat_map(|cell| &cell.checks).find(failed).cloned();
        for cell in cells.iter_mut().filter(|cell| !is_calm(cell)) {
            cell.checks.extend(unlike.clone());
        }
        Vec::new()
    }

    fn facts(&self, cells: &[Cell], card: &Card, watch: &Watch) -> Result<Vec<Fact>> {
        let mut facts = Vec::new();
        // Halves that are alike tell nothing that the others don't.
        let telling = cells.iter().find(|cell| !is_calm(cell)).or(cells.first());
        if let Some(cell) = telling {
            let stream = stream::stream(&Values(cell.parameters.clone()), cell.seed, card, watch)?;
            facts = bounds(&stream);
            for arm in ARMS {
                facts.push(counted(arm, &stream, watch)?);
            }
        }
        Ok(facts)
    }
}

fn recipe(arm: SelectionArm, stream: &Stream) -> Result<SelectionRecipe> {
    match arm {
        SelectionArm::ScanOrdered => SelectionRecipe::scan_ordered(&stream.set, stream.sorted.clone()),
        _ => SelectionRecipe::new(arm, &stream.set, None),
    }
}

/// No packet was asked of more handlers than the bound over all packets says: arm, most that was counted, bound.
fn bounded(asked: &[(&str, u32, u32)]) -> Check {
    let words: Vec<String> =
        asked.iter().map(|(arm, seen, most)| format!("{arm} {seen} of at most {most}")).collect();
    Check::new("worst-probes", asked.iter().all(|(_, seen, most)| seen <= most), words.join(", "))
}

/// The most that any packet can cost, one fact a bound.
fn bounds(stream: &Stream) -> Vec<Fact> {
    let mut by_bound: Vec<(u32, Vec<&str>)> = Vec::new();
    for arm in ARMS {
        let most = most_probes(arm, &stream.set);
        match by_bound.iter_mut().find(|(bound, _)| *bound == most) {
            Some((_, arms)) => arms.push(arm.name()),
            None => by_bound.push((most, vec![arm.name()])),
        }
    }
    let fact = |(most, arms): (u32, Vec<&str>)| Fact {
        name: format!("most-probes:{}", arms.join("+")),
        text: format!(
            "no packet, whatever its key and payload, costs {} more than {most} probes",
            arms.join(", ")
        ),
        value: Some(f64::from(most)),
        unit: "probes".into(),
        origin: Origin::Computed,
    };
    by_bound.into_iter().map(fact).collect()
}

/// An arm's probes in both halves.
fn counted(arm: SelectionArm, stream: &Stream, watch: &Watch) -> Result<Fact> {
    let probes = recipe(arm, stream)?.pass(&stream.packets, watch)?.probes;
    let (before, after) = probes.split_at(stream.shift);
    let [before, after] = [before, after].map(|half| Probes::of(half.to_vec(), None));
    Ok(Fact {
        name: format!("probes:{}", arm.name()),
        text: format!(
            "{}: {:.2} probes a packet before, {:.2} after (p99 {} and {}, max {} and {})",
            arm.name(),
            before.mean,
            after.mean,
            before.p99,
            after.p99,
            before.max,
            after.max
        ),
        value: Some(after.mean / before.mean),
        unit: "times as many".into(),
        origin: Origin::Counted,
    })
}

/// A control's percentile reads zero within the larger of this share of it and two ticks.
const CONTROL_SHARE: f64 = 0.05;

/// Name of the check that halves which are alike read the same.
const ALIKE: &str = "control:tail-halves-alike";

/// Whether the second half is the first again.
fn is_calm(cell: &Cell) -> bool {
    cell.parameters["shift"] == Value::Text(SHIFTS[0].into())
}

/// A second table, built apart, must have the first one's percentiles; halves that are alike must have the same.
fn controls(cell: &Cell) -> Vec<Check> {
    let [before, after] = HALVES.map(Some);
    let apart = control(cell, ((CONTROL, None), (TABLE, None)), "control:tail-built-apart".into());
    let alike = is_calm(cell).then(|| control(cell, ((TABLE, after), (TABLE, before)), ALIKE.into()));
    [Some(apart), alike].into_iter().flatten().collect()
}

fn control(cell: &Cell, places: (tail::Place, tail::Place), name: String) -> Check {
    let p99 = |percentiles: &Percentiles| percentiles.p99;
    let Some(read) = tail::difference(cell, places, p99, name.clone(), String::new()) else {
        return Check::not_applicable(name, "packets weren't timed one by one, or too few of them");
    };
    let table = cell.arm(TABLE).and_then(|arm| arm.tail.as_ref()).expect("a difference needs it");
    let margin = (CONTROL_SHARE * table.whole.all.percentiles.p99).max(2.0 * table.tick_ns);
    reads_zero(name, (read.value, read.low, read.high), margin)
}

fn reads_zero(name: String, (value, low, high): (f64, f64, f64), margin: f64) -> Check {
    let detail = format!("p99 {value:+.1} ns ({low:+.1}…{high:+.1}), margin ±{margin:.1} ns");
    if low > margin || high < -margin {
        return Check::new(name, false, format!("doesn't read zero: {detail}"));
    }
    if low < -margin || high > margin {
        return Check::not_applicable(name, format!("too wide to read zero: {detail}"));
    }
    Check::new(name, true, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_probes_than_the_bound_are_noticed() {
        assert_eq!(bounded(&[("scan", 100, 100), ("table", 3, 5)]).outcome, Outcome::Held);
        let broken = bounded(&[("scan", 100, 100), ("table", 6, 5)]);
        assert_eq!(broken.outcome, Outcome::Failed);
        assert!(broken.detail.contains("table 6 of at most 5"));
    }

    #[test]
    fn a_control_that_is_off_fails_and_a_wide_one_says_nothing() {
        let outcome = |interval, margin| reads_zero("control:x".into(), interval, margin).outcome;
        assert_eq!(outcome((0.0, -10.0, 10.0), 20.0), Outcome::Held);
        assert_eq!(outcome((40.0, 30.0, 50.0), 20.0), Outcome::Failed);
        assert_eq!(outcome((-40.0, -50.0, -30.0), 20.0), Outcome::Failed);
        assert_eq!(outcome((0.0, -30.0, 10.0), 20.0), Outcome::NotApplicable);
        assert_eq!(outcome((0.0, f64::NEG_INFINITY, f64::INFINITY), 20.0), Outcome::NotApplicable);
        assert!(reads_zero("control:x".into(), (40.0, 30.0, 50.0), 20.0).is_about_measuring());
    }
}
