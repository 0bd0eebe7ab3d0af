//! Chasing links through lines of memory: each load's address comes from the load before.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::race::placement::code_copies;
use crate::race::{
    Arm, Ceiling, Checksum, Input, Placement, Recipe, Reference, Source, Watch, Window, code_padding,
};
use crate::{Error, Result};

/// Assumed bytes of a line: one node each. On 128-byte lines two nodes share one, which the card's check tells.
pub(in crate::experiments) const NODE_BYTES: usize = 64;

/// The least that a dependent load can take.
pub(in crate::experiments) fn ceiling() -> Ceiling {
    Ceiling {
        // The shortest load-to-use latency of any core known (Apple Firestorm, 3 cycles; x86 has 4 to 5): Agner Fog's
        // instruction tables.
        min_cycles: 3.0,
        formula: "each load waits for the one before: an L1 hit's latency".into(),
        source: "Agner Fog's instruction tables".into(),
    }
}

/// One cache line: where to go next, in each of the two orders. A link is the offset of the next node in bytes, so that
/// nothing but the load itself lies between two loads.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(in crate::experiments) struct Node {
    random: u32,
    sequential: u32,
    _rest: [u32; 14],
}

const _: () = assert!(
    std::mem::offset_of!(Node, sequential)
        == std::mem::offset_of!(Node, random) + Walk::Sequential as usize * size_of::<u32>()
);

/// The nodes, and the order in which the random cycle visits them.
pub(in crate::experiments) struct Cycle {
    /// One node a line.
    pub(in crate::experiments) nodes: Vec<Node>,
    visits: Vec<u32>,
}

impl Cycle {
    /// Sattolo's algorithm (Information Processing Letters 22:315, 1986): a uniformly drawn single cycle.
    pub(in crate::experiments) fn new(count: usize, seed: u64, watch: &Watch) -> Result<Self> {
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
pub(in crate::experiments) enum Walk {
    /// The random cycle.
    Random = 0,
    /// The lines in address order.
    Sequential = 1,
}

/// One arm, as recipe and as reference.
pub(in crate::experiments) struct Chase {
    cycle: Arc<Cycle>,
    walk: Walk,
    /// Steps by which this arm's windows lie ahead.
    ahead: usize,
}

impl Chase {
    /// Follows `walk`, `ahead` steps from its beginning.
    pub(in crate::experiments) fn new(cycle: Arc<Cycle>, walk: Walk, ahead: usize) -> Self {
        Chase { cycle, walk, ahead }
    }

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
                let chase = Chase::new(Arc::clone(&cycle), walk, ahead);
                let mut placement = Placement::new(seed);
                let input = source.place(&mut placement).expect("placed");
                let mut arm = chase.build(&input, &mut placement).expect("built");
                let window = Window { first, count };
                prop_assert_eq!(arm.run(window), chase.checksum(&source, window));
            }
        }
    }
}
