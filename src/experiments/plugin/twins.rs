//! `plugin.twins`: an arm in Rust and its twin in C++, in one process, over the same packets.

use std::sync::{Arc, Mutex, PoisonError};

use crate::dispatch::{
    Body, HandlerSet, MechanismArm, MechanismRecipe, ScanReference, SelectionArm, SelectionRecipe, ceiling,
};
use crate::experiments::dispatch::traffic;
use crate::machine::Card;
use crate::plugin::arm::ArmRecipe;
use crate::plugin::building::{self, Language};
use crate::plugin::shipped;
use crate::race::{
    ArmInfo, Entry, Experiment, Kind, Parameter, Plan, Recipe, Role, Source, Unit, Value, Values, Watch,
};
use crate::{Error, Result};

/// The experiment.
pub struct Twins;

const RUST: &str = "rust";
const AGAIN: &str = "rust_again";
const CPP: &str = "cpp";
/// Handlers that the twins have code for.
const HANDLERS: i64 = 100;
const SYSTEM: &str = "system";

/// The twins: name of the source, and the arm in Rust.
const TWINS: [(&str, Rust); 5] = [
    ("virtual", Rust::Mechanism(MechanismArm::Thin)),
    ("erasure", Rust::Mechanism(MechanismArm::Erased)),
    ("variant", Rust::Mechanism(MechanismArm::EnumMatch)),
    ("scan", Rust::Selection(SelectionArm::Scan)),
    ("table_compact", Rust::Selection(SelectionArm::TableCompact)),
];

/// The arm in Rust that does the same.
#[derive(Clone, Copy)]
enum Rust {
    Mechanism(MechanismArm),
    Selection(SelectionArm),
}

impl Rust {
    fn recipe(self, set: &HandlerSet) -> Result<Arc<dyn Recipe>> {
        Ok(match self {
            Rust::Mechanism(arm) => Arc::new(MechanismRecipe::new(arm, set)?),
            Rust::Selection(arm) => Arc::new(SelectionRecipe::new(arm, set, None)?),
        })
    }
}

impl Experiment for Twins {
    fn id(&self) -> &'static str {
        "plugin.twins"
    }

    fn title(&self) -> &'static str {
        "The same way of dispatching, in Rust and in C++"
    }

    fn about(&self) -> &'static str {
        "Each twin is a whole arm in C++, compiled here by this machine's compiler at -O3 and joined through the C ABI of \
         arms: the same selection, the same layout of objects and slots, bodies that compute the same values in code of \
         their own, out of line on both sides, the same fold. `virtual` (a vtable's address in the object) is held \
         against Rust's `thin`, `erasure` against `erased`, `variant` (std::visit) against `enum_match`, `scan` and \
         `table_compact` against their namesakes, where Rust's list holds the vtable's address beside the object's and \
         C++'s holds the object's alone: one dependent load fewer for Rust, eight bytes more a handler. The arm in Rust \
         exists in eight code layouts, the twin in one: a difference has to exceed what layout alone did between the \
         copies of one loop (nanokata doctor). Control: the arm in Rust, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let names = TWINS.map(|(name, _)| name).to_vec();
        let mut parameters = vec![
            Parameter::new(
                "twin",
                Kind::Choice { choices: names.clone() },
                Value::Text(names[0].into()),
                "which way of dispatching",
            )
            .series(names.iter().map(|name| Value::Text((*name).into())).collect()),
            Parameter::new(
                "compiler",
                Kind::Choice { choices: vec![SYSTEM, "g++", "clang++"] },
                Value::Text(SYSTEM.into()),
                "what compiles the twin: the system's C++ compiler (CXX, c++, g++, clang++), or one by name",
            ),
            Parameter::new(
                "body",
                Kind::Choice { choices: vec!["tiny", "fat"] },
                Value::Text("tiny".into()),
                "code of a handler: fat (about 1.8 KiB) or tiny",
            ),
            Parameter::new(
                "handlers",
                Kind::Int { low: 1, high: HANDLERS },
                Value::Int(HANDLERS),
                "how many handlers are registered",
            ),
            traffic::traffic("uniform"),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: RUST, help: "the arm in Rust" },
            ArmInfo { name: CPP, help: "its twin in C++" },
            ArmInfo { name: AGAIN, help: "control: the arm in Rust, built apart" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let workload = traffic::workload(values, seed, card, watch)?;
        let set = &workload.set;
        let (name, rust) = TWINS
            .into_iter()
            .find(|(name, _)| *name == values.text("twin"))
            .expect("one of the parameter's choices");
        let twin = twin(name, values.text("compiler"), set, watch)?;
        let reference = Arc::new(ScanReference::new(set));
        let entry = |name: &str, role: Role, recipe: Arc<dyn Recipe>| {
            let entry = Entry::new(name, role, recipe, reference.clone(), "dispatch");
            Entry { ceiling: Some(ceiling::fold()), ..entry }
        };
        let entries = vec![
            entry(RUST, Role::Baseline, rust.recipe(set)?),
            entry(CPP, Role::Arm, Arc::new(twin)),
            entry(AGAIN, Role::Control { against: RUST.into() }, rust.recipe(set)?),
        ];
        Ok(Plan { checks: workload.checks, ..Plan::new(Source::from_items(workload.packets), entries) })
    }
}

/// A twin that was built: by source, compiler and body.
type Built = ((String, String, Body), ArmRecipe);

/// Those of this process, whose libraries it keeps: to compile one takes seconds.
static BUILT: Mutex<Vec<Built>> = Mutex::new(Vec::new());

/// The twin of that name over `set`.
fn twin(name: &str, compiler: &str, set: &HandlerSet, watch: &Watch) -> Result<ArmRecipe> {
    let key = (name.to_string(), compiler.to_string(), set.body());
    let known = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, twin)) = known.iter().find(|(built, _)| *built == key) {
        return twin.over(set);
    }
    drop(known);
    let twin = build(name, compiler, set, watch)?;
    BUILT.lock().unwrap_or_else(PoisonError::into_inner).push((key, twin.clone()));
    Ok(twin)
}

fn build(name: &str, compiler: &str, set: &HandlerSet, watch: &Watch) -> Result<ArmRecipe> {
    let compiler = (compiler != SYSTEM).then_some(compiler);
    if let Err(reason) = building::find(Language::Cpp, compiler) {
        return Err(Error::NotMeasurable { what: "a twin in C++".into(), reason });
    }
    let folder = tempfile::tempdir()
        .map_err(|source| Error::Os { what: "making a directory for a twin".into(), source })?;
    let library = folder.path().join(format!("{name}.so"));
    let source = shipped::sources()?.join("twins").join(format!("{name}.cpp"));
    let only = format!("-DTWIN_BODY=NANOKATA_BODY_{}", set.body().name().to_uppercase());
    building::build(&source, &library, compiler, &[&only], watch)?;
    // SAFETY: our own source, which was compiled just now.
    unsafe { ArmRecipe::load(&library, set) }
}
