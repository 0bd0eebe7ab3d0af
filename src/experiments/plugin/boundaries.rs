//! `plugin.boundaries`: where batching pays, over boundaries that have a fixed cost and one that hasn't.

use std::sync::Arc;

use super::{input, library};
use crate::Result;
use crate::dispatch::{ScanReference, ceiling};
use crate::machine::Card;
use crate::plugin::crossing::{Across, CrossingRecipe, FIRST_KEY, Way, offered, same_work};
use crate::race::{
    ArmInfo, Cell, Conditions, Contrast, Entry, Experiment, Kind, Parameter, Plan, Recipe, Reference, Role,
    Source, Unit, Value, Values, Watch, contrast,
};

use super::crossing::BATCHES;

/// The experiment.
pub struct Boundaries;

const INTERNAL: &str = "internal";
const PLUGIN: &str = "plugin";
const SYSTEM_CALL: &str = "system_call";
const PIPE: &str = "pipe";
const ONE: &str = "batch_1";
const MANY: &str = "batch_64";
const MOST: &str = "batch_256";
const AGAIN: &str = "batch_64_again";
/// Races end here: figures over two orders of magnitude are wanted, not verdicts to half a percent.
const PATIENCE: usize = 2;

impl Experiment for Boundaries {
    fn id(&self) -> &'static str {
        "plugin.boundaries"
    }

    fn title(&self) -> &'static str {
        "Where batching pays: boundaries with a fixed cost, and one without"
    }

    fn about(&self) -> &'static str {
        "One race a boundary: the same packets, crossed to the same work one at a time, two at a time, … 256 at a time. \
         `internal` is a direct call, `plugin` the process_batch of a library in this process: what they have to spread is a \
         call and the start of two loops. `system_call` enters the kernel once a batch (getppid, which no library answers by itself). `pipe` \
         copies the batch to another process and its results back; that process runs on the same CPU, so each of the two \
         waits while the other works, and a crossing is two writes, two reads and two switches. Under Python there is \
         `python_callback`: the interpreter's lock is taken, by a thread that the interpreter knows, and a Python function is called \
         once a batch, which calls back for the work, so that the work itself is the same machine code. What a crossing costs apart from its \
         packets is the slope over one packet's share of it: (batch_1 − batch_256) × 256/255. Control: batches of 64 \
         once more, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let names = names();
        let all = names.iter().map(|&name| Value::Text(name.into())).collect();
        vec![
            Parameter::new(
                "boundary",
                Kind::Choice { choices: names },
                Value::Text(PLUGIN.into()),
                "what lies between the loop and the work",
            )
            .series(all),
            input::traffic_parameter(),
            input::pool_parameter(card),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let batches = BATCHES.iter().zip(HELP).map(|(&(_, name, _), help)| ArmInfo { name, help });
        let control = ArmInfo { name: AGAIN, help: "control: batches of 64 once more, built apart" };
        batches.chain([control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let name = values.text("boundary");
        let (across, first) = across(name)?;
        let drawn = input::draw(values, first, seed, card, watch)?;
        let reference: Arc<dyn Reference> = Arc::new(ScanReference::new(&drawn.set));
        let control = (64, AGAIN, Role::Control { against: MANY.into() });
        let role = |name: &str| if name == ONE { Role::Baseline } else { Role::Arm };
        let arms = BATCHES.iter().map(|&(batch, name, _)| (batch, name, role(name))).chain([control]);
        let entries = arms.map(|(batch, name, role)| {
            let recipe: Arc<dyn Recipe> =
                Arc::new(CrossingRecipe::new(Way::Batched(across.clone(), batch), first)?);
            let entry = Entry::new(name, role, recipe, Arc::clone(&reference), "dispatch");
            Ok(Entry { ceiling: Some(ceiling::fold()), ..entry })
        });
        let entries = entries.collect::<Result<_>>()?;
        let conditions = Conditions { waits: name == PIPE, ..Conditions::default() };
        let plan = Plan::new(Source::from_items(drawn.packets), entries);
        let (checks, rep_operations) = (drawn.checks, rep_packets(name));
        Ok(Plan { checks, conditions, rep_operations, patience: Some(PATIENCE), ..plan })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        cells.iter().flat_map(of_cell).collect()
    }
}

const HELP: [&str; 9] = [
    "one packet a crossing",
    "2 packets a crossing",
    "4 packets a crossing",
    "8 packets a crossing",
    "16 packets a crossing",
    "32 packets a crossing",
    "64 packets a crossing",
    "128 packets a crossing",
    "256 packets a crossing",
];

/// The boundaries that there are in this process.
fn names() -> Vec<&'static str> {
    let own = [INTERNAL, PLUGIN, SYSTEM_CALL, PIPE];
    own.into_iter().chain(offered().map(|offer| offer.name)).collect()
}

/// The boundary of that name, which the parameter has accepted, and the first key of the packets for it.
fn across(name: &str) -> Result<(Across, u16)> {
    Ok(match name {
        PLUGIN => {
            let (plugin, _) = library::load(library::SHIPPED)?;
            let first = same_work(&plugin)?;
            (Across::Plugin(plugin), first)
        }
        INTERNAL => (Across::Internal, FIRST_KEY),
        SYSTEM_CALL => (Across::SystemCall, FIRST_KEY),
        PIPE => (Across::pipe(), FIRST_KEY),
        other => {
            let offer = offered().filter(|offer| offer.name == other).expect("a declared choice");
            (Across::Offered(offer), FIRST_KEY)
        }
    })
}

/// Packets a rep, where batches of one cost so much more than batches of 256 that a rep long enough for the clock would keep
/// the others busy for seconds; whole batches, so that none of the largest is cut short.
fn rep_packets(name: &str) -> Option<usize> {
    match name {
        INTERNAL | PLUGIN => None,
        PIPE => Some(4 * 256),
        _ => Some(32 * 256),
    }
}

/// What follows from one race: the crossing's own cost, and what batches save.
fn of_cell(cell: &Cell) -> Vec<Contrast> {
    let boundary = cell.parameters["boundary"].to_string();
    let spoken = boundary.replace('_', " ");
    let linear = |terms: &[contrast::Term], name: &str, what: String| {
        contrast::linear(terms, format!("{name}:{boundary}"), what)
    };
    let slope = 256.0 / 255.0;
    let fixed = [(slope, cell, ONE), (-slope, cell, MOST)];
    let recovered = [(1.0, cell, ONE), (-1.0, cell, MANY)];
    let left = [(1.0, cell, MANY), (-1.0, cell, MOST)];
    [
        linear(&fixed, "fixed", format!("a crossing by itself, {spoken}")),
        linear(
            &recovered,
            "recovered:64",
            format!("recovered by batches of 64, {spoken}: batch 1 − batch 64"),
        ),
        linear(&left, "left:64", format!("still left to larger batches, {spoken}: batch 64 − batch 256")),
    ]
    .into_iter()
    .flatten()
    .collect()
}
