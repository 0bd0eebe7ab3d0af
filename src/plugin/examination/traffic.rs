//! Packets to examine a plugin with: the same each time.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::plugin::abi::Claim;
use crate::traffic::Packet;

/// Packets of each claimed key.
const EACH: usize = 16;
/// Keys that aren't claimed.
const OTHERS: usize = 64;

/// Packets of every claimed key, keys in turn, each with the claim's place.
pub fn claimed(claims: &[Claim]) -> Vec<(usize, Packet)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let turns = (0..EACH).flat_map(|_| claims.iter().enumerate());
    turns.map(|(place, claim)| (place, packet(claim.key, &mut random))).collect()
}

/// Packets of keys that nobody claims, the least and the greatest among them.
pub fn unclaimed(claims: &[Claim]) -> Vec<Packet> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let near = claims.iter().flat_map(|claim| [claim.key.wrapping_sub(1), claim.key.wrapping_add(1)]);
    let keys: Vec<u16> = [0, u16::MAX].into_iter().chain(near.take(OTHERS)).collect();
    let free = keys.into_iter().filter(|key| claims.iter().all(|claim| claim.key != *key));
    free.map(|key| packet(key, &mut random)).collect()
}

fn packet(protocol: u16, random: &mut Xoshiro256PlusPlus) -> Packet {
    Packet {
        protocol,
        length: random.random_range(64..1500),
        flow: random.random(),
        payload: random.random(),
    }
}
