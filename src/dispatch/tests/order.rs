//! Order is behaviour, and may not follow the traffic.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::uniform;
use crate::Error;
use crate::dispatch::{
    Body, HandlerSet, HandlerSpec, Residual, SelectionArm, SelectionRecipe, audit, order, reference,
};
use crate::machine::Card;
use crate::race::{Outcome, Watch};
use crate::traffic::Packet;

fn busiest_first(set: &HandlerSet, packets: &[Packet]) -> Option<order::TrafficOrder> {
    order::busiest_first(set, packets, &Watch::new()).unwrap()
}

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
    assert_eq!(order::changed_handlers(&set, &packets, &[0, 1, 2], &[2, 1, 0], &Watch::new()).unwrap(), 2);
}

#[test]
fn frequency_is_that_of_the_handler_that_runs() {
    // Handler 1 has the busiest key too, but handler 0 is asked first and takes it all.
    let spec = |key| HandlerSpec { key, residual: Residual::None };
    let set = HandlerSet::from_specs(vec![spec(6), spec(6), spec(17)], Body::Tiny).unwrap();
    let packets = [6, 6, 6, 17, 17].map(packet);
    assert_eq!(order::run_counts(&set, &packets, &Watch::new()).unwrap(), (vec![3, 0, 2], 0));
    assert_eq!(order::frequency_order(&set, &packets, &Watch::new()).unwrap(), [0, 2, 1]);
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
    let found = busiest_first(&set, &rigged).unwrap();
    assert_eq!((found.busiest, found.position), (0, 0));
    assert!(found.chance < 0.01 && found.gain_left() < 0.001);
    assert_eq!(found.check().outcome, Outcome::Failed);
    // The same traffic over a shuffled list leaves sorting something to do.
    for seed in 0..20 {
        let mut shuffled: Vec<usize> = (0..100).collect();
        shuffled.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let found = busiest_first(&set.reordered(&shuffled).unwrap(), &rigged).unwrap();
        assert_eq!(found.check().outcome, Outcome::Held, "{}", found.check().detail);
        assert_eq!(found.busiest, 0);
    }
    // Two hot handlers at the front, the rest even.
    let mut two: Vec<Packet> = (0..100).flat_map(|n| std::iter::repeat_n(packet(n), 10)).collect();
    two.extend((0..20_000).map(|n| packet(n % 2)));
    assert_eq!(busiest_first(&set, &two).unwrap().check().outcome, Outcome::Failed);
}

#[test]
fn the_list_of_every_set_is_audited() {
    let set = HandlerSet::standard(100, Body::Tiny, 0.0, 7).unwrap();
    let reversed: Vec<usize> = (0..100).rev().collect();
    let turned = set.reordered(&reversed).unwrap();
    let packets = zipf(&set);
    let checks =
        audit::checks(&[&turned, &set, &turned, &set], &packets, &Card::blank(), &Watch::new()).unwrap();
    let seen: Vec<(&str, Outcome)> =
        checks.iter().map(|check| (check.name.as_str(), check.outcome)).collect();
    let expected = [
        ("bodies-distinct", Outcome::Held),
        ("list-not-sorted-beforehand", Outcome::Held),
        ("list-not-sorted-beforehand", Outcome::Failed),
        ("pool-in-cache", Outcome::NotApplicable),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn uniform_traffic_has_no_order_to_follow() {
    let set = HandlerSet::standard(100, Body::Tiny, 0.10, 7).unwrap();
    let found = busiest_first(&set, &uniform(&set, 32_768, 3)).unwrap();
    assert_eq!(found.check().outcome, Outcome::NotApplicable);
    assert!(busiest_first(&set, &[packet(5000)]).is_none());
    assert!(busiest_first(&set, &[]).is_none());
}

#[test]
fn a_capture_claims_its_most_frequent_keys_in_no_order_of_frequency() {
    let packets: Vec<Packet> =
        (0..50_u16).flat_map(|key| std::iter::repeat_n(packet(key * 7), 100 - usize::from(key))).collect();
    let set = HandlerSet::from_packets(&packets, 20, Body::Tiny, 3, &Watch::new()).unwrap();
    let mut keys = set.keys();
    assert!(!keys.is_sorted());
    keys.sort_unstable();
    assert_eq!(keys, (0..20).map(|key| key * 7).collect::<Vec<u16>>());
    assert_eq!(
        order::run_counts(&set, &packets, &Watch::new()).unwrap().1,
        (20..50).map(|key| 100 - key).sum::<usize>()
    );
    assert_eq!(
        HandlerSet::from_packets(&packets, 20, Body::Tiny, 3, &Watch::new()).unwrap().keys(),
        set.keys()
    );
    assert_ne!(
        HandlerSet::from_packets(&packets, 20, Body::Tiny, 4, &Watch::new()).unwrap().keys(),
        set.keys()
    );
    assert_eq!(HandlerSet::from_packets(&packets, 100, Body::Tiny, 3, &Watch::new()).unwrap().len(), 50);
}

#[test]
fn a_stopped_watch_ends_every_walk_over_the_packets() {
    let set = HandlerSet::standard(10, Body::Tiny, 0.10, 7).unwrap();
    let packets = uniform(&set, 100, 3);
    let order: Vec<usize> = (0..10).collect();
    let recipe = SelectionRecipe::new(SelectionArm::ScanOrdered, &set, None).unwrap();
    let watch = Watch::new();
    watch.stop();
    for stopped in [
        order::run_counts(&set, &packets, &watch).err(),
        order::frequency_order(&set, &packets, &watch).err(),
        order::changed_handlers(&set, &packets, &order, &order, &watch).err(),
        order::busiest_first(&set, &packets, &watch).err(),
        HandlerSet::from_packets(&packets, 5, Body::Tiny, 3, &watch).err(),
        recipe.settled_for(&packets, &watch).err(),
    ] {
        assert!(matches!(stopped, Some(Error::Interrupted)), "{stopped:?}");
    }
}
