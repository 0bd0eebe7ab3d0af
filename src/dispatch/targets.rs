//! Indirect calls of tiny bodies, in an order of choice: targets to predict, and no code to fetch.
//!
//! The loop reads which handler is due, takes its pointer from an array and calls it through its vtable. All orders run
//! the same instructions over the same packets and the same objects; what differs is the sequence of numbers that is
//! read. Each order has call sites of its own, though: a core may predict a call that has had several targets in another
//! way than one that always had the same (AMD, Software Optimization Guide for the AMD Zen4 Microarchitecture,
//! publication 57647, on the indirect target predictor), and one target would be charged for what another arm did at its
//! site. Seen on Zen 4: one target cost 2.2 ns, and 3.1 ns at a site that random targets had just been called from.

use std::fmt;
use std::sync::Arc;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use seq_macro::seq;

use super::objects::{HandlerPointer, Objects};
use super::{Handler, HandlerSet, reference};
use crate::race::{
    Arm, CODE_COPIES, Checksum, Input, PlacedSlice, Placement, Recipe, Reference, Source, Watch, Window,
    code_padding,
};
use crate::traffic::Packet;
use crate::{Error, Result};

/// In which order the targets are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetOrder {
    /// Always the first.
    One,
    /// One after the other, again and again: a predictor that remembers enough of the past can know the next.
    Periodic,
    /// Drawn anew for each packet, each equally likely: nothing in the past tells the next.
    Random,
}

impl TargetOrder {
    /// All of them.
    pub const ALL: [TargetOrder; 3] = [TargetOrder::One, TargetOrder::Periodic, TargetOrder::Random];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TargetOrder::One => "one",
            TargetOrder::Periodic => "periodic",
            TargetOrder::Random => "random",
        }
    }

    /// What it does, in one line.
    pub fn help(self) -> &'static str {
        match self {
            TargetOrder::One => "always the same target",
            TargetOrder::Periodic => "all targets one after the other, again and again",
            TargetOrder::Random => "a target drawn for each packet, each equally likely",
        }
    }
}

impl fmt::Display for TargetOrder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// How to build an arm that calls the handlers of a set in some order; it computes what [`TargetsReference`] says.
#[derive(Debug, Clone)]
pub struct TargetsRecipe {
    set: HandlerSet,
    order: TargetOrder,
    sequence: Arc<[u16]>,
}

/// Numbers drawn between two looks at the watch: below a millisecond.
const CHUNK: usize = 1 << 16;

impl TargetsRecipe {
    /// All handlers of `set` as targets, for `packets` packets; keys and predicates don't matter. `seed` draws the
    /// random order.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once `watch` is stopped.
    pub fn new(
        set: &HandlerSet,
        order: TargetOrder,
        packets: usize,
        seed: u64,
        watch: &Watch,
    ) -> Result<Self> {
        let targets = set.len() as u16;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut sequence = Vec::with_capacity(packets);
        for at in 0..packets {
            if at % CHUNK == 0 {
                watch.check()?;
            }
            sequence.push(match order {
                TargetOrder::One => 0,
                TargetOrder::Periodic => (at % set.len()) as u16,
                TargetOrder::Random => random.random_range(0..targets),
            });
        }
        Ok(TargetsRecipe { set: set.clone(), order, sequence: sequence.into() })
    }

    /// Whose turn it is, a number a packet.
    pub fn sequence(&self) -> &[u16] {
        &self.sequence
    }
}

struct State {
    handlers: PlacedSlice<HandlerPointer>,
    _objects: Objects,
    sequence: PlacedSlice<u16>,
    input: Input,
}

#[inline(never)]
fn replay<const COPY: usize>(state: &mut State, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let due = &state.sequence[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for (packet, &target) in packets.iter().zip(due) {
        // SAFETY: `new` made numbers below the set's length, and there is a pointer for each; `_objects` keeps what it
        // points to.
        let handler: &dyn Handler = unsafe { state.handlers.get_unchecked(usize::from(target)).get() };
        let outcome = handler.process(packet);
        checksum = checksum.fold(outcome.value, outcome.handler);
    }
    checksum
}

/// An order's loops: [`CODE_COPIES`] that no other order runs. Eight steps of padding are two cache lines, so each
/// order's copies lie in the same places of theirs.
fn loops(order: TargetOrder) -> [fn(&mut State, Window) -> Checksum; CODE_COPIES] {
    match order {
        TargetOrder::One => seq!(COPY in 0..8 { [#(replay::<COPY>,)*] }),
        TargetOrder::Periodic => seq!(COPY in 8..16 { [#(replay::<COPY>,)*] }),
        TargetOrder::Random => seq!(COPY in 16..24 { [#(replay::<COPY>,)*] }),
    }
}

/// Where an order's loops lie.
#[cfg(test)]
pub(super) fn loop_addresses(order: TargetOrder) -> [usize; CODE_COPIES] {
    loops(order).map(|replay| replay as usize)
}

impl Recipe for TargetsRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        if input.operations() > self.sequence.len() {
            let wanted = format!("wanted at most {}, for which the order was made", self.sequence.len());
            return Err(Error::invalid("packets", input.operations(), wanted));
        }
        let objects = Objects::place(&self.set, placement)?;
        // By number, whatever the registration order.
        let mut pointers = objects.pointers().to_vec();
        for (&pointer, (id, _)) in objects.pointers().iter().zip(self.set.registered()) {
            pointers[id] = pointer;
        }
        let state = State {
            handlers: placement.place_slice(&pointers, 64)?,
            _objects: objects,
            sequence: placement.place_slice(&self.sequence, 64)?,
            input: input.clone(),
        };
        Ok(Arm::with_layouts(state, loops(self.order)))
    }
}

/// What such an arm must compute.
#[derive(Debug, Clone)]
pub struct TargetsReference {
    recipe: TargetsRecipe,
}

impl TargetsReference {
    /// For arms in that order.
    pub fn new(recipe: &TargetsRecipe) -> Self {
        TargetsReference { recipe: recipe.clone() }
    }
}

impl Reference for TargetsReference {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let body = self.recipe.set.body();
        let packets = &source.items::<Packet>()[window.first..][..window.count];
        let due = &self.recipe.sequence[window.first..][..window.count];
        packets.iter().zip(due).fold(Checksum::EMPTY, |checksum, (packet, &target)| {
            checksum.fold(reference::value(body, usize::from(target), packet), target)
        })
    }
}
