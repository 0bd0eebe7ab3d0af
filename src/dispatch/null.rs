//! The floor: the loop without finding and calling anybody.

use super::{HandlerSet, Outcome, UNSUPPORTED};
use crate::Result;
use crate::race::placement::code_copies;
use crate::race::{
    Arm, Checksum, Input, PlacedSlice, Placement, Recipe, Reference, Source, Window, code_padding,
};
use crate::traffic::Packet;

/// The harness's own cost: the same loop, the same fold of a value and a number read from the packet, unmatched packets
/// folded as unsupported like anywhere else (one bit a key says whether anybody claimed it), no selection, no call.
#[derive(Debug, Clone)]
pub struct NullRecipe {
    claimed: Vec<u64>,
}

/// Words of a bitset with one bit for each 16-bit key.
const WORDS: usize = (1 << 16) / 64;

impl NullRecipe {
    /// The arm's name.
    pub const NAME: &'static str = "null";
    /// What it does, in one line.
    pub const HELP: &'static str = "the loop and the fold alone: no selection, no call";

    /// The floor under arms over `set`.
    pub fn new(set: &HandlerSet) -> Self {
        let mut claimed = vec![0; WORDS];
        for spec in set.specs() {
            claimed[usize::from(spec.key) / 64] |= 1 << (spec.key % 64);
        }
        NullRecipe { claimed }
    }
}

struct Null {
    claimed: PlacedSlice<u64>,
    input: Input,
}

#[inline(always)]
fn outcome(claimed: &[u64], packet: &Packet) -> Outcome {
    if claimed[usize::from(packet.protocol / 64)] >> (packet.protocol % 64) & 1 == 0 {
        return UNSUPPORTED;
    }
    let value = u64::from_le_bytes(*packet.payload.first_chunk().expect("24 bytes hold 8"));
    Outcome { value, handler: packet.protocol }
}

#[inline(never)]
fn replay<const COPY: usize>(state: &mut Null, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let claimed = &state.claimed[..WORDS];
    let mut checksum = Checksum::EMPTY;
    for packet in packets {
        let outcome = outcome(claimed, packet);
        checksum = checksum.fold(outcome.value, outcome.handler);
    }
    checksum
}

impl Recipe for NullRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let claimed = placement.place_slice(&self.claimed, 64)?;
        Ok(Arm::with_layouts(Null { claimed, input: input.clone() }, code_copies!(replay)))
    }

    fn footprint_bytes(&self) -> Option<usize> {
        Some(WORDS * 8)
    }
}

/// What the null arm must compute.
#[derive(Debug, Clone)]
pub struct NullReference {
    keys: Vec<u16>,
}

impl NullReference {
    /// For the null arm over `set`.
    pub fn new(set: &HandlerSet) -> Self {
        let mut keys = set.keys();
        keys.sort_unstable();
        NullReference { keys }
    }
}

impl Reference for NullReference {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let packets = &source.items::<Packet>()[window.first..][..window.count];
        packets.iter().fold(Checksum::EMPTY, |checksum, packet| {
            if self.keys.binary_search(&packet.protocol).is_err() {
                return checksum.fold(0, 0xFFFF);
            }
            let low = packet.payload[..8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            checksum.fold(low, packet.protocol)
        })
    }
}
