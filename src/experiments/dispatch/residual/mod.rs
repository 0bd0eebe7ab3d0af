//! `dispatch.residual`: where a table stops paying, as more and more predicates don't factor into a key.

mod crossing;

use std::sync::Arc;
use std::time::Duration;

use crossing::{Crossing, crossing};

use super::traffic::{self, Workload};
use crate::Result;
use crate::dispatch::expected::expected_probes;
use crate::dispatch::scheme::LONGEST_LIST;
use crate::dispatch::{
    HandlerSet, ScanReference, SelectionArm, SelectionRecipe, audit, ceiling, input_audit, order,
};
use crate::machine::Card;
use crate::race::statistics::Interval;
use crate::race::{
    ArmInfo, Cell, Check, Entry, Experiment, Fact, Kind, Origin, Parameter, Plan, Probes, Role, Source,
    Status, Unit, Value, Values, Watch, contrast,
};

/// The experiment.
pub struct ResidualCost;

const ARMS: [SelectionArm; 3] =
    [SelectionArm::ScanOrdered, SelectionArm::ScanKeys, SelectionArm::TableCompact];
const TABLE: &str = "table_compact";
/// What the table is held against.
const RIVALS: [(&str, &str); 2] = [("scan_ordered", "the sorted scan"), ("scan_keys", "the scan of keys")];
/// Differences of tens of nanoseconds are looked for: short races will do.
const PATIENCE: usize = 1;
const BLOCK: Duration = Duration::from_millis(4);

impl Experiment for ResidualCost {
    fn id(&self) -> &'static str {
        "dispatch.residual"
    }

    fn title(&self) -> &'static str {
        "Where a table stops paying as predicates don't factor"
    }

    fn about(&self) -> &'static str {
        "A table finds a key's handlers in one step; what else they test is left to a list behind the key. How long may \
         that list be, and how many handlers may need it, before the table is no better than the loop it replaced? A \
         share of the handlers is residual; they share keys by `list_length` at the most (fewer where there aren't as \
         many), and a key's handlers cut the values of one payload byte into ranges, so that exactly one of them \
         matches whatever the length. The table is held against the brief's loop over handlers sorted by how often \
         they run, and against a scan of an array of keys. Where the table stops being cheaper is given as a bracket \
         between measured shares; beside it stands the same in probes, by enumeration, which needs no clock. Control: \
         a second table, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let shares = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0].map(Value::Float).to_vec();
        let lengths = [2, 4, 16, 100].map(Value::Int).to_vec();
        let laws = traffic::LAWS.to_vec();
        let mut parameters = vec![
            Parameter::new(
                "residual_share",
                Kind::Float { low: 0.0, high: 1.0 },
                Value::Float(0.1),
                "share of handlers that test more than their key",
            )
            .series(shares),
            Parameter::new(
                "list_length",
                Kind::Int { low: 1, high: LONGEST_LIST as i64 },
                Value::Int(4),
                "most handlers that share a key",
            )
            .unit("handlers")
            .series(lengths),
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
            Parameter::new(
                "traffic",
                Kind::Choice { choices: laws },
                Value::Text("zipf".into()),
                "law that draws the packets",
            ),
        ];
        let elsewhere = |parameter: &Parameter| !["residual_share", "key"].contains(&parameter.name);
        parameters.extend(traffic::parameters(card).into_iter().filter(elsewhere));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let control = ArmInfo { name: "table_compact_again", help: "control: the same arm, built apart" };
        ARMS.map(|arm| ArmInfo { name: arm.name(), help: arm.help() }).into_iter().chain([control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let body = traffic::body(values.text("body"));
        let handlers = values.size("handlers");
        let (share, length) = (values.float("residual_share"), values.size("list_length"));
        let set = HandlerSet::with_lists(handlers, body, share, length, seed)?;
        let law = traffic::law(values.text("traffic"), values, handlers).expect("a declared choice");
        let mut workload = traffic::over(set, law, values, seed, seed, watch)?;
        workload.checks = audit::checks(&[&workload.set], &workload.packets, card, watch)?;
        workload.checks.push(exclusive_check(&workload.set));
        workload.checks.push(input_audit::length_check(&workload.set, &workload.packets, None, watch)?);
        let entries = entries(&workload, watch)?;
        let plan = Plan::new(Source::from_items(workload.packets), entries);
        Ok(Plan { checks: workload.checks, patience: Some(PATIENCE), block: Some(BLOCK), ..plan })
    }

    fn facts(&self, cells: &[Cell], _card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        let mut lengths: Vec<i64> = cells.iter().filter_map(length_of).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let each = lengths.iter().flat_map(|&length| {
            RIVALS
                .into_iter()
                .flat_map(move |rival| [measured(cells, length, rival), computed(cells, length, rival)])
        });
        Ok(each.flatten().collect())
    }
}

fn entries(workload: &Workload, watch: &Watch) -> Result<Vec<Entry>> {
    let set = &workload.set;
    let sorted = order::frequency_order(set, &workload.packets, watch)?;
    let resorted = set.reordered(&sorted)?;
    let reference = Arc::new(ScanReference::new(set));
    let mut entries = Vec::new();
    for arm in ARMS {
        let recipe = match arm {
            SelectionArm::ScanOrdered => SelectionRecipe::scan_ordered(set, sorted.clone())?,
            _ => SelectionRecipe::new(arm, set, None)?,
        };
        let searched = if arm == SelectionArm::ScanOrdered { &resorted } else { set };
        let expected = match &workload.weights {
            Some(weights) => expected_probes(arm, searched, weights, workload.unmatched)?,
            None => None,
        };
        let probes = Some(Probes::of(recipe.pass(&workload.packets, watch)?.probes, expected));
        let ceiling = Some(ceiling::selection(arm, probes.as_ref()));
        let role = if arm == SelectionArm::ScanOrdered { Role::Baseline } else { Role::Arm };
        let entry = Entry::new(arm.name(), role, Arc::new(recipe), reference.clone(), "dispatch");
        entries.push(Entry { probes, ceiling, ..entry });
    }
    let again = Arc::new(SelectionRecipe::new(SelectionArm::TableCompact, set, None)?);
    let control = Role::Control { against: TABLE.into() };
    let ceiling = Some(ceiling::fold());
    entries
        .push(Entry { ceiling, ..Entry::new("table_compact_again", control, again, reference, "dispatch") });
    Ok(entries)
}

/// Sorting a list whose predicates overlap would change who runs: then the arms wouldn't do the same work.
fn exclusive_check(set: &HandlerSet) -> Check {
    let overlaps = set.overlaps();
    let residual = set.residual_count();
    let detail = match overlaps.first() {
        None => format!("no two of {} handlers ({residual} residual) match one packet", set.len()),
        Some((a, b)) => format!("{} pairs overlap, handlers {a} and {b} among them", overlaps.len()),
    };
    Check::new("predicates-exclusive", overlaps.is_empty(), detail)
}

fn length_of(cell: &Cell) -> Option<i64> {
    match cell.parameters["list_length"] {
        Value::Int(length) => Some(length),
        _ => None,
    }
}

/// The cells of one list length whose `advantage` is known, by share.
fn points(
    cells: &[Cell],
    length: i64,
    advantage: impl Fn(&Cell) -> Option<Interval>,
) -> Vec<(f64, Interval)> {
    let share = |cell: &Cell| match cell.parameters["residual_share"] {
        Value::Float(share) => Some(share),
        _ => None,
    };
    let of_length = cells.iter().filter(|cell| length_of(cell) == Some(length));
    let mut points: Vec<(f64, Interval)> =
        of_length.filter_map(|cell| Some((share(cell)?, advantage(cell)?))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Where the clock says that the table stops being cheaper; races without a verdict are left out, which widens the
/// bracket.
fn measured(cells: &[Cell], length: i64, (rival, spoken): (&str, &str)) -> Option<Fact> {
    let advantage = |cell: &Cell| {
        let difference = contrast::over_blocks(&[(1.0, cell, rival), (-1.0, cell, TABLE)])?;
        (cell.status == Status::Held).then(|| beyond(difference, cell))
    };
    let of_length = cells.iter().filter(|cell| length_of(cell) == Some(length)).count();
    let points = points(cells, length, advantage);
    let left_out = match of_length - points.len() {
        0 => String::new(),
        count => format!("; {count} of {of_length} races without a verdict are left out"),
    };
    let found = crossing(&points);
    let text = format!(
        "lists of up to {length}, the table against {spoken}, measured: {}{left_out}",
        found.spoken("residual share")
    );
    Some(fact(format!("crossing:{rival}:{length}"), text, found))
}

/// An advantage that is told from nothing only beyond the margin that verdicts have, as a share of the table's cost.
fn beyond(advantage: Interval, cell: &Cell) -> Interval {
    let margin = cell.resolvable_margin * cell.arm(TABLE).map_or(0.0, |table| table.median);
    Interval { low: advantage.low - margin, high: advantage.high + margin, ..advantage }
}

/// Where it stops needing fewer probes, by enumeration. The probes of a scan of keys are comparisons, not calls: no
/// measure of what they cost, so there is no such line for it.
fn computed(cells: &[Cell], length: i64, (rival, spoken): (&str, &str)) -> Option<Fact> {
    if rival == "scan_keys" {
        return None;
    }
    let expected = |cell: &Cell, arm: &str| cell.arm(arm)?.probes.as_ref()?.expected;
    let advantage = |cell: &Cell| {
        let exact = expected(cell, rival)? - expected(cell, TABLE)?;
        Some(Interval { estimate: exact, low: exact, high: exact })
    };
    let points = points(cells, length, advantage);
    if points.is_empty() {
        return None;
    }
    let found = crossing(&points);
    let text = format!(
        "lists of up to {length}, the table against {spoken}, in expected probes: {}",
        found.spoken("residual share")
    );
    Some(fact(format!("crossing-probes:{rival}:{length}"), text, found))
}

fn fact(name: String, text: String, found: Crossing) -> Fact {
    Fact { name, text, value: found.estimate(), unit: "residual share".into(), origin: Origin::Computed }
}

#[cfg(test)]
mod tests;
