//! What arms must compute, by plain code: no trait object, no table, no generated body, nothing shared with an arm.

use super::body::{ROTATION, addend, factor};
use super::{Body, HandlerSet, HandlerSpec, Residual};
use crate::race::{Checksum, Reference, Source, Window};
use crate::traffic::Packet;

/// Whether a packet satisfies a handler's predicate; an opaque one is for the handler itself to tell.
pub fn matches(spec: HandlerSpec, packet: &Packet) -> bool {
    let byte = |offset: u8| packet.payload[usize::from(offset)];
    spec.key == packet.protocol
        && match spec.residual {
            Residual::None => true,
            Residual::Mask { offset, mask, value } => byte(offset) & mask == value,
            Residual::Range { offset, low, high } => byte(offset) >= low && byte(offset) <= high,
            Residual::Flow { active } => active & (1 << (packet.flow % 64)) != 0,
            Residual::Opaque => false,
        }
}

/// What a search through the handlers comes to.
enum Found {
    /// A built-in one runs.
    BuiltIn(usize),
    /// One from elsewhere runs, and has computed this; or nothing, against its word.
    Foreign(usize, Option<u64>),
}

/// The first handler in registration order that matches. One from elsewhere is asked at most once, since only its own code
/// says what its packets are.
fn find(set: &HandlerSet, packet: &Packet) -> Option<Found> {
    for (id, spec) in set.registered() {
        if let Some((members, place)) = set.foreign().iter().find_map(|all| Some((all, all.place(id)?))) {
            if spec.key != packet.protocol {
                continue;
            }
            // Who breaks its word is refused before a race; here it has computed nothing, as in the arms.
            let computed = members.ask(place, packet).ok().flatten();
            if computed.is_some() || spec.residual.is_none() {
                return Some(Found::Foreign(id, computed));
            }
        } else if matches(spec, packet) {
            return Some(Found::BuiltIn(id));
        }
    }
    None
}

/// The handler that runs: the first in registration order that matches.
pub fn running(set: &HandlerSet, packet: &Packet) -> Option<usize> {
    match find(set, packet)? {
        Found::BuiltIn(id) | Found::Foreign(id, Some(_)) => Some(id),
        Found::Foreign(_, None) => None,
    }
}

/// What handler `n`'s body makes of a packet: a loop over the rounds, where the bodies are unrolled.
pub fn value(body: Body, n: usize, packet: &Packet) -> u64 {
    let (program, n) = match body {
        Body::Fat => (0, n),
        Body::Tiny => (1, n),
        Body::Identical => (0, 0),
    };
    let mut chains = [0_u64; 4];
    for round in 0..body.rounds() {
        let chain = &mut chains[round % 4];
        *chain ^= word(packet, round % 3).wrapping_add(addend(program, n, round));
        *chain = chain.wrapping_mul(factor(program, n, round)).rotate_left(ROTATION);
        *chain = chain.wrapping_add(word(packet, (round + 1) % 3));
    }
    (0..).step_by(16).zip(chains).fold(0, |value, (turn, chain)| value ^ chain.rotate_left(turn))
}

/// Word `at` of a payload, little-endian.
fn word(packet: &Packet, at: usize) -> u64 {
    packet.payload[8 * at..][..8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn fold(
    set: &HandlerSet,
    source: &Source,
    window: Window,
    value: impl Fn(usize, &Packet) -> u64,
) -> Checksum {
    let packets = &source.items::<Packet>()[window.first..][..window.count];
    packets.iter().fold(Checksum::EMPTY, |checksum, packet| match find(set, packet) {
        Some(Found::BuiltIn(id)) => checksum.fold(value(id, packet), set.signature(id)),
        Some(Found::Foreign(id, Some(value))) => checksum.fold(value, set.signature(id)),
        Some(Found::Foreign(_, None)) | None => checksum.fold(0, 0xFFFF),
    })
}

/// What every selection arm, and every mechanism but `direct`, must compute.
#[derive(Debug, Clone)]
pub struct ScanReference {
    set: HandlerSet,
}

impl ScanReference {
    /// For arms over `set`.
    pub fn new(set: &HandlerSet) -> Self {
        ScanReference { set: set.clone() }
    }
}

impl Reference for ScanReference {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let body = self.set.body();
        fold(&self.set, source, window, |id, packet| value(body, id, packet))
    }
}

/// What the `direct` mechanism must compute: body 0's value, under the number of the handler that was selected.
#[derive(Debug, Clone)]
pub struct DirectReference {
    set: HandlerSet,
}

impl DirectReference {
    /// For the direct arm over `set`.
    pub fn new(set: &HandlerSet) -> Self {
        DirectReference { set: set.clone() }
    }
}

impl Reference for DirectReference {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let body = self.set.body();
        fold(&self.set, source, window, |_, packet| value(body, 0, packet))
    }
}
