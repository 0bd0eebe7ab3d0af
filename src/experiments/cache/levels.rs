//! `cache.levels`: nanoseconds a load as the working set outgrows one cache after another.

use std::sync::Arc;

use super::chase::{self, Chase, Cycle, NODE_BYTES, Walk};
use crate::Result;
use crate::machine::{Card, memory};
use crate::race::{
    ArmInfo, Check, Entry, Experiment, Kind, Parameter, Plan, Role, Source, Unit, Value, Values, Watch,
};

/// The experiment.
pub struct Levels;

const SMALLEST: usize = 4 * 1024;
/// Every block copies the nodes to a fresh place; more than this would take too long between two looks at the stop flag.
const LARGEST: usize = 256 << 20;

impl Experiment for Levels {
    fn id(&self) -> &'static str {
        "cache.levels"
    }

    fn title(&self) -> &'static str {
        "Latency of a load against the size of the working set"
    }

    fn about(&self) -> &'static str {
        "How long does a load take when the data fit in L1, L2, L3, or none of them? One node a cache line, linked \
         twice: in a single random cycle over all lines (Sattolo's shuffle, so that no short cycle hides a small \
         working set) and in address order. Both arms chase their links through the same memory, each load's \
         address coming from the load before; the sequential one shows what the prefetcher hides. The control \
         walks the random cycle from the opposite side and must read zero. Pages are the system's default size, so \
         past the reach of the TLB a load pays for the page walk as well."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerLoad
    }

    fn parameters(&self, _card: &Card) -> Vec<Parameter> {
        let sizes = [4, 16, 32, 128, 512, 2048, 8192, 32_768].map(|kib: i64| Value::Int(kib * 1024)).to_vec();
        vec![
            Parameter::new(
                "working_set",
                Kind::Int { low: SMALLEST as i64, high: LARGEST as i64 },
                Value::Int(SMALLEST as i64),
                "bytes that the loads walk over",
            )
            .unit("bytes")
            .series(sizes)
            .monotonic(vec!["random_cycle"]),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: "random_cycle", help: "chases one random cycle over all lines" },
            ArmInfo { name: "sequential_cycle", help: "chases the same lines in address order" },
            ArmInfo { name: "random_cycle_opposite", help: "control: the random cycle, half a turn ahead" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let bytes = values.size("working_set");
        // The nodes as made, the nodes as placed, and the order of visits.
        let needed_bytes = 2 * bytes + bytes / NODE_BYTES * size_of::<u32>();
        memory::room_for(&format!("working_set = {bytes}"), needed_bytes, 1)?;
        let cycle = Arc::new(Cycle::new(bytes / NODE_BYTES, seed, watch)?);
        let turn = cycle.nodes.len();
        let half = turn / 2;
        let walks = [
            ("random_cycle", Walk::Random, 0, Role::Baseline),
            ("sequential_cycle", Walk::Sequential, 0, Role::Arm),
            ("random_cycle_opposite", Walk::Random, half, Role::Control { against: "random_cycle".into() }),
        ];
        let entries = walks.into_iter().map(|(name, walk, ahead, role)| {
            let chase = Arc::new(Chase::new(Arc::clone(&cycle), walk, ahead));
            Entry { ceiling: Some(chase::ceiling()), ..Entry::new(name, role, chase.clone(), chase, name) }
        });
        let line = card.line_bytes();
        // Enough operations for a rep even when the set is tiny; always whole turns.
        let source = Source::from_items_with(cycle.nodes.clone(), turn * (1usize << 18).div_ceil(turn));
        let detail = format!("nodes of {NODE_BYTES} bytes, lines of {line}");
        let checks = vec![Check::new("one-node-a-line", line == NODE_BYTES, detail)];
        Ok(Plan { checks, ..Plan::new(source, entries.collect()) })
    }
}
