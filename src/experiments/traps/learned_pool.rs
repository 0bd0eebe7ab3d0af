//! `traps.learned_pool`: a pool so short that the branch predictor knows it by heart.

use std::sync::Arc;

use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::{Body, HandlerSet, ScanReference, SelectionArm, SelectionRecipe, ceiling, input_audit};
use crate::machine::Card;
use crate::race::trap::Reading;
use crate::race::{
    ArmInfo, Cell, Conditions, Entry, Experiment, Kind, Parameter, Plan, Role, Source, Trap, Unit, Value,
    Values, Watch,
};
use crate::traffic::{Law, Traffic};

/// The experiment.
pub struct LearnedPool;

const TABLE: SelectionArm = SelectionArm::TableCompact;
const SCAN: SelectionArm = SelectionArm::ScanKeys;
const AGAIN: &str = "table_again";
/// Share of residual handlers (the public kata's).
const RESIDUAL_SHARE: f64 = 0.10;
const LARGEST: i64 = 1 << 18;

impl Experiment for LearnedPool {
    fn id(&self) -> &'static str {
        "traps.learned_pool"
    }

    fn title(&self) -> &'static str {
        "Trap: a pool that the predictor knows by heart"
    }

    fn about(&self) -> &'static str {
        "What does a table's lookup and call cost on random traffic? Which handler is called depends on the packet, and a \
         predictor can't know that of random packets. But a race replays its pool, and predictors remember long histories: of \
         a short pool they learn every turn, and the call seems cheaper than any real traffic would let it be. The pool's length is swept \
         over; lengths below the bound of the check `pool-not-learned`, which every dispatch race has, are the faulty ones. \
         The wrong answer is the shortest pool's, the right one the longest's."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, _card: &Card) -> Vec<Parameter> {
        let lengths = [64, 256, 1024, 2048, 4096, 16_384].map(Value::Int).to_vec();
        vec![
            Parameter::new(
                "pool",
                Kind::Int { low: 8, high: LARGEST },
                Value::Int(16_384),
                "packets of the pool, replayed over and over",
            )
            .unit("packets")
            .series(lengths),
            table_twice::handlers(),
            table_twice::body(Body::Tiny),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: TABLE.name(), help: TABLE.help() },
            ArmInfo { name: SCAN.name(), help: SCAN.help() },
            ArmInfo { name: AGAIN, help: "control: the table, built apart" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let body = values.text("body").parse()?;
        let set = HandlerSet::standard(values.size("handlers"), body, RESIDUAL_SHARE, seed)?;
        let pool = values.size("pool");
        let packets = Traffic::new(Law::Uniform).seed(seed).generate(pool, &set.keys(), &watch.silent())?;
        let checks = vec![input_audit::length_check(&set, &packets, None, watch)?];
        let short = pool < input_audit::LEAST_POOL;
        let conditions = if short { Conditions::faulty() } else { Conditions::default() };
        let reference = Arc::new(ScanReference::new(&set));
        let again = Role::Control { against: TABLE.name().into() };
        let arms =
            [(TABLE, TABLE.name(), Role::Baseline), (SCAN, SCAN.name(), Role::Arm), (TABLE, AGAIN, again)];
        let mut entries = Vec::new();
        for (arm, name, role) in arms {
            let recipe = Arc::new(SelectionRecipe::new(arm, &set, None)?);
            let ceiling = Some(ceiling::fold());
            entries.push(Entry { ceiling, ..Entry::new(name, role, recipe, reference.clone(), "dispatch") });
        }
        Ok(Plan {
            conditions,
            checks,
            patience: configuration::FEWEST_BLOCKS,
            ..Plan::new(Source::from_items(packets), entries)
        })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let length = |cell: &&Cell| match cell.parameters.get("pool") {
            Some(Value::Int(length)) => *length,
            _ => 0,
        };
        let reading = Reading {
            wrong: cells.iter().filter(|cell| cell.faulty).min_by_key(length)?,
            injected: None,
            right: cells.iter().filter(|cell| !cell.faulty).max_by_key(length)?,
            check: "pool-not-learned",
            share: 0.10,
            least: 0.0,
        };
        let answer = |cell: &Cell| {
            configuration::cost(cell, TABLE.name(), |ns| {
                format!("the table's lookup and call cost {ns} ns a packet")
            })
        };
        reading.reveal(answer, "what was replayed often enough isn't random to a predictor any more")
    }
}
