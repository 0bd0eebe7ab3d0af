//! `dispatch.mechanism`: what calling the handler costs once it is found.

use std::sync::Arc;

use super::{code_facts, control, traffic};
use crate::Result;
use crate::dispatch::{DirectReference, MechanismArm, MechanismRecipe, ScanReference, ceiling};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Parameter, Plan, Reference, Role, Source,
    Unit, Value, Values, Watch, contrast,
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
        "Behind one identical selection (the compact table; residual tests by one and the same direct call, unmatched \
         packets handled alike), each arm gets to the selected handler's body in its own way: `dyn_trait` by Rust's \
         fat pointer, `thin` by a vtable whose address the object carries, as in C++, `erased` by a function whose \
         address lies beside the object's, `enum_match` by a jump table over a closed sum. All slots take 24 bytes, \
         and all arms call the same out-of-line bodies. `static_match` has neither table nor objects: the packet's \
         key is matched straight to those bodies. `static_inlined` is the same with bodies that the compiler may \
         inline and merge; what became of them is counted from its machine code. `direct` calls one fixed body by a \
         direct call: it computes something else (always handler 0's value), is held to a reference of its own, and \
         is what the mechanism's cost is the difference to. With `hot` traffic the target never changes; with mixed \
         traffic it does. Tiny bodies all fit the instruction cache, fat ones don't. Control: a second direct arm, \
         built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let words = |words: [&str; 2]| words.map(|word| Value::Text(word.into())).to_vec();
        let mut parameters = vec![
            traffic::traffic("uniform").series(words([HOT, "uniform"])),
            Parameter::new(
                "handlers",
                traffic::handlers(),
                Value::Int(100),
                "how many handlers are registered",
            ),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text(TINY.into()),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            )
            .series(words([TINY, "fat"])),
        ];
        parameters.extend(traffic::parameters(card));
        parameters
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let control = ArmInfo { name: CONTROL, help: "control: the direct arm, built apart" };
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
        let control = (MechanismArm::Direct, CONTROL, Role::Control { against: DIRECT.into() });
        let (mut entries, mut checks) = (Vec::new(), workload.checks);
        for (arm, name, role) in arms.chain([control]) {
            if let Some(reason) = arm.refuses(&workload.set) {
                checks.push(Check::not_applicable(format!("{ABSENT}:{name}"), reason));
                continue;
            }
            let (reference, claim) = match arm {
                MechanismArm::Direct => (Arc::clone(&fixed), "fixed body"),
                _ => (Arc::clone(&selected), "dispatch"),
            };
            let recipe = Arc::new(MechanismRecipe::new(arm, &workload.set)?);
            let (ceiling, excludes) = (Some(ceiling::fold()), arm.excludes());
            entries.push(Entry { ceiling, excludes, ..Entry::new(name, role, recipe, reference, claim) });
        }
        Ok(Plan { checks, ..Plan::new(Source::from_items(workload.packets), entries) })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        let within = cells.iter().flat_map(|cell| {
            COMPARED.iter().filter_map(move |&(family, arm, other, what)| {
                let (name, place) = (format!("{family}:{}", key(cell)), place(cell));
                let terms = [(1.0, cell, arm), (-1.0, cell, other)];
                contrast::linear(&terms, name, format!("{what}, {place}"))
            })
        });
        within.chain(pairs(cells).flat_map(|(hot, mixed)| gaps(hot, mixed))).collect()
    }

    fn judge(&self, cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        let checks: Vec<(Check, String)> = pairs(cells)
            .filter_map(|(hot, mixed)| Some((control_gap(hot, mixed)?, word(mixed, "body").to_string())))
            .collect();
        for (check, body) in &checks {
            control::void(cells, check, |cell| word(cell, "body") == body);
        }
        checks.into_iter().map(|(check, _)| check).collect()
    }

    fn facts(&self, cells: &[Cell], card: &Card, watch: &Watch) -> Result<Vec<Fact>> {
        let mut facts = code_facts::of_mechanisms(cells, card, watch)?;
        facts.extend(code_facts::absent(cells));
        Ok(facts)
    }
}

const HOT: &str = "hot";
const TINY: &str = "tiny";
const DIRECT: &str = "direct";
const CONTROL: &str = "direct_again";
/// Family of the checks that say why an arm isn't in a race.
pub(super) const ABSENT: &str = "absent";

/// Differences within a race: family, the two arms, and what it is.
const COMPARED: [(&str, &str, &str, &str); 5] = [
    ("calling", "dyn_trait", DIRECT, "calling: dyn − direct"),
    ("load:thin", "thin", "dyn_trait", "one load more: thin − dyn"),
    ("load:dyn", "dyn_trait", "erased", "one load more: dyn − erased"),
    ("against_dyn:enum_match", "enum_match", "dyn_trait", "enum − dyn"),
    ("against_dyn:static_match", "static_match", "dyn_trait", "static match − dyn"),
];

fn word<'a>(cell: &'a Cell, parameter: &str) -> &'a str {
    match &cell.parameters[parameter] {
        Value::Text(word) => word,
        _ => "",
    }
}

/// Traffic, and the body where it isn't the tiny one, which alone shows the call itself.
fn key(cell: &Cell) -> String {
    match word(cell, "body") {
        TINY => word(cell, "traffic").into(),
        body => format!("{}:{body}", word(cell, "traffic")),
    }
}

fn place(cell: &Cell) -> String {
    format!("{} traffic, {} bodies", word(cell, "traffic"), word(cell, "body"))
}

/// Cells with one target beside those with many, the same otherwise.
fn pairs(cells: &[Cell]) -> impl Iterator<Item = (&Cell, &Cell)> {
    let rest = |cell: &Cell| {
        let mut rest = cell.parameters.clone();
        rest.remove("traffic");
        rest
    };
    let is_hot = |cell: &&Cell| word(cell, "traffic") == HOT;
    cells.iter().filter(is_hot).flat_map(move |hot| {
        let mixed = cells.iter().filter(move |cell| !is_hot(cell) && rest(cell) == rest(hot));
        mixed.map(move |mixed| (hot, mixed))
    })
}

/// What many targets cost more than one: of each mechanism beyond what the same selection costs `direct`, and of that
/// alone.
fn gaps<'a>(hot: &'a Cell, mixed: &'a Cell) -> impl Iterator<Item = Contrast> {
    let (law, body) = (word(mixed, "traffic"), word(mixed, "body"));
    let alone = contrast::linear(
        &[(1.0, mixed, DIRECT), (-1.0, hot, DIRECT)],
        format!("gap:direct:{}", key(mixed)),
        format!("{law} − hot, direct (selection alone), {body} bodies"),
    );
    let arms = ["dyn_trait", "thin", "erased", "enum_match"];
    let beyond = arms.into_iter().filter_map(move |arm| {
        let terms = [(1.0, mixed, arm), (-1.0, hot, arm), (-1.0, mixed, DIRECT), (1.0, hot, DIRECT)];
        let what = format!("{law} − hot beyond direct's, {arm}, {body} bodies");
        contrast::linear(&terms, format!("gap:{arm}:{}", key(mixed)), what)
    });
    alone.into_iter().chain(beyond)
}

/// The same for a second direct arm: nothing, by construction.
fn control_gap(hot: &Cell, mixed: &Cell) -> Option<Check> {
    let beyond = |arm, name| {
        let terms = [(1.0, mixed, arm), (-1.0, hot, arm), (-1.0, mixed, DIRECT), (1.0, hot, DIRECT)];
        contrast::linear(&terms, name, format!("beyond direct's, {arm}"))
    };
    let name = format!("control:gap:{}", key(mixed));
    let (again, effect) = (beyond(CONTROL, name.clone())?, beyond("dyn_trait", String::new())?);
    Some(control::beside(name, &again, &effect, CONTROL_SHARE))
}

/// How much of the mechanism's own gap its control may show.
const CONTROL_SHARE: f64 = 0.10;
