//! `dispatch.selection`: what finding the handler costs.

use std::sync::Arc;

use super::traffic;
use crate::Result;
use crate::dispatch::expected::expected_probes;
use crate::dispatch::{HandlerSet, ScanReference, SelectionArm, SelectionRecipe, ceiling, order};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Companion, Contrast, Entry, Experiment, Kind, Parameter, Plan, Probes, Role, Source, Unit,
    Value, Values, Watch, contrast,
};

/// The experiment.
pub struct SelectionCost;

/// Arms that are raced against a second instance of themselves: the dearest and the cheapest kind.
const CONTROLS: [(SelectionArm, &str); 2] =
    [(SelectionArm::Scan, "scan_again"), (SelectionArm::TableCompact, "table_compact_again")];

impl Experiment for SelectionCost {
    fn id(&self) -> &'static str {
        "dispatch.selection"
    }

    fn title(&self) -> &'static str {
        "What finding one of n handlers costs"
    }

    fn about(&self) -> &'static str {
        "A profile blames dispatch. Is it the call, or the search before it? Every arm finds the packet's handler in \
         its own way and then calls it in the same way, through its vtable; all must fold the same results. Probes \
         are counted exactly in a pass of their own, beside their expectation by enumeration. Handler bodies are out \
         of line, so nothing can be inlined, merged or hoisted; the fold over every result keeps the loop alive. The \
         same race with tiny bodies tells how much of a table's rise with n is the fetching of handler code. \
         Controls: a second scan and a second compact table, built apart, must read the same as the first."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let counts = [10, 25, 50, 100].map(Value::Int).to_vec();
        // Scans aren't listed: under skewed traffic their cost depends on where the permutation puts the busy ones.
        let monotonic = vec!["table_direct16", "table_compact"];
        let mut parameters = vec![
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered",
            )
            .series(counts)
            .monotonic(monotonic),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("fat".into()),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            )
            .series(vec![Value::Text("fat".into()), Value::Text("tiny".into())]),
            traffic::traffic("uniform"),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let arms = SelectionArm::ALL.map(|arm| ArmInfo { name: arm.name(), help: arm.help() });
        let controls = CONTROLS.map(|(_, name)| ArmInfo { name, help: "control: the same arm, built apart" });
        arms.into_iter().chain(controls).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let workload = traffic::workload(values, seed, card, watch)?;
        let set = &workload.set;
        let reference = Arc::new(ScanReference::new(set));
        let sorted = order::frequency_order(set, &workload.packets, watch)?;
        let resorted = set.reordered(&sorted)?;
        let arms = SelectionArm::ALL.into_iter().map(|arm| {
            let role = if arm == SelectionArm::Scan { Role::Baseline } else { Role::Arm };
            (arm, arm.name(), role)
        });
        let controls =
            CONTROLS.into_iter().map(|(arm, name)| (arm, name, Role::Control { against: arm.name().into() }));
        let mut entries = Vec::new();
        for (arm, name, role) in arms.chain(controls) {
            let recipe = match arm {
                SelectionArm::ScanOrdered => SelectionRecipe::scan_ordered(set, sorted.clone())?,
                _ => SelectionRecipe::new(arm, set, None)?,
            };
            let probes = match role {
                Role::Control { .. } => None,
                _ => {
                    // What the arm searches: the sorted list is a set of its own.
                    let searched = if arm == SelectionArm::ScanOrdered { &resorted } else { set };
                    Some(count_probes(&recipe, arm, searched, &workload, watch)?)
                }
            };
            let ceiling = Some(ceiling::selection(arm, probes.as_ref()));
            let entry = Entry::new(name, role, Arc::new(recipe), reference.clone(), "dispatch");
            entries.push(Entry { probes, ceiling, ..entry });
        }
        Ok(Plan { checks: workload.checks, ..Plan::new(Source::from_items(workload.packets), entries) })
    }

    fn companions(&self) -> Vec<Companion> {
        // The call alone: fat bodies add the fetching of their code.
        let tiny = vec![("body", vec![Value::Text("tiny".into())])];
        vec![Companion { experiment: "dispatch.mechanism", set: tiny }]
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        let mut contrasts: Vec<Contrast> = cells
            .iter()
            .filter_map(|cell| {
                let name = format!("finding:{}:{}", cell.parameters["body"], cell.parameters["handlers"]);
                let (handlers, body) = (&cell.parameters["handlers"], &cell.parameters["body"]);
                let what = format!("finding: scan − table, {handlers} handlers, {body}");
                contrast::linear(&[(1.0, cell, "scan"), (-1.0, cell, TABLE)], name, what)
            })
            .collect();
        let (fat, tiny) = (ends(cells, "fat"), ends(cells, "tiny"));
        for (body, ends) in [("fat", fat), ("tiny", tiny)] {
            contrasts.extend(ends.and_then(|(few, many)| {
                let (few_n, many_n) = (&few.parameters["handlers"], &many.parameters["handlers"]);
                let what = format!("table at {many_n} − at {few_n} handlers, {body}");
                contrast::linear(&[(1.0, many, TABLE), (-1.0, few, TABLE)], format!("rise:{body}"), what)
            }));
        }
        if let (Some((few_fat, many_fat)), Some((few_tiny, many_tiny))) = (fat, tiny) {
            let terms = [
                (1.0, many_fat, TABLE),
                (-1.0, few_fat, TABLE),
                (-1.0, many_tiny, TABLE),
                (1.0, few_tiny, TABLE),
            ];
            let what = "fetching code: the rise, fat − tiny";
            contrasts.extend(contrast::linear(&terms, "fetching".into(), what.into()));
        }
        contrasts
    }
}

const TABLE: &str = "table_compact";

/// The cells with the fewest and the most handlers among those with that body.
fn ends<'a>(cells: &'a [Cell], body: &str) -> Option<(&'a Cell, &'a Cell)> {
    let handlers = |cell: &Cell| match cell.parameters["handlers"] {
        Value::Int(handlers) => handlers,
        _ => 0,
    };
    let of_body = || cells.iter().filter(|cell| cell.parameters["body"] == Value::Text(body.into()));
    let (few, many) =
        (of_body().min_by_key(|cell| handlers(cell))?, of_body().max_by_key(|cell| handlers(cell))?);
    (handlers(few) < handlers(many)).then_some((few, many))
}

fn count_probes(
    recipe: &SelectionRecipe,
    arm: SelectionArm,
    searched: &HandlerSet,
    workload: &traffic::Workload,
    watch: &Watch,
) -> Result<Probes> {
    let pass = recipe.pass(&workload.packets, watch)?;
    let expected = match &workload.weights {
        Some(weights) => expected_probes(arm, searched, weights, workload.unmatched)?,
        None => None,
    };
    Ok(Probes::of(pass.probes, expected))
}
