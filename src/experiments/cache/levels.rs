//! `cache.levels`: nanoseconds a load as the working set outgrows one cache after another.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::machine::{Card, memory};
use crate::race::placement::code_copies;
use crate::race::{
    Arm, ArmInfo, Ceiling, Check, Checksum, Entry, Experiment, Input, Kind, Parameter, Placement, Plan,
    Recipe, Reference, Role, Source, Unit, Value, Values, Watch, Window, code_padding,
};
use crate::{Error, Result};

/// The experiment.
pub struct Levels;

/// Assumed bytes of a line: one node each. On 128-byte lines two nodes share one, which the card's check tells.
const NODE_BYTES: usize = 64;
const SMALLEST: usize = 4 * 1024;
/// Every block copies the nodes to a fresh place; more than this would take too long between two looks at the stop flag.
const LARGEST: usize = 256 << 20;

/// One cache line: where to go next, in each of the two orders. A link is the offset of the next node in bytes, so that
/// nothing but the load itself lies between two loads.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Node {
    random: u32,
    sequential: u32,
    _rest: [u32; 14],
}

const _: () = assert!(
    std::mem::offset_of!(Node, sequential)
        == std::mem::offset_of!(Node, random) + Walk::Sequential as usize * size_of::<u32>()
);

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
            let chase = Arc::new(Chase { cycle: Arc::clone(&cycle), walk, ahead });
            Entry {
                ceiling: Some(Ceiling {
                    // The shortest load-to-use latency of any core known (Apple Firestorm, 3 cycles; x86 has 4 to
                    // 5): Agner Fog's instruction tables.
                    min_cycles: 3.0,
                    formula: "each load waits for the one before: an L1 hit's latency".into(),
                    source: "Agner Fog's instruction tables".into(),
                }),
                ..Entry::new(name, role, chase.clone(), chase, name)
            }
        });
        let line = card.line_bytes();
        // Enough operations for a rep even when the set is tiny; always whole turns.
        let source = Source::from_items_with(cycle.nodes.clone(), turn * (1usize << 18).div_ceil(turn));
        let detail = format!("nodes of {NODE_BYTES} bytes, lines of {line}");
        let checks = vec![Check::new("one-node-a-line", line == NODE_BYTES, detail)];
        Ok(Plan { checks, ..Plan::new(source, entries.collect()) })
    }
}

/// The nodes, and the order in which the random cycle visits them.
struct Cycle {
    nodes: Vec<Node>,
    visits: Vec<u32>,
}

impl Cycle {
    /// Sattolo's algorithm (Information Processing Letters 22:315, 1986): a uniformly drawn single cycle.
    fn new(count: usize, seed: u64, watch: &Watch) -> Result<Self> {
        let count_u32 =
            u32::try_from(count).map_err(|_| Error::invalid("working_set", count, "too many lines"))?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut visits: Vec<u32> = (0..count_u32).collect();
        for last in (1..count).rev() {
            if last % (1 << 16) == 0 {
                watch.check()?;
            }
            visits.swap(last, random.random_range(0..last));
        }
        // `visits` as a permutation image is one cycle; walk it once to get the order of visits.
        let next = visits.clone();
        let mut at = 0u32;
        for (step, place) in visits.iter_mut().enumerate() {
            if step % (1 << 16) == 0 {
                watch.check()?;
            }
            *place = at;
            at = next[at as usize];
        }
        let nodes = (0..count_u32)
            .map(|node| Node {
                random: next[node as usize] * NODE_BYTES as u32,
                sequential: (node + 1) % count_u32 * NODE_BYTES as u32,
                _rest: [0; 14],
            })
            .collect();
        Ok(Cycle { nodes, visits })
    }
}

/// Which link is followed; the numbers are the fields' places in a node.
#[derive(Clone, Copy)]
enum Walk {
    Random = 0,
    Sequential = 1,
}

/// One arm, as recipe and as reference.
struct Chase {
    cycle: Arc<Cycle>,
    walk: Walk,
    /// Steps by which this arm's windows lie ahead.
    ahead: usize,
}

impl Chase {
    /// The link to the node at a step of this walk.
    fn link_at(&self, step: usize) -> u32 {
        let step = (step + self.ahead) % self.cycle.nodes.len();
        let node = match self.walk {
            Walk::Random => self.cycle.visits[step],
            Walk::Sequential => step as u32,
        };
        node * NODE_BYTES as u32
    }
}

struct State {
    input: Input,
    /// Where windows begin is looked up once a window, outside the chain.
    chase: Chase,
}

impl Recipe for Chase {
    fn build(&self, input: &Input, _placement: &mut Placement) -> Result<Arm> {
        let chase = Chase { cycle: Arc::clone(&self.cycle), walk: self.walk, ahead: self.ahead };
        let state = State { input: input.clone(), chase };
        Ok(Arm::with_layouts(state, code_copies!(follow)))
    }
}

impl Reference for Chase {
    fn checksum(&self, _source: &Source, window: Window) -> Checksum {
        let sum: u64 = (0..window.count).map(|step| u64::from(self.link_at(window.first + step))).sum();
        Checksum::EMPTY.fold(sum, 0).fold(u64::from(self.link_at(window.first + window.count)), 0)
    }
}

#[inline(never)]
fn follow<const COPY: usize>(state: &mut State, window: Window) -> Checksum {
    code_padding::<COPY>();
    // The field is chosen by moving the base, at run time: both walks execute the same instructions, and their loads the
    // same addressing mode (one with a displacement takes a cycle longer on some cores).
    let field = std::mem::offset_of!(Node, random) + state.chase.walk as usize * size_of::<u32>();
    let base = state.input.items::<Node>().as_ptr().cast::<u8>().wrapping_add(std::hint::black_box(field));
    let (mut at, mut sum) = (state.chase.link_at(window.first), 0u64);
    for _ in 0..window.count {
        sum += u64::from(at);
        // SAFETY: links are offsets of nodes inside the items, and `field` is the offset of an aligned u32 in a node.
        at = unsafe { base.add(at as usize).cast::<u32>().read() };
    }
    Checksum::EMPTY.fold(sum, 0).fold(u64::from(at), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn the_random_cycle_visits_every_node_once(count in 2usize..3000, seed: u64) {
            let cycle = Cycle::new(count, seed, &Watch::new()).expect("made");
            let mut seen = vec![false; count];
            let mut at = 0usize;
            for step in 0..count {
                prop_assert!(!seen[at], "back at {} after {} steps", at, step);
                prop_assert_eq!(cycle.visits[step] as usize, at);
                seen[at] = true;
                at = cycle.nodes[at].random as usize / NODE_BYTES;
            }
            prop_assert_eq!(at, 0);
        }

        #[test]
        fn arms_fold_what_the_reference_says(first in 0usize..5000, count in 1usize..5000, seed: u64) {
            let cycle = Arc::new(Cycle::new(64, seed, &Watch::new()).expect("made"));
            let source = Source::from_items_with(cycle.nodes.clone(), 1 << 14);
            for (walk, ahead) in [(Walk::Random, 0), (Walk::Random, 32), (Walk::Sequential, 0)] {
                let chase = Chase { cycle: Arc::clone(&cycle), walk, ahead };
                let mut placement = Placement::new(seed);
                let input = source.place(&mut placement).expect("placed");
                let mut arm = chase.build(&input, &mut placement).expect("built");
                let window = Window { first, count };
                prop_assert_eq!(arm.run(window), chase.checksum(&source, window));
            }
        }
    }
}
