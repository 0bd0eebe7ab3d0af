//! Packet by packet: the work in the loop, behind a trait object, behind a plugin's `process`.

use std::ptr::NonNull;

use super::batch::fold;
use super::service::serve;
use crate::Result;
use crate::dispatch::{Outcome, UNSUPPORTED, mark_copy};
use crate::plugin::{Instance, view};
use crate::race::placement::{Keep, code_copies};
use crate::race::{Arm, CODE_COPIES, Checksum, Input, Placement, Window, code_padding};
use crate::traffic::Packet;

struct Inlined {
    input: Input,
    first: u16,
}

#[inline(never)]
fn run_inlined<const COPY: usize>(state: &mut Inlined, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for packet in packets {
        let outcome = serve(state.first, packet.protocol, &packet.payload).unwrap_or(UNSUPPORTED);
        checksum = checksum.fold(outcome.value, outcome.handler);
    }
    checksum
}

/// The work where the compiler may inline it.
pub(super) fn inlined(first: u16, input: &Input) -> Arm {
    Arm::with_layouts(Inlined { input: input.clone(), first }, code_copies!(run_inlined))
}

/// What a host of its own would have: an object behind `dyn`.
trait Service {
    fn process(&self, packet: &Packet) -> Outcome;
}

/// One of the copies of it, which differ in where their code lies.
#[derive(Clone, Copy)]
struct Copied<const COPY: usize> {
    first: u16,
}

impl<const COPY: usize> Service for Copied<COPY> {
    #[inline(never)]
    fn process(&self, packet: &Packet) -> Outcome {
        mark_copy::<COPY>();
        serve(self.first, packet.protocol, &packet.payload).unwrap_or(UNSUPPORTED)
    }
}

struct Behind {
    input: Input,
    services: [NonNull<dyn Service>; CODE_COPIES],
    _keep: Vec<Keep>,
}

// SAFETY: the objects are plain values that nobody writes, alive as long as `_keep`.
unsafe impl Send for Behind {}

#[inline(never)]
fn run_behind<const COPY: usize>(state: &mut Behind, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    // Hidden from the optimiser, which could otherwise see whose vtable it is and call directly.
    // SAFETY: placed, never written, and kept.
    let service = unsafe { std::hint::black_box(state.services[COPY]).as_ref() };
    let mut checksum = Checksum::EMPTY;
    for packet in packets {
        let outcome = service.process(packet);
        checksum = checksum.fold(outcome.value, outcome.handler);
    }
    checksum
}

/// The work behind a trait object, by an indirect call a packet.
pub(super) fn behind_dyn(first: u16, input: &Input, placement: &mut Placement) -> Result<Arm> {
    let mut keep = Vec::new();
    macro_rules! place {
        ($($copy:literal)*) => {
            [$({
                let (object, kept) = placement.place(Copied::<$copy> { first })?.into_parts();
                keep.push(kept);
                object as NonNull<dyn Service>
            }),*]
        };
    }
    let services = place!(0 1 2 3 4 5 6 7);
    let state = Behind { input: input.clone(), services, _keep: keep };
    Ok(Arm::with_layouts(state, code_copies!(run_behind)))
}

struct Foreign {
    input: Input,
    instance: Instance,
    /// Added to each key, for a plugin whose own begin elsewhere than the packets'.
    moved: u16,
}

#[inline(never)]
fn run_foreign<const COPY: usize>(state: &mut Foreign, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for packet in packets {
        let mut lent = view(packet);
        lent.protocol = lent.protocol.wrapping_add(state.moved);
        // SAFETY: the packet lives through the call.
        checksum = fold(checksum, unsafe { state.instance.process_view(&lent) });
    }
    checksum
}

/// A plugin's `process`: a view built, a result written, status and claim read, for each packet. The loop has several code
/// layouts, the plugin but one.
pub(super) fn foreign(instance: Instance, moved: u16, input: &Input) -> Arm {
    Arm::with_layouts(Foreign { input: input.clone(), instance, moved }, code_copies!(run_foreign))
}

/// Where the first copy of the loops of [`inlined`], [`behind_dyn`] and [`foreign`] lies.
pub(super) fn places() -> [usize; 3] {
    let inlined: fn(&mut Inlined, Window) -> Checksum = run_inlined::<0>;
    let behind: fn(&mut Behind, Window) -> Checksum = run_behind::<0>;
    let foreign: fn(&mut Foreign, Window) -> Checksum = run_foreign::<0>;
    [inlined as usize, behind as usize, foreign as usize]
}
