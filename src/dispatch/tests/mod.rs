//! Tests of dispatch: what agrees, what is exact, what is refused, and what is noticed when it is broken.

mod agreement;
mod bodies;
// Decoded here: elsewhere machine code isn't.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod code;
mod faulty;
mod figures;
mod order;
mod refusals;
mod sabotage;
mod straight;
mod targets;
mod worst;

use proptest::collection::vec;
use proptest::prelude::*;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::{HandlerSet, HandlerSpec, Residual, overlap};
use crate::race::{Source, Window};
use crate::traffic::Packet;

/// Keys that collide in every way: neighbours, equal low bits up to 16 KiB tables, both ends.
fn key() -> impl Strategy<Value = u16> {
    prop_oneof![0_u16..12, (0_u16..12).prop_map(|n| n * 1024 + 3), Just(u16::MAX), any::<u16>()]
}

fn residual() -> impl Strategy<Value = Residual> {
    prop_oneof![
        2 => Just(Residual::None),
        3 => (0_u8..2, any::<u8>(), any::<u8>())
            .prop_map(|(offset, mask, value)| Residual::Mask { offset, mask, value: value & mask }),
        2 => (22_u8..24, any::<u8>(), any::<u8>())
            .prop_map(|(offset, a, b)| Residual::Range { offset, low: a.min(b), high: a.max(b) }),
        1 => any::<u64>().prop_map(|active| Residual::Flow { active }),
    ]
}

/// Any handlers, overlapping ones too.
fn specs() -> impl Strategy<Value = Vec<HandlerSpec>> {
    vec((key(), residual()).prop_map(|(key, residual)| HandlerSpec { key, residual }), 1..60)
}

/// Handlers of which no two can match one packet.
fn disjoint_specs() -> impl Strategy<Value = Vec<HandlerSpec>> {
    specs().prop_map(|specs| {
        let mut disjoint = Vec::<HandlerSpec>::new();
        for spec in specs {
            disjoint.push(spec);
            if !overlap::pairs(&disjoint).is_empty() {
                disjoint.pop();
            }
        }
        disjoint
    })
}

/// Packets with claimed keys mostly, uniform payload and flow.
fn packets(set: &HandlerSet, count: usize, seed: u64) -> Vec<Packet> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let keys = set.keys();
    (0..count)
        .map(|_| {
            let protocol = match random.random_range(0..10_u8) {
                0 => random.random(),
                _ => keys[random.random_range(0..keys.len())],
            };
            Packet { protocol, length: 32, flow: random.random(), payload: random.random() }
        })
        .collect()
}

/// Each handler's key drawn equally often, 2 % of keys that nobody claims; payload and flow uniform.
fn uniform(set: &HandlerSet, count: usize, seed: u64) -> Vec<Packet> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let keys = set.keys();
    (0..count)
        .map(|_| {
            let protocol = if random.random_bool(0.02) {
                random.random_range(4096..=4351)
            } else {
                keys[random.random_range(0..keys.len())]
            };
            Packet { protocol, length: 32, flow: random.random(), payload: random.random() }
        })
        .collect()
}

fn whole(source: &Source) -> Window {
    Window { first: 0, count: source.operations() }
}
