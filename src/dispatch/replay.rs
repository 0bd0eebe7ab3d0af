//! The timed loop: select, call, fold, for each packet of a window; compiled once for each selection, mechanism and
//! code copy.

use super::mechanism::Call;
use super::probes::{NoProbes, ProbeCounter};
use super::{Handler, Outcome, UNSUPPORTED};
use crate::race::placement::code_copies;
use crate::race::{Arm, Checksum, Input, Window, code_padding};
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
