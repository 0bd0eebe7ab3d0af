//! Entry points: small functions in front of bodies, as jump thunks of an incremental linker or wrappers of a framework are.
//!
//! Each has an address and a few bytes of code of its own, whatever lies behind it: of that, addresses say nothing.

use seq_macro::seq;

use super::body::Fat;
use super::generated::{Code, Fields, Generated};
use super::handler::{Handler, Outcome};
use super::{Body, HandlerSpec, Residual, reference};
use crate::Result;
use crate::race::placement::code_copies;
use crate::race::{
    Arm, Checksum, Input, PlacedSlice, Placement, Recipe, Reference, Source, Window, code_padding,
};
use crate::traffic::Packet;

type Entry = fn(&Fields, &Packet) -> Outcome;

/// What lies behind the entry points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// One fat body behind all of them.
    OneBody,
    /// A fat body of its own behind each.
    OwnBody,
}

fn process<const N: usize>(fields: &Fields, packet: &Packet) -> Outcome {
    let handler = std::ptr::from_ref(fields).cast::<Generated<N, Fat>>();
    // SAFETY: `Generated` is a transparent wrapper of `Fields`.
    unsafe { &*handler }.process(packet)
}

/// Signed here, so that no two entry points are the same code and none can be merged with another.
#[inline(never)]
fn one_body<const N: usize>(fields: &Fields, packet: &Packet) -> Outcome {
    Outcome { handler: N as u16, ..process::<0>(fields, packet) }
}

#[inline(never)]
fn own_body<const N: usize>(fields: &Fields, packet: &Packet) -> Outcome {
    Outcome { handler: N as u16, ..process::<N>(fields, packet) }
}

seq!(N in 0..1024 {
    static ONE_BODY: [Entry; 1024] = [#(one_body::<N>,)*];
    static OWN_BODY: [Entry; 1024] = [#(own_body::<N>,)*];
});

impl Behind {
    fn entries(self, count: usize) -> &'static [Entry] {
        match self {
            Behind::OneBody => &ONE_BODY[..count],
            Behind::OwnBody => &OWN_BODY[..count],
        }
    }

    /// Where each of the first `count` entry points lies.
    pub fn addresses(self, count: usize) -> Vec<usize> {
        self.entries(count).iter().map(|entry| *entry as *const () as usize).collect()
    }

    /// What the body behind each of the first `count` entry points makes of a packet.
    pub fn values(self, count: usize, packet: &Packet) -> Vec<u64> {
        let fields = fields();
        self.entries(count).iter().map(|entry| entry(&fields, packet).value).collect()
    }
}

/// Bytes from the first to the last of these addresses.
pub fn span(addresses: &[usize]) -> usize {
    let ends = addresses.iter().min().zip(addresses.iter().max());
    ends.map_or(0, |(first, last)| last - first)
}

/// How many of these differ.
pub fn distinct<T: Copy + Ord>(items: &[T]) -> usize {
    let mut items = items.to_vec();
    items.sort_unstable();
    items.dedup();
    items.len()
}

fn fields() -> Fields {
    Code::of(Body::Fat, 0).fields(0, HandlerSpec { key: 0, residual: Residual::None })
}

/// An arm that calls one entry point a packet, by the packet's key, as recipe and as reference.
#[derive(Debug, Clone, Copy)]
pub struct EntryPoints {
    behind: Behind,
    /// How many are called in turn with the packets' keys; keys are below.
    count: usize,
    /// All packets go to entry point 0 instead.
    first_only: bool,
}

impl EntryPoints {
    /// One of the first `count` entry points, by the packet's key; or always the first.
    pub fn new(behind: Behind, count: usize, first_only: bool) -> Self {
        EntryPoints { behind, count, first_only }
    }

    fn called(&self, key: u16) -> usize {
        if self.first_only { 0 } else { usize::from(key) % self.count }
    }
}

struct State {
    entries: PlacedSlice<Entry>,
    fields: PlacedSlice<Fields>,
    input: Input,
}

impl Recipe for EntryPoints {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        // As long in either case, so that both look their entry up in the same way.
        let entries: Vec<Entry> =
            (0..self.count).map(|at| self.behind.entries(self.count)[self.called(at as u16)]).collect();
        let entries = placement.place_slice(&entries, 64)?;
        let fields = placement.place_slice(&[fields()], 64)?;
        Ok(Arm::with_layouts(State { entries, fields, input: input.clone() }, code_copies!(call)))
    }
}

#[inline(never)]
fn call<const COPY: usize>(state: &mut State, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for packet in packets {
        let entry = state.entries[usize::from(packet.protocol) % state.entries.len()];
        let outcome = entry(&state.fields[0], packet);
        checksum = checksum.fold(outcome.value, outcome.handler);
    }
    checksum
}

impl Reference for EntryPoints {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let packets = &source.items::<Packet>()[window.first..][..window.count];
        packets.iter().fold(Checksum::EMPTY, |sum, packet| {
            let called = self.called(packet.protocol);
            let body = if self.behind == Behind::OneBody { 0 } else { called };
            sum.fold(reference::value(Body::Fat, body, packet), called as u16)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets() -> Vec<Packet> {
        (0..400u16)
            .map(|n| Packet { protocol: n % 100, length: 32, flow: 0, payload: [(n % 251) as u8; 24] })
            .collect()
    }

    #[test]
    fn arms_compute_what_their_references_say() {
        let source = Source::from_items(packets());
        let window = Window { first: 10, count: 350 };
        for behind in [Behind::OneBody, Behind::OwnBody] {
            for first_only in [false, true] {
                let arm = EntryPoints::new(behind, 100, first_only);
                let mut placement = Placement::new(3);
                let input = source.place(&mut placement).expect("placed");
                let mut built = arm.build(&input, &mut placement).expect("built");
                assert_eq!(built.run(window), arm.checksum(&source, window), "{behind:?} {first_only}");
            }
        }
    }

    #[test]
    fn addresses_tell_nothing_of_what_lies_behind() {
        let packet = packets()[7];
        for (behind, bodies) in [(Behind::OneBody, 1), (Behind::OwnBody, 1024)] {
            let addresses = behind.addresses(1024);
            assert_eq!(distinct(&addresses), 1024, "{behind:?}");
            assert_eq!(distinct(&behind.values(1024, &packet)), bodies, "{behind:?}");
        }
    }

    #[test]
    fn spans_and_counts_of_little_are_sound() {
        assert_eq!((span(&[]), span(&[7]), span(&[9, 4, 30])), (0, 0, 26));
        assert_eq!((distinct::<u8>(&[]), distinct(&[3, 1, 3])), (0, 2));
    }
}
