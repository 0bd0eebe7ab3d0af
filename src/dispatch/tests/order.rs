//! Order is behaviour, and may not follow the traffic.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::uniform;
use crate::dispatch::{Body, HandlerSet, HandlerSpec, Residual, order, reference};
use crate::race::Outcome;
use crate::traffic::Packet;

fn packet(protocol: u16) -> Packet {
    Packet { protocol, length: 32, flow: 0, payload: [0; 24] }
}

#[test]
fn registration_order_decides_between_overlapping_handlers() {
    let spec = |key, residual| HandlerSpec { key, residual };
    let low = Residual::Range { offset: 0, low: 0, high: 127 };
    let specs = vec![spec(6, low), spec(6, Residual::None), spec(17, Residual::None)];
    let set = HandlerSet::from_specs(specs, Body::Tiny).unwrap();
    assert_eq!(set.overlaps(), [(0, 1)]);
    let reversed = set.reordered(&[2, 1, 0]).unwrap();
    assert_eq!(reference::running(&set, &packet(6)), Some(0));
    assert_eq!(reference::running(&reversed, &packet(6)), Some(1));
    let packets = [packet(6), packet(6), packet(17), packet(99)];
    assert_eq!(order::changed_handlers(&set, &packets, &[0, 1, 2], &[2, 1, 0]).unwrap(), 2);
}

#[test]
fn frequency_is_that_of_the_handler_that_runs() {
    // Handler 1 has the busiest key too, but handler 0 is asked first and takes it all.
    let spec = |key| HandlerSpec { key, residual: Residual::None };
    let set = HandlerSet::from_specs(vec![spec(6), spec(6), spec(17)], Body::Tiny).unwrap();
    let packets = [6, 6, 6, 17, 17].map(packet);
    assert_eq!(order::run_counts(&set, &packets), (vec![3, 0, 2], 0));
    assert_eq!(order::frequency_order(&set, &packets), [0, 2, 1]);
}

/// Zipf-shaped traffic in registration order: the generator that reverses the conclusion.
fn zipf(set: &HandlerSet) -> Vec<Packet> {
    let keys = set.keys();
    (0..set.len()).flat_map(|n| std::iter::repeat_n(packet(keys[n]), 2000 / (n + 1))).collect()
}

#[test]
fn a_rigged_generator_is_noticed() {
    let set = HandlerSet::standard(100, Body::Tiny, 0.0, 7).unwrap();
    let rigged = zipf(&set);
    let found = order::busiest_first(&set, &rigged).unwrap();
    assert_eq!((found.busiest, found.position), (0, 0));
    assert!(found.chance < 0.01 && found.gain_left() < 0.001);
    assert_eq!(found.check().outcome, Outcome::Failed);
    // The same traffic over a shuffled list leaves sorting something to do.
    for seed in 0..20 {
        let mut shuffled: Vec<usize> = (0..100).collect();
        shuffled.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let found = order::busiest_first(&set.reordered(&shuffled).unwrap(), &rigged).unwrap();
        assert_eq!(found.check().outcome, Outcome::Held, "{}", found.check().detail);
        assert_eq!(found.busiest, 0);
    }
    // Two hot handlers at the front, the rest even.
    let mut two: Vec<Packet> = (0..100).flat_map(|n| std::iter::repeat_n(packet(n), 10)).collect();
    two.extend((0..20_000).map(|n| packet(n % 2)));
    assert_eq!(order::busiest_first(&set, &two).unwrap().check().outcome, Outcome::Failed);
}

#[test]
fn uniform_traffic_has_no_order_to_follow() {
    let set = HandlerSet::standard(100, Body::Tiny, 0.10, 7).unwrap();
    let found = order::busiest_first(&set, &uniform(&set, 32_768, 3)).unwrap();
    assert_eq!(found.check().outcome, Outcome::NotApplicable);
    assert!(order::busiest_first(&set, &[packet(5000)]).is_none());
    assert!(order::busiest_first(&set, &[]).is_none());
}

#[test]
fn a_capture_claims_its_most_frequent_keys_in_no_order_of_frequency() {
    let packets: Vec<Packet> =
        (0..50_u16).flat_map(|key| std::iter::repeat_n(packet(key * 7), 100 - usize::from(key))).collect();
    let set = HandlerSet::from_packets(&packets, 20, Body::Tiny, 3).unwrap();
    let mut keys = set.keys();
    assert!(!keys.is_sorted());
    keys.sort_unstable();
    assert_eq!(keys, (0..20).map(|key| key * 7).collect::<Vec<u16>>());
    assert_eq!(order::run_counts(&set, &packets).1, (20..50).map(|key| 100 - key).sum::<usize>());
    assert_eq!(HandlerSet::from_packets(&packets, 20, Body::Tiny, 3).unwrap().keys(), set.keys());
    assert_ne!(HandlerSet::from_packets(&packets, 20, Body::Tiny, 4).unwrap().keys(), set.keys());
    assert_eq!(HandlerSet::from_packets(&packets, 100, Body::Tiny, 3).unwrap().len(), 50);
}
