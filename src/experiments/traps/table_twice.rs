//! What most traps race: one and the same table lookup, built twice, over ordinary traffic. The two can't differ.

use std::sync::Arc;

use super::configuration;
use crate::Result;
use crate::dispatch::{
    Body, HandlerSet, MAX_HANDLERS, ScanReference, SelectionArm, SelectionRecipe, ceiling,
};
use crate::experiments::dispatch::traffic::bodies;
use crate::machine::Card;
use crate::race::{
    ArmInfo, Entry, Kind, Parameter, Plan, Recipe, Reference, Role, Source, Value, Values, Watch,
};
use crate::traffic::{Law, Packet, Traffic};

/// The table.
pub const TABLE: &str = "table";
/// The same, built apart.
pub const AGAIN: &str = "table_again";

const DEFAULT_HANDLERS: i64 = 100;
/// Share of residual handlers (the public kata's).
const RESIDUAL_SHARE: f64 = 0.10;

/// How many handlers.
pub fn handlers() -> Parameter {
    let kind = Kind::Int { low: 2, high: MAX_HANDLERS as i64 };
    Parameter::new("handlers", kind, Value::Int(DEFAULT_HANDLERS), "how many handlers are registered")
}

/// Their bodies.
pub fn body(default: Body) -> Parameter {
    let kind = Kind::Choice { choices: bodies() };
    Parameter::new(
        "body",
        kind,
        Value::Text(default.name().into()),
        "code of a handler: fat, tiny or identical",
    )
}

/// The pool: half of this machine's L2 by default.
pub fn pool(card: &Card) -> Parameter {
    let half_l2 = card.l2_bytes().map_or(DEFAULT_POOL, |bytes| (bytes / 2 / size_of::<Packet>()) as i64);
    let kind = Kind::Int { low: 1024, high: LARGEST_POOL };
    let default = half_l2.clamp(1024, LARGEST_POOL);
    Parameter::new("pool", kind, Value::Int(default), "packets that every arm replays").unit("packets")
}

/// Where the size of the L2 isn't known: the published kata's pool.
const DEFAULT_POOL: i64 = 32_768;
/// 128 MiB.
pub const LARGEST_POOL: i64 = 1 << 22;

/// The two arms, as the catalogue lists them.
pub fn arms() -> Vec<ArmInfo> {
    vec![
        ArmInfo { name: TABLE, help: "the compact table's selection, then the handler through its vtable" },
        ArmInfo { name: AGAIN, help: "control: the same, built apart" },
    ]
}

/// The set that the parameters ask for, and `pool` packets of uniform traffic over it.
pub fn workload(values: &Values, pool: usize, seed: u64, watch: &Watch) -> Result<(HandlerSet, Vec<Packet>)> {
    let set =
        HandlerSet::standard(values.size("handlers"), values.text("body").parse()?, RESIDUAL_SHARE, seed)?;
    let packets = Traffic::new(Law::Uniform).seed(seed).generate(pool, &set.keys(), &watch.silent())?;
    Ok((set, packets))
}

/// The race of the two over these packets; `wrap` may put something around the table.
pub fn plan(
    set: &HandlerSet,
    packets: Vec<Packet>,
    wrap: impl Fn(Arc<dyn Recipe>) -> Arc<dyn Recipe>,
) -> Result<Plan> {
    let reference: Arc<dyn Reference> = Arc::new(ScanReference::new(set));
    let mut entries = Vec::new();
    for (name, role) in [(TABLE, Role::Baseline), (AGAIN, Role::Control { against: TABLE.into() })] {
        let recipe = wrap(Arc::new(SelectionRecipe::new(SelectionArm::TableCompact, set, None)?));
        let ceiling = Some(ceiling::fold());
        entries.push(Entry { ceiling, ..Entry::new(name, role, recipe, reference.clone(), "dispatch") });
    }
    Ok(Plan { patience: configuration::FEWEST_BLOCKS, ..Plan::new(Source::from_items(packets), entries) })
}
