//! The timed loop: select, call, fold, for each packet of a window; compiled once for each selection, mechanism and
//! code copy.

use super::arm_code::Places;
use super::mechanism::Call;
use super::probes::{NoProbes, ProbeCounter};
use super::{Handler, Outcome, UNSUPPORTED};
use crate::race::placement::code_copies;
use crate::race::{Arm, CODE_COPIES, Checksum, Input, Window, code_padding};
use crate::traffic::Packet;

/// Finds the handler of a packet.
pub(super) trait Select: Send + 'static {
    /// The first handler, in the selection's order, that matches; `None` where none does.
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler>;

    /// Bytes of the structures that selecting touches or reserves: lists (a pointer to a handler is 16 bytes), keys,
    /// flags, slots, candidates. The handlers' own objects are left out: every arm has the same.
    fn footprint_bytes(&self) -> usize;
}

/// Selects and calls for one packet.
#[inline(always)]
pub(super) fn dispatch<S: Select, C: Call, P: ProbeCounter>(
    selection: &mut S,
    packet: &Packet,
    probes: &mut P,
) -> Outcome {
    match selection.select(packet, probes) {
        Some(handler) => C::call(handler, packet),
        None => UNSUPPORTED,
    }
}

/// Finds a packet's handler and calls it, where the two can't be told apart or the handler isn't an object.
pub(super) trait Dispatch: Send + 'static {
    /// Whether what it calls is compiled once for all code copies, so that copies of the loop would only pretend to be
    /// several layouts.
    const COMPILED_ONCE: bool = false;

    /// What comes out for one packet. `COPY` is the code copy of the loop that calls it: what isn't inlined into the loop
    /// may have copies of its own.
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome;

    /// Bytes of the structures that selecting touches or reserves; code isn't counted.
    fn footprint_bytes(&self) -> usize {
        0
    }

    /// Where its functions outside the loop lie, handlers' own apart; where there are copies, the first.
    fn out_of_line() -> Vec<usize> {
        Vec::new()
    }
}

struct Dispatching<D> {
    dispatch: D,
    input: Input,
}

#[inline(never)]
fn replay_dispatch<D: Dispatch, const COPY: usize>(state: &mut Dispatching<D>, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for packet in packets {
        let outcome = state.dispatch.dispatch::<COPY>(packet);
        checksum = checksum.fold(outcome.value, outcome.handler);
    }
    checksum
}

type Loop<D> = fn(&mut Dispatching<D>, Window) -> Checksum;

/// An arm that dispatches by `dispatch`, in every code copy (or in the only one).
pub(super) fn dispatching<D: Dispatch>(dispatch: D, input: &Input) -> Arm {
    let state = Dispatching { dispatch, input: input.clone() };
    if const { D::COMPILED_ONCE } {
        return Arm::new(state, replay_dispatch::<D, 0>);
    }
    let copies: [Loop<D>; CODE_COPIES] = code_copies!(replay_dispatch, D);
    Arm::with_layouts(state, copies)
}

/// Where the code of an arm that dispatches by `D` lies.
pub(super) fn places<D: Dispatch>(_: &D) -> Places {
    let loops = if const { D::COMPILED_ONCE } {
        let only: Loop<D> = replay_dispatch::<D, 0>;
        vec![only as usize]
    } else {
        let copies: [Loop<D>; CODE_COPIES] = code_copies!(replay_dispatch, D);
        copies.iter().map(|&copy| copy as usize).collect()
    };
    Places { loops, outside: D::out_of_line() }
}

/// Finds and calls: what a replaying arm is made of.
struct Replay<S> {
    selection: S,
    input: Input,
}

#[inline(never)]
fn replay<S: Select, C: Call, const COPY: usize>(state: &mut Replay<S>, window: Window) -> Checksum {
    code_padding::<COPY>();
    // The one bounds check of a window.
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for packet in packets {
        let outcome = dispatch::<S, C, _>(&mut state.selection, packet, &mut NoProbes);
        checksum = checksum.fold(outcome.value, outcome.handler);
    }
    checksum
}

/// An arm that selects with `selection` and calls by `C`, in every code copy.
pub(super) fn arm<S: Select, C: Call>(selection: S, input: &Input) -> Arm {
    Arm::with_layouts(Replay { selection, input: input.clone() }, code_copies!(replay, S, C))
}
