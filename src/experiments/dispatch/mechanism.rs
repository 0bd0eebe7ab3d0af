//! `dispatch.mechanism`: what calling the handler costs once it is found.

use std::sync::Arc;

use super::traffic;
use crate::Result;
use crate::dispatch::{DirectReference, MechanismArm, MechanismRecipe, ScanReference, ceiling};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Contrast, Entry, Experiment, Kind, Parameter, Plan, Reference, Role, Source, Unit, Value,
    Values, Watch, contrast,
};

/// The experiment.
pub struct MechanismCost;

impl Experiment for MechanismCost {
    fn id(&self) -> &'static str {
        "dispatch.mechanism"
    }

    fn title(&self) -> &'static str {
        "What calling the handler costs once it is found"
    }

    fn about(&self) -> &'static str {
        "Behind one identical selection (the compact table, residual tests and unmatched packets handled alike), \
         `dyn_trait` calls the selected handler through its vtable and `direct` calls one fixed body of the same \
         size by a direct call. With `hot` traffic the indirect call's target never changes; with traffic over all \
         handlers it does, and the difference is the cost of the mechanism with its mispredicted targets. Bodies are \
         tiny by default, so that the handlers' code fits the instruction cache. `direct` computes something else \
         than `dyn_trait` (always handler 0's value) and is held to a reference of its own. Control: a second direct \
         arm, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let laws = ["hot", "uniform"].map(|law| Value::Text(law.into())).to_vec();
        let mut parameters = vec![
            traffic::traffic("uniform").series(laws),
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered",
            ),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("tiny".into()),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            ),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let control = ArmInfo { name: "direct_again", help: "control: the direct arm, built apart" };
        let arms = MechanismArm::ALL.map(|arm| ArmInfo { name: arm.name(), help: arm.help() });
        arms.into_iter().chain([control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let workload = traffic::workload(values, seed, card, watch)?;
        let selected: Arc<dyn Reference> = Arc::new(ScanReference::new(&workload.set));
        let fixed: Arc<dyn Reference> = Arc::new(DirectReference::new(&workload.set));
        let arms = MechanismArm::ALL.into_iter().map(|arm| {
            let role = if arm == MechanismArm::Direct { Role::Baseline } else { Role::Arm };
            (arm, arm.name(), role)
        });
        let control = (MechanismArm::Direct, "direct_again", Role::Control { against: "direct".into() });
        let mut entries = Vec::new();
        for (arm, name, role) in arms.chain([control]) {
            let (reference, claim) = match arm {
                MechanismArm::Direct => (Arc::clone(&fixed), "fixed body"),
                _ => (Arc::clone(&selected), "dispatch"),
            };
            let recipe = Arc::new(MechanismRecipe::new(arm, &workload.set)?);
            let ceiling = Some(ceiling::fold());
            entries.push(Entry { ceiling, ..Entry::new(name, role, recipe, reference, claim) });
        }
        Ok(Plan { checks: workload.checks, ..Plan::new(Source::from_items(workload.packets), entries) })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        cells
            .iter()
            .filter_map(|cell| {
                let law = &cell.parameters["traffic"];
                let what = format!("calling: dyn − direct, {law} traffic");
                contrast::linear(
                    &[(1.0, cell, "dyn_trait"), (-1.0, cell, "direct")],
                    format!("calling:{law}"),
                    what,
                )
            })
            .collect()
    }
}
