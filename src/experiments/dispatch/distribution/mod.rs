//! `dispatch.distribution`: who is busy, and where in the list they stand.

mod captured;
mod findings;
mod permutations;
mod weights_file;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use permutations::{SELECTIONS, rigged};

use super::traffic::{self, Workload};
use crate::Result;
use crate::dispatch::expected::expected_probes;
use crate::dispatch::{
    HandlerSet, ScanReference, SelectionArm, SelectionRecipe, audit, ceiling, input_audit, order,
};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Outcome, Parameter, Plan, Probes, Role,
    Source, Unit, Value, Values, Watch,
};
use crate::traffic::{Law, Traffic};

/// The experiment.
pub struct Distribution;

/// Arms of a race over one of many permutations.
const SORTING: [SelectionArm; 3] =
    [SelectionArm::Scan, SelectionArm::ScanOrdered, SelectionArm::TableCompact];
/// Arms that a race of all is checked with.
const CONTROLS: [(SelectionArm, &str); 2] =
    [(SelectionArm::Scan, "scan_again"), (SelectionArm::TableCompact, "table_compact_again")];
/// Hundreds of nanoseconds are compared here, in many races: short ones will do.
const PATIENCE: usize = 1;
const BLOCK: Duration = Duration::from_millis(2);
const MIN_REP: Duration = Duration::from_micros(25);
/// As many races as fit into one run beside the others.
const MOST_PERMUTATIONS: i64 = 60;

impl Experiment for Distribution {
    fn id(&self) -> &'static str {
        "dispatch.distribution"
    }

    fn title(&self) -> &'static str {
        "What the traffic's distribution makes of each way of finding"
    }

    fn about(&self) -> &'static str {
        "Real traffic isn't uniform, and a list can be sorted by it: how much of what a table wins does that one line \
         capture? That depends on where in the list the busy handlers happen to stand, so a single shuffle answers \
         nothing. Each traffic is raced with all selection arms once; where the place of the busy handlers matters, \
         the scan, the sorted scan and the table are raced again for each of many permutations, and the share \
         (scan − sorted) / (scan − table) is given for each, with its median and range, measured and in probes. \
         Traffic may be a capture, or a file (.csv, .txt) of one weight a handler. The `_rigged` traffics leave ranks \
         in the list as they are: the busiest handler stands first, sorting has nothing left to do, and the figures \
         look sound; the audit of the list says what is wrong, and has to. Controls: a second scan and a second table, \
         built apart; and the share of the first permutation once beside all arms, once beside two."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let word = |word: &str| Value::Text(word.into());
        let choices = [&traffic::LAWS[..], &["zipf_rigged", "skewed_rigged"]].concat();
        let laws = ["uniform", "zipf", "skewed", "worst", "skewed_rigged"].map(word).to_vec();
        let mut parameters = vec![
            Parameter::new(
                "traffic",
                Kind::ChoiceOrFile { choices },
                word("skewed"),
                "law that draws the packets, a capture's path, or the path of a file of weights (.csv, .txt)",
            )
            .series(laws),
            Parameter::new(
                "permutations",
                Kind::Int { low: 1, high: MOST_PERMUTATIONS },
                Value::Int(16),
                "how many assignments of ranks to handlers are raced, where that matters",
            ),
            Parameter::new(
                "permutation",
                Kind::Int { low: 0, high: i64::from(u32::MAX) },
                Value::Int(0),
                "number of the first of them",
            ),
            Parameter::new(
                "selections",
                Kind::Choice { choices: SELECTIONS.to_vec() },
                word(SELECTIONS[0]),
                "all arms once and three for each permutation, or only the latter",
            ),
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered",
            ),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                word("fat"),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            ),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let arms = SelectionArm::ALL.map(|arm| ArmInfo { name: arm.name(), help: arm.help() });
        let controls = CONTROLS.map(|(_, name)| ArmInfo { name, help: "control: the same arm, built apart" });
        arms.into_iter().chain(controls).collect()
    }

    fn cells(&self, grid: Vec<Values>) -> Vec<Values> {
        permutations::cells(grid)
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let (_, is_rigged) = rigged(values.text("traffic"));
        let mut workload = workload(values, seed, watch)?;
        workload.checks.extend(audit::checks(&[&workload.set], &workload.packets, card, watch)?);
        workload.checks.push(input_audit::length_check(&workload.set, &workload.packets, None, watch)?);
        if is_rigged {
            expect_the_flag(&mut workload.checks);
        }
        let all = values.text("selections") == SELECTIONS[0];
        let entries = entries(&workload, all, watch)?;
        Ok(Plan {
            checks: workload.checks,
            min_rep: Some(MIN_REP),
            patience: Some(PATIENCE),
            block: Some(BLOCK),
            ..Plan::new(Source::from_items(workload.packets), entries)
        })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        findings::contrasts(cells)
    }

    fn judge(&self, cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        findings::judge(cells)
    }

    fn facts(&self, cells: &[Cell], _card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        Ok(findings::facts(cells))
    }
}

fn workload(values: &Values, seed: u64, watch: &Watch) -> Result<Workload> {
    let (traffic, is_rigged) = rigged(values.text("traffic"));
    let body = traffic::body(values.text("body"));
    let handlers = values.size("handlers");
    let permuted = permutations::seed(seed, values.size("permutation"));
    let standard = || HandlerSet::standard(handlers, body, values.float("residual_share"), seed);
    if let Some(law) = traffic::law(traffic, values, handlers) {
        let mut values = values.clone();
        if is_rigged {
            values.0.insert("shuffle".into(), Value::Flag(false));
        }
        return traffic::over(standard()?, law, &values, seed, permuted, watch);
    }
    let path = Path::new(values.text("traffic"));
    if weights_file::is_one(path) {
        let law = Law::Weights(weights_file::read(path)?);
        // Refused here if they aren't one a handler.
        let weights = law.weights(handlers)?;
        let law = if values.flag("shuffle") { shuffled(&weights, permuted) } else { law };
        return traffic::over(standard()?, law, values, seed, permuted, watch);
    }
    traffic::captured(path, values, body, handlers, permuted, watch)
}

/// Weights given to the handlers by a drawn permutation: who gets which says where in the list the busy ones stand.
fn shuffled(weights: &[f64], seed: u64) -> Law {
    let permutation = Traffic::new(Law::Uniform).permutation_seed(seed).permutation(weights.len());
    let mut by_handler = vec![0.0; weights.len()];
    for (rank, handler) in permutation.into_iter().enumerate() {
        by_handler[handler] = weights[rank];
    }
    Law::Weights(by_handler)
}

/// On rigged traffic the audit of the list is what is under test: it fails, or the trap goes unseen.
fn expect_the_flag(checks: &mut [Check]) {
    for check in checks.iter_mut().filter(|check| check.name == "list-not-sorted-beforehand") {
        check.name = "rigged-list-is-flagged".into();
        check.detail = format!("list-not-sorted-beforehand says: {}", check.detail);
        check.outcome = match check.outcome {
            Outcome::Failed | Outcome::Fired => Outcome::Held,
            Outcome::Held => Outcome::Failed,
            Outcome::NotApplicable => Outcome::NotApplicable,
        };
    }
}

fn entries(workload: &Workload, all: bool, watch: &Watch) -> Result<Vec<Entry>> {
    let set = &workload.set;
    let sorted = order::frequency_order(set, &workload.packets, watch)?;
    let resorted = set.reordered(&sorted)?;
    let reference = Arc::new(ScanReference::new(set));
    let arms: &[SelectionArm] = if all { &SelectionArm::ALL } else { &SORTING };
    let mut entries = Vec::new();
    for &arm in arms {
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
        let role = if arm == SelectionArm::Scan { Role::Baseline } else { Role::Arm };
        let entry = Entry::new(arm.name(), role, Arc::new(recipe), reference.clone(), "dispatch");
        entries.push(Entry { probes, ceiling, ..entry });
    }
    for (arm, name) in CONTROLS.into_iter().filter(|_| all) {
        let recipe = Arc::new(SelectionRecipe::new(arm, set, None)?);
        let control = Role::Control { against: arm.name().into() };
        let ceiling = Some(ceiling::fold());
        entries.push(Entry { ceiling, ..Entry::new(name, control, recipe, reference.clone(), "dispatch") });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;
