//! `plugin.crossing`: what a packet costs whose handler lies behind the plugin ABI.

use std::sync::Arc;

use super::calls::{self, Claimed};
use super::{input, library};
use crate::Result;
use crate::dispatch::{ScanReference, ceiling};
use crate::machine::Card;
use crate::plugin::Plugin;
use crate::plugin::crossing::{Across, CrossingRecipe, FIRST_KEY, RESULT_BYTES, VIEW_BYTES, Way, same_work};
use crate::plugin::shipped;
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Origin, Parameter, Plan, Recipe, Reference,
    Role, Source, Unit, Value, Values, Watch, contrast,
};

/// The experiment.
pub struct CrossingCost;

/// What the others are compared with.
const DYN: &str = "dyn_internal";
const INLINED: &str = "inlined";
const PLUGIN: &str = "plugin";
const AGAIN: &str = "plugin_again";
const OLD: &str = "v1";
/// Batches, and the arm of each; the last are the host's own function behind the same structure.
pub(super) const BATCHES: [(usize, &str, &str); 9] = [
    (1, "batch_1", "process_batch, one packet at a time"),
    (2, "batch_2", "process_batch, 2 packets at a time"),
    (4, "batch_4", "process_batch, 4 packets at a time"),
    (8, "batch_8", "process_batch, 8 packets at a time"),
    (16, "batch_16", "process_batch, 16 packets at a time"),
    (32, "batch_32", "process_batch, 32 packets at a time"),
    (64, "batch_64", "process_batch, 64 packets at a time"),
    (128, "batch_128", "process_batch, 128 packets at a time"),
    (256, "batch_256", "process_batch, 256 packets at a time"),
];
const INTERNAL: [(usize, &str, &str); 2] = [
    (
        1,
        "internal_batch_1",
        "views and results as for a batch of one, and a direct call of the host's own function",
    ),
    (64, "internal_batch_64", "the same, 64 packets at a time"),
];
/// Family of the checks that say why an arm isn't in a race.
const ABSENT: &str = "absent";

impl Experiment for CrossingCost {
    fn id(&self) -> &'static str {
        "plugin.crossing"
    }

    fn title(&self) -> &'static str {
        "What a packet costs whose handler lies behind the plugin ABI"
    }

    fn about(&self) -> &'static str {
        "The same four tiny handlers, the same packets, one checksum; what differs is what lies between the loop and the \
         work. `inlined`: nothing. `dyn_internal`: a trait object of the host's own, by an indirect call. `plugin`: a \
         library that was compiled apart, loaded, and called through its struct of functions; a view is built, a result \
         written, status and claim are read. `batch_1` to `batch_256`: the same library's process_batch, so many packets \
         a call, with views and results in arrays that are filled and read in the loop, as a host must. \
         `internal_batch_1` and `internal_batch_64`: those arrays with a direct call of the host's own function, so \
         that what the arrays cost and what the call costs come apart. `v1`: a library of the ABI's first edition by \
         the same loop as `plugin`; its keys are others, so that loop adds a number to each key, 0 for `plugin`. Whether \
         calls are indirect is read from the machine code. With `hot` traffic every branch is predicted and only the \
         boundary is left; with `uniform` the handlers' own branches aren't. A plugin's code exists once: only the \
         loop around it has several layouts, and its arms are flagged. Control: `plugin_again`, another instance of the same plugin."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let laws = [input::HOT, "uniform"].map(|law| Value::Text(law.into())).to_vec();
        vec![input::traffic_parameter().series(laws), library::parameter(), input::pool_parameter(card)]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let each = [
            ArmInfo { name: DYN, help: "a trait object of the host's own, by an indirect call a packet" },
            ArmInfo { name: INLINED, help: "the handlers inlined in the loop" },
            ArmInfo { name: PLUGIN, help: "the plugin's process, packet by packet" },
            ArmInfo { name: OLD, help: "the same of the shipped plugin of the ABI's first edition" },
        ];
        let batches = BATCHES.into_iter().chain(INTERNAL).map(|(_, name, help)| ArmInfo { name, help });
        let control = ArmInfo { name: AGAIN, help: "control: another instance of the same plugin" };
        each.into_iter().chain(batches).chain([control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let (plugin, examined) = library::load(values.text("library"))?;
        let first = same_work(&plugin)?;
        let drawn = input::draw(values, first, seed, card, watch)?;
        let reference: Arc<dyn Reference> = Arc::new(ScanReference::new(&drawn.set));
        let mut checks = drawn.checks;
        checks.push(examined);
        let mut entries = Vec::new();
        for (name, role, way) in ways(&plugin)? {
            let Some(way) = way else {
                let reason =
                    format!("{} has no process_batch: its struct ends before it", plugin.path().display());
                checks.push(Check::not_applicable(format!("{ABSENT}:{name}"), reason));
                continue;
            };
            let recipe: Arc<dyn Recipe> = Arc::new(CrossingRecipe::new(way, first)?);
            let entry = Entry::new(name, role, recipe, Arc::clone(&reference), "dispatch");
            entries.push(Entry { ceiling: Some(ceiling::fold()), ..entry });
        }
        Ok(Plan { checks, ..Plan::new(Source::from_items(drawn.packets), entries) })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        cells.iter().flat_map(of_cell).collect()
    }

    fn judge(&self, _cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        // The code is the same whichever plugin was raced.
        let Ok((plugin, _)) = library::load(library::SHIPPED) else { return Vec::new() };
        let ways = [
            (INLINED, Way::Inlined, Claimed::None),
            (DYN, Way::BehindDyn, Claimed::Some),
            (PLUGIN, Way::Plugin(Arc::clone(&plugin)), Claimed::Some),
            ("batch", Way::Batched(Across::Plugin(plugin), 64), Claimed::Some),
            ("internal_batch", Way::Batched(Across::Internal, 64), Claimed::None),
        ];
        let recipes = ways.into_iter().filter_map(|(arm, way, claimed)| {
            Some((arm, CrossingRecipe::new(way, FIRST_KEY).ok()?, claimed))
        });
        let recipes: Vec<_> = recipes.collect();
        let arms: Vec<_> = recipes.iter().map(|(arm, recipe, claimed)| (*arm, recipe, *claimed)).collect();
        calls::checks(&arms)
    }

    fn facts(&self, cells: &[Cell], _card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        let raced = |name: &str| cells.iter().any(|cell| cell.arm(name).is_some());
        Ok(BATCHES
            .iter()
            .filter(|(_, name, _)| raced(name))
            .map(|&(batch, name, _)| moved(batch, name))
            .collect())
    }
}

/// The arms: name, role, and the way; `None` where the plugin hasn't got it.
fn ways(plugin: &Arc<Plugin>) -> Result<Vec<(&'static str, Role, Option<Way>)>> {
    let takes_batches = plugin.functions().process_batch.is_some();
    let (old, _) = library::load(shipped::NAMES[0])?;
    let own = || Some(Way::Plugin(Arc::clone(plugin)));
    let mut ways = vec![
        (DYN, Role::Baseline, Some(Way::BehindDyn)),
        (INLINED, Role::Arm, Some(Way::Inlined)),
        (PLUGIN, Role::Arm, own()),
        (OLD, Role::Arm, Some(Way::Plugin(old))),
    ];
    ways.extend(BATCHES.map(|(batch, name, _)| {
        let across = Across::Plugin(Arc::clone(plugin));
        (name, Role::Arm, takes_batches.then_some(Way::Batched(across, batch)))
    }));
    ways.extend(
        INTERNAL.map(|(batch, name, _)| (name, Role::Arm, Some(Way::Batched(Across::Internal, batch)))),
    );
    ways.push((AGAIN, Role::Control { against: PLUGIN.into() }, own()));
    Ok(ways)
}

/// What follows from one race: the call, the crossing, and what batches save of it.
fn of_cell(cell: &Cell) -> Vec<Contrast> {
    let law = cell.parameters["traffic"].to_string();
    let difference = |family: &str, arm: &str, other: &str, what: String| {
        let terms = [(1.0, cell, arm), (-1.0, cell, other)];
        contrast::linear(&terms, format!("{family}:{law}"), format!("{what}, {law} traffic"))
    };
    let fixed = [
        ("dyn", DYN, INLINED, "a call through a vtable: dyn − inlined"),
        ("crossing", PLUGIN, DYN, "crossing, packet by packet: plugin − dyn"),
        ("edition", OLD, PLUGIN, "the first edition's plugin − the present one's"),
        (
            "arrays:64",
            "internal_batch_64",
            DYN,
            "views and results of 64, nothing foreign: internal batch − dyn",
        ),
        (
            "call:1",
            "batch_1",
            "internal_batch_1",
            "the foreign call, one packet each: batch of 1 − internal batch",
        ),
        (
            "call:64",
            "batch_64",
            "internal_batch_64",
            "the foreign call, 64 packets each: batch of 64 − internal batch",
        ),
    ];
    let fixed =
        fixed.into_iter().map(|(family, arm, other, what)| difference(family, arm, other, what.into()));
    let recovered = BATCHES.iter().map(|&(batch, name, _)| {
        difference(
            &format!("recovered:{batch}"),
            PLUGIN,
            name,
            format!("recovered by batches of {batch}: plugin − batch"),
        )
    });
    fixed.chain(recovered).flatten().collect()
}

/// What a batch moves through memory: a fact, since the structs have the sizes that they have.
fn moved(batch: usize, name: &str) -> Fact {
    let (each, buffers) = (VIEW_BYTES + RESULT_BYTES, batch * (VIEW_BYTES + RESULT_BYTES));
    let text = format!(
        "{name}: a view of {VIEW_BYTES} bytes and a result of {RESULT_BYTES}, {each} bytes a packet; {buffers} bytes of \
         arrays"
    );
    let (name, unit) = (format!("bytes:{name}"), "bytes".to_string());
    Fact { name, text, value: Some(buffers as f64), unit, origin: Origin::Computed }
}
