//! `traps.pool_past_cache`: packets that don't fit the cache they are meant to lie in.

use std::sync::Arc;
use std::time::Duration;

use super::scattered::{Scattered, Visits};
use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::{Body, audit};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Conditions, Experiment, Kind, Parameter, Plan, Reference, Trap, Unit, Value, Values, Watch,
};
use crate::traffic::Packet;

/// The experiment.
pub struct PoolPastCache;

const DRAWN: &str = "drawn";
const IN_ORDER: &str = "in_order";
/// Reps long enough to stream through more than a core's own caches.
const MIN_REP: Duration = Duration::from_micros(1500);

impl Experiment for PoolPastCache {
    fn id(&self) -> &'static str {
        "traps.pool_past_cache"
    }

    fn title(&self) -> &'static str {
        "Trap: a pool of packets past the cache"
    }

    fn about(&self) -> &'static str {
        "What does a lookup cost, when every packet comes from memory first? Packets are visited in a drawn order, as a \
         driver hands out its buffers, so that no prefetcher knows the next one. The wrong configuration has a pool larger \
         than the last-level cache: what is measured is memory with a dispatch attached, and a table may then seem to get \
         faster as handlers are added. The right one has half of the L2. Visited in address order a large pool may hardly be \
         felt (`visits=in_order`), since prefetchers hide it: that isn't to be relied on. The check `pool-in-cache`, which \
         every dispatch race has, compares the pool with the L2."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let largest = card.caches.iter().map(|cache| cache.bytes).max().unwrap_or(32 << 20);
        let past = (2 * largest / size_of::<Packet>()) as i64;
        vec![
            configuration::two(),
            Parameter::new(
                "far_pool",
                Kind::Int { low: 1024, high: table_twice::LARGEST_POOL },
                Value::Int(past.clamp(1024, table_twice::LARGEST_POOL)),
                "packets of the pool past the cache; twice the largest cache by default",
            )
            .unit("packets"),
            Parameter::new(
                "visits",
                Kind::Choice { choices: vec![DRAWN, IN_ORDER] },
                Value::Text(DRAWN.into()),
                "order in which the packets of a pool are visited, in both configurations",
            ),
            table_twice::handlers(),
            table_twice::body(Body::Tiny),
            table_twice::pool(card),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        table_twice::arms()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let (pool, conditions, min_rep) = match configuration::of(values) {
            configuration::WRONG => {
                ("far_pool", Conditions { keeps_disturbed: true, ..Conditions::faulty() }, Some(MIN_REP))
            }
            _ => ("pool", Conditions::default(), None),
        };
        let (set, packets) = table_twice::workload(values, values.size(pool), seed, watch)?;
        let checks = vec![audit::pool_check(&packets, card)];
        let mut plan = table_twice::plan(&set, packets, |recipe| recipe)?;
        if values.text("visits") == DRAWN {
            scatter(&mut plan, seed)?;
        }
        Ok(Plan { conditions, checks, min_rep, ..plan })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "pool-in-cache",
            share: 0.05,
            least: 0.0,
            injected: "",
            cause: "each packet's line comes from memory, and its translation from the page table",
        };
        lesson.of(cells, |cell| {
            configuration::cost(cell, table_twice::TABLE, |ns| {
                format!("the table's lookup and call cost {ns} ns a packet")
            })
        })
    }
}

/// Has every arm visit the packets in one drawn order.
fn scatter(plan: &mut Plan, seed: u64) -> Result<()> {
    let visits = Visits::drawn(plan.source.operations(), seed)?;
    let inner = Arc::clone(&plan.entries[0].reference);
    let reference: Arc<dyn Reference> = Arc::new(Scattered { inner, visits: Arc::clone(&visits) });
    for entry in &mut plan.entries {
        let inner = Arc::clone(&entry.recipe);
        entry.recipe = Arc::new(Scattered { inner, visits: Arc::clone(&visits) });
        entry.reference = Arc::clone(&reference);
    }
    Ok(())
}
