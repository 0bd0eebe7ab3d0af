//! `dispatch.proposals`: does making the calls cheaper touch the cost of the search?

use std::sync::Arc;

use super::headline::headline;
use super::mechanism::ABSENT;
use super::{code_facts, traffic};
use crate::Result;
use crate::dispatch::expected::expected_probes;
use crate::dispatch::{ProposalArm, ProposalRecipe, ScanReference, SelectionArm, SelectionRecipe, ceiling};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Parameter, Plan, Probes, Recipe, Role,
    Source, Unit, Value, Values, Watch, contrast,
};

/// The experiment.
pub struct ProposalsCost;

const SCAN: &str = "scan";
const TABLE: &str = "table_compact";
const CONTROL: &str = "scan_again";

impl Experiment for ProposalsCost {
    fn id(&self) -> &'static str {
        "dispatch.proposals"
    }

    fn title(&self) -> &'static str {
        "What cheaper calls make of the brief's own loop"
    }

    fn about(&self) -> &'static str {
        "The brief proposes to keep its loop (ask each handler in registration order) and to make the calls in it \
         cheaper. Here both calls, `matches` and `process`, go through each mechanism: `scan` through Rust's trait \
         object, `scan_erased` through functions beside the object, `scan_enum` through jump tables over a closed \
         sum whose variants lie by value one after another, `scan_static` by a loop that is written out over known \
         types. Two arms say what a compiler makes of it where it may: `scan_enum_inlined` lets it merge the \
         variants' `matches`, `scan_static_keys` gives it the keys as constants too. `table_compact` replaces the \
         search instead. All ask in the same order, call the same bodies and fold the same results. The question is \
         how much of what the table gains each proposal gains: whatever comes out is what is said. Control: a second \
         scan, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let counts = [10, 25, 50, 100].map(Value::Int).to_vec();
        let mut parameters = vec![
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered",
            )
            .series(counts)
            .monotonic(vec![TABLE]),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("fat".into()),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            ),
            traffic::traffic("uniform"),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let scan = ArmInfo { name: SCAN, help: SelectionArm::Scan.help() };
        let proposals = ProposalArm::ALL.map(|arm| ArmInfo { name: arm.name(), help: arm.help() });
        let table = ArmInfo { name: TABLE, help: SelectionArm::TableCompact.help() };
        let control = ArmInfo { name: CONTROL, help: "control: the same scan, built apart" };
        [scan].into_iter().chain(proposals).chain([table, control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let workload = traffic::workload(values, seed, card, watch)?;
        let set = &workload.set;
        let reference = Arc::new(ScanReference::new(set));
        let entry = |name: &str, role, recipe: Arc<dyn Recipe>| {
            Entry::new(name, role, recipe, reference.clone(), "dispatch")
        };
        let probed = |arm, recipe: &SelectionRecipe| -> Result<Probes> {
            let pass = recipe.pass(&workload.packets, watch)?;
            let expected = match &workload.weights {
                Some(weights) => expected_probes(arm, set, weights, workload.unmatched)?,
                None => None,
            };
            Ok(Probes::of(pass.probes, expected))
        };
        let scan = SelectionRecipe::new(SelectionArm::Scan, set, None)?;
        let asked = probed(SelectionArm::Scan, &scan)?;
        let calling = ceiling::selection(SelectionArm::Scan, Some(&asked));
        let scan: Arc<dyn Recipe> = Arc::new(scan);
        let selected =
            |entry: Entry| Entry { probes: Some(asked.clone()), ceiling: Some(calling.clone()), ..entry };
        let mut entries = vec![selected(entry(SCAN, Role::Baseline, scan.clone()))];
        let mut checks = workload.checks;
        for arm in ProposalArm::ALL {
            if let Some(reason) = arm.refuses(set) {
                checks.push(Check::not_applicable(format!("{ABSENT}:{arm}"), reason));
                continue;
            }
            // The same handlers are asked in the same order, so probes are the scan's; calls may be gone, so not its
            // ceiling.
            let found = entry(arm.name(), Role::Arm, Arc::new(ProposalRecipe::new(arm, set)?));
            let ceiling = Some(if arm == ProposalArm::Erased { calling.clone() } else { ceiling::fold() });
            entries.push(Entry { ceiling, excludes: arm.excludes(), probes: Some(asked.clone()), ..found });
        }
        let table = SelectionRecipe::new(SelectionArm::TableCompact, set, None)?;
        let looked_up = probed(SelectionArm::TableCompact, &table)?;
        let ceiling = Some(ceiling::selection(SelectionArm::TableCompact, Some(&looked_up)));
        entries.push(Entry { probes: Some(looked_up), ceiling, ..entry(TABLE, Role::Arm, Arc::new(table)) });
        let again = entry(CONTROL, Role::Control { against: SCAN.into() }, scan);
        entries.push(Entry { ceiling: Some(calling), ..again });
        Ok(Plan { checks, ..Plan::new(Source::from_items(workload.packets), entries) })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        let gain = |cell, arm: &str| {
            let handlers = handlers(cell);
            let terms = [(1.0, cell, SCAN), (-1.0, cell, arm)];
            let what = format!("gained over the scan by {arm}, {handlers} handlers");
            contrast::linear(&terms, format!("gain:{arm}:{handlers}"), what)
        };
        let arms = || ProposalArm::ALL.into_iter().map(ProposalArm::name).chain([TABLE]);
        cells.iter().flat_map(|cell| arms().filter_map(move |arm| gain(cell, arm))).collect()
    }

    fn facts(&self, cells: &[Cell], _card: &Card, watch: &Watch) -> Result<Vec<Fact>> {
        let mut facts: Vec<Fact> = cells.iter().filter_map(headline).collect();
        facts.extend(code_facts::of_proposals(cells, watch)?);
        facts.extend(code_facts::absent(cells));
        Ok(facts)
    }
}

fn handlers(cell: &Cell) -> String {
    cell.parameters["handlers"].to_string()
}
