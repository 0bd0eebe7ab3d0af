//! `dispatch.select`: finding alone, behind one call that anybody's library can stand behind too.

use std::path::Path;
use std::sync::Arc;

use super::traffic;
use crate::Result;
use crate::dispatch::{SelectionArm, ceiling};
use crate::machine::Card;
use crate::plugin::arm::{SelectRecipe, SelectReference};
use crate::race::{
    ArmInfo, Entry, Experiment, Kind, Parameter, Plan, Role, Source, Unit, Value, Values, Watch,
};

/// The experiment.
pub struct SelectionAlone;

const LIBRARY: &str = "library";
const AGAIN: &str = "table_compact_again";
const NO_LIBRARY: &str = "none";

impl Experiment for SelectionAlone {
    fn id(&self) -> &'static str {
        "dispatch.select"
    }

    fn title(&self) -> &'static str {
        "What finding the handler costs, with nobody called"
    }

    fn about(&self) -> &'static str {
        "Every arm is asked the same way, by one call through a pointer for 256 packets: which handler, by its place in the \
         list, runs each of them? No body runs, so that what is measured is search and prediction of the search alone, \
         and a library of your own, in any language, can stand behind the same call (library=./libmine.so, made with \
         nanokata_arm.h). Built-in arms read the place from the object that they found; each arm exists in one code \
         layout. Control: a second compact table, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let mut parameters = vec![
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered",
            ),
            Parameter::new(
                "library",
                Kind::ChoiceOrFile { choices: vec![NO_LIBRARY] },
                Value::Text(NO_LIBRARY.into()),
                "none, or the path of a library that exports nanokata_select",
            ),
            traffic::traffic("uniform"),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let arms = SelectionArm::ALL.map(|arm| ArmInfo { name: arm.name(), help: arm.help() });
        let others = [
            ArmInfo { name: AGAIN, help: "control: the same arm, built apart" },
            ArmInfo { name: LIBRARY, help: "the given library's selection" },
        ];
        arms.into_iter().chain(others).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        // No body runs.
        let mut values = values.clone();
        values.0.insert("body".into(), Value::Text("tiny".into()));
        let workload = traffic::workload(&values, seed, card, watch)?;
        let set = &workload.set;
        let reference = Arc::new(SelectReference::new(set));
        let entry = |name: &str, role: Role, recipe: SelectRecipe| -> Result<Entry> {
            let recipe = Arc::new(recipe.settled_for(&workload.packets, watch)?);
            let entry = Entry::new(name, role, recipe, reference.clone(), "selection alone");
            Ok(Entry { ceiling: Some(ceiling::fold()), ..entry })
        };
        let mut entries = Vec::new();
        for arm in SelectionArm::ALL {
            let role = if arm == SelectionArm::Scan { Role::Baseline } else { Role::Arm };
            entries.push(entry(arm.name(), role, SelectRecipe::built_in(arm, set)?)?);
        }
        let again = SelectRecipe::built_in(SelectionArm::TableCompact, set)?;
        let against = SelectionArm::TableCompact.name().into();
        entries.push(entry(AGAIN, Role::Control { against }, again)?);
        if values.text("library") != NO_LIBRARY {
            // SAFETY: whoever names a library to be raced vouches for it.
            let mine = unsafe { SelectRecipe::load(Path::new(values.text("library")), set) }?;
            entries.push(entry(LIBRARY, Role::Arm, mine)?);
        }
        Ok(Plan { checks: workload.checks, ..Plan::new(Source::from_items(workload.packets), entries) })
    }
}
