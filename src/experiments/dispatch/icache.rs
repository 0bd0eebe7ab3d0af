//! `dispatch.icache`: what a benchmark with one handler doesn't see: many targets, and more code than fits.

use std::sync::Arc;

use super::factorial::Factorial;
use super::{control, icache_facts, traffic};
use crate::Result;
use crate::dispatch::{DirectReference, MechanismArm, MechanismRecipe, ScanReference, ceiling};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Companion, Contrast, Entry, Experiment, Fact, Kind, Parameter, Plan, Reference,
    Role, Source, Unit, Value, Values, Watch,
};

/// The experiment.
pub struct InstructionCache;

impl Experiment for InstructionCache {
    fn id(&self) -> &'static str {
        "dispatch.icache"
    }

    fn title(&self) -> &'static str {
        "What the instruction cache and the call's target cost in the real dispatch"
    }

    fn about(&self) -> &'static str {
        "A benchmark with one handler measures a call whose target is always guessed right and whose code is always \
         in the cache. Real traffic changes both at once. Here they are two factors: targets (`hot`: one handler; \
         `periodic`: all in turn; `uniform`, `zipf`: all, at random) and code (tiny bodies, which fit the L1 \
         instruction cache together; fat ones, which don't). `dyn_trait` selects by the compact table and calls \
         through the vtable; `direct` does the same selection and calls one fixed body: it has neither cause, so \
         from hot to mixed traffic it must read zero. The gap of tiny bodies is the cost of targets; how much larger \
         the gap of fat ones is, is the interaction: what fetching code adds once targets vary. That is fetching \
         after a wrong guess, which also fetches the wrong body. Predictable targets with code beyond the cache \
         would be fetching alone: `periodic` is that, but only on a machine whose predictor learns the order, which \
         the tiny cells tell. The two causes each by itself run beside this as `dispatch.fetch` and \
         `dispatch.targets`. No handler tests more than its key unless asked: such tests would be a third cause. \
         Control: the dyn arm, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let laws = ["hot", "periodic", "uniform", "zipf"].map(|law| Value::Text(law.into())).to_vec();
        let kinds = ["fat", "tiny"].map(|body| Value::Text(body.into())).to_vec();
        let mut parameters = vec![
            traffic::traffic("hot").series(laws),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("fat".into()),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            )
            .series(kinds),
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered; `periodic` takes all of them in turn",
            ),
        ];
        // All handlers take turns: a shorter period would be another footprint.
        let shared = traffic::parameters(card).into_iter().filter(|parameter| parameter.name != "period");
        parameters.extend(shared.map(|parameter| match parameter.name {
            "residual_share" => Parameter { default: vec![Value::Float(0.0)], ..parameter },
            _ => parameter,
        }));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let control = ArmInfo { name: "dyn_trait_again", help: "control: the dyn arm, built apart" };
        let arms = [MechanismArm::Direct, MechanismArm::DynTrait];
        arms.map(|arm| ArmInfo { name: arm.name(), help: arm.help() }).into_iter().chain([control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let mut values = values.clone();
        values.0.insert("period".into(), Value::Int(values.int("handlers")));
        let workload = traffic::workload(&values, seed, card, watch)?;
        let selected: Arc<dyn Reference> = Arc::new(ScanReference::new(&workload.set));
        let fixed: Arc<dyn Reference> = Arc::new(DirectReference::new(&workload.set));
        let arms = [
            (MechanismArm::Direct, "direct", Role::Baseline, fixed, "fixed body"),
            (MechanismArm::DynTrait, "dyn_trait", Role::Arm, Arc::clone(&selected), "dispatch"),
            (
                MechanismArm::DynTrait,
                "dyn_trait_again",
                Role::Control { against: "dyn_trait".into() },
                selected,
                "dispatch",
            ),
        ];
        let mut entries = Vec::new();
        for (arm, name, role, reference, claim) in arms {
            let recipe = Arc::new(MechanismRecipe::new(arm, &workload.set)?);
            let entry = Entry::new(name, role, recipe, reference, claim);
            entries.push(Entry { ceiling: Some(ceiling::fold()), ..entry });
        }
        Ok(Plan { checks: workload.checks, ..Plan::new(Source::from_items(workload.packets), entries) })
    }

    fn companions(&self) -> Vec<Companion> {
        let set = |name, values: &[i64]| vec![(name, values.iter().copied().map(Value::Int).collect())];
        vec![
            Companion { experiment: "dispatch.fetch", set: set("bodies", &[1, 8, 15, 30, 120]) },
            Companion { experiment: "dispatch.targets", set: set("targets", &[1, 5, 20, 100]) },
        ]
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        Factorial::of(cells).contrasts()
    }

    fn judge(&self, cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        let judged = Factorial::of(cells).controls();
        for (body, law, check) in &judged {
            control::void(cells, check, |cell| {
                cell.parameters["body"].to_string() == *body && cell.parameters["traffic"].to_string() == *law
            });
        }
        judged.into_iter().map(|(_, _, check)| check).collect()
    }

    fn facts(&self, cells: &[Cell], card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        Ok(icache_facts::facts(cells, card))
    }
}
