//! The generator: packets drawn by a law, the same bytes for the same seed everywhere.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

use super::alias::AliasTable;
use super::permutation::permutation;
use super::unmatched::UnmatchedKeys;
use super::{Law, Packet, huge_pages};
use crate::machine::memory;
use crate::race::Watch;
use crate::{Error, Result};

/// Share of packets that no handler knows, where nothing else is asked for.
pub const DEFAULT_UNMATCHED: f64 = 0.02;

/// Shortest and longest packet drawn: an IPv4 header without options (RFC 791), and Ethernet's MTU (RFC 894).
pub const LENGTHS: std::ops::RangeInclusive<u16> = 20..=1500;

/// Packets between two looks at the stop flag: some 0.2 ms of work.
const CHUNK: usize = 16 * 1024;

/// Most handlers: as many as there are keys. Draws are off by less than 2⁻⁴⁷ up to here.
const MOST_HANDLERS: usize = 1 << 16;

/// Stands for an unmatched packet where otherwise a key is drawn: the first number past 16 bits.
const UNMATCHED: u32 = 1 << 16;

/// Keeps the permutation's stream apart from the packets' where both have the same seed (2⁶⁴ divided by the golden
/// ratio, SplitMix64's increment).
const PERMUTATION_STREAM: u64 = 0x9e37_79b9_7f4a_7c15;

/// What traffic to draw: a law over handlers, the share that nobody handles, and the seeds.
///
/// The drawn handler settles a packet's key and nothing else: 24 payload bytes, flow and length are random, so a
/// packet drawn for a handler with a residual predicate need not satisfy it. [`Traffic::generate`] gives the same
/// packets for the same fields and keys on every platform: integer draws from Xoshiro256++ through an alias table
/// with integer odds (Walker 1977, in Vose's form), payload words laid down little-endian.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// How often each handler's key occurs among the packets that have one.
    pub law: Law,
    /// Share of packets with a key that no handler claims, 0 to 1.
    pub unmatched: f64,
    /// Seed of the packets.
    pub seed: u64,
    /// Whether ranks go to handlers by a drawn permutation. `false` is the rigged generator: rank = handler, so
    /// that the busiest handler stands first in the list.
    pub shuffle: bool,
    /// Seed of that permutation; `None` takes `seed`. Either way it draws from a stream of its own.
    pub permutation_seed: Option<u64>,
}

impl Traffic {
    /// Traffic by `law`: [`DEFAULT_UNMATCHED`], seed 0, shuffled.
    pub fn new(law: Law) -> Self {
        Traffic { law, unmatched: DEFAULT_UNMATCHED, seed: 0, shuffle: true, permutation_seed: None }
    }

    /// Sets the share of packets that nobody handles.
    pub fn unmatched(self, unmatched: f64) -> Self {
        Traffic { unmatched, ..self }
    }

    /// Sets the seed of the packets.
    pub fn seed(self, seed: u64) -> Self {
        Traffic { seed, ..self }
    }

    /// Switches the permutation on or off.
    pub fn shuffle(self, shuffle: bool) -> Self {
        Traffic { shuffle, ..self }
    }

    /// Gives the permutation a seed of its own.
    pub fn permutation_seed(self, seed: u64) -> Self {
        Traffic { permutation_seed: Some(seed), ..self }
    }

    /// Checks everything that doesn't need packets.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], naming the argument, its value and what was wanted.
    pub fn validate(&self, handlers: usize) -> Result<()> {
        self.handler_weights(handlers).map(|_| ())
    }

    /// Rank → handler. The identity where ranks aren't shuffled or the law names handlers itself.
    pub fn permutation(&self, handlers: usize) -> Vec<usize> {
        if !self.shuffle || !self.law.is_ranked() {
            return (0..handlers).collect();
        }
        permutation(handlers, self.permutation_seed.unwrap_or(self.seed) ^ PERMUTATION_STREAM)
    }

    /// The exact law by handler, in registration order, permutation applied: sums to one, the unmatched share left
    /// out.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an impossible law or unmatched share.
    pub fn handler_weights(&self, handlers: usize) -> Result<Vec<f64>> {
        if !(0.0..=1.0).contains(&self.unmatched) {
            return Err(Error::invalid("unmatched", self.unmatched, "wanted a number from 0 to 1"));
        }
        let by_rank = self.law.weights(handlers)?;
        let mut by_handler = vec![0.0; handlers];
        for (rank, handler) in self.permutation(handlers).into_iter().enumerate() {
            by_handler[handler] = by_rank[rank];
        }
        Ok(by_handler)
    }

    /// Draws `packets` packets; `keys[h]` is the key of handler `h`, and handlers may share one.
    ///
    /// Unmatched packets get keys of [`super::UNMATCHED_KEYS`] that no handler claims. Under [`Law::Periodic`] an
    /// unmatched packet takes the place of the one that was due: the order of the others doesn't shift.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`]: no packets, no keys, an impossible law, or no free key for the unmatched.
    /// [`Error::OutOfMemory`] before anything is allocated. [`Error::Interrupted`] once `watch` says stop.
    pub fn generate(&self, packets: usize, keys: &[u16], watch: &Watch) -> Result<Vec<Packet>> {
        if packets == 0 {
            return Err(Error::invalid("packets", 0, "wanted at least one"));
        }
        if keys.is_empty() {
            return Err(Error::invalid("keys", "[]", "wanted one key a handler, at least one"));
        }
        if keys.len() > MOST_HANDLERS {
            let wanted = format!("wanted at most {MOST_HANDLERS} handlers");
            return Err(Error::invalid("keys", format!("{} keys", keys.len()), wanted));
        }
        let weights = self.handler_weights(keys.len())?;
        let unmatched = UnmatchedKeys::new(keys, self.unmatched)?;
        let pool = reserve(packets)?;
        let share_of_matched = 1.0 - self.unmatched;
        let known = |drawn: u32, random: &mut Xoshiro256PlusPlus| match u16::try_from(drawn) {
            Ok(key) => key,
            Err(_) => unmatched.draw(random),
        };
        if let Law::Periodic { period } = self.law {
            let mut order = self.permutation(keys.len());
            order.truncate(period);
            let mut due = order.into_iter().map(|handler| keys[handler]).cycle();
            let missing = AliasTable::new(&[share_of_matched, self.unmatched], &[0, UNMATCHED]);
            let key = |random: &mut Xoshiro256PlusPlus| {
                let key = u32::from(due.next().expect("the period is at least 1"));
                known(key | missing.draw(random), random)
            };
            return self.fill(pool, packets, key, watch);
        }
        // The unmatched share is one more item after the handlers.
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight * share_of_matched).collect();
        shares.push(self.unmatched);
        let items: Vec<u32> = keys.iter().copied().map(u32::from).chain([UNMATCHED]).collect();
        let table = AliasTable::new(&shares, &items);
        self.fill(pool, packets, |random| known(table.draw(random), random), watch)
    }

    fn fill(
        &self,
        mut pool: Vec<Packet>,
        packets: usize,
        mut key: impl FnMut(&mut Xoshiro256PlusPlus) -> u16,
        watch: &Watch,
    ) -> Result<Vec<Packet>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        while pool.len() < packets {
            watch.check()?;
            let count = CHUNK.min(packets - pool.len());
            // A range's length is known, so this writes straight into the reserved, still uninitialised memory.
            pool.extend((0..count).map(|_| packet(key(&mut random), &mut random)));
            watch.advance(pool.len() as f64 / packets as f64);
        }
        Ok(pool)
    }
}

/// One packet with that key; takes four words.
#[inline(always)]
fn packet(protocol: u16, random: &mut Xoshiro256PlusPlus) -> Packet {
    let word = random.next_u64();
    let spread = u64::from(LENGTHS.end() - LENGTHS.start()) + 1;
    // The high half, scaled: the bias is below 1,481 / 2³².
    let length = LENGTHS.start() + (((word >> 32) * spread) >> 32) as u16;
    let mut payload = [0; super::packet::PAYLOAD_BYTES];
    for eight in payload.chunks_exact_mut(8) {
        eight.copy_from_slice(&random.next_u64().to_le_bytes());
    }
    Packet { protocol, length, flow: word as u32, payload }
}

fn reserve(packets: usize) -> Result<Vec<Packet>> {
    let mut pool = memory::reserve(&format!("a pool of {packets} packets"), packets)?;
    huge_pages::advise(&mut pool.spare_capacity_mut()[..packets]);
    Ok(pool)
}

#[cfg(test)]
#[path = "generator_tests.rs"]
mod tests;
