//! The standard library's hash map: what most people would write first.

use std::collections::HashMap;

use super::{Candidates, Slot};
use crate::Result;
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::Placement;
use crate::traffic::Packet;

/// `std::collections::HashMap` with its default hasher (SipHash 1-3, randomly keyed), as it comes: its memory is the
/// global allocator's, so a new map's place and hash keys are drawn anew but don't follow from the placement's seed.
pub(in crate::dispatch) struct HashMapSelection {
    map: HashMap<u16, Slot>,
    candidates: Candidates,
}

impl HashMapSelection {
    /// Places objects and candidates, and fills a map.
    ///
    /// # Errors
    /// [`Error::ResidualBound`](crate::Error::ResidualBound) where a key has more candidates than `residual_bound`.
    pub fn build(set: &HandlerSet, residual_bound: Option<usize>, placement: &mut Placement) -> Result<Self> {
        let (by_key, candidates) = Candidates::group(set, residual_bound, placement)?;
        Ok(HashMapSelection { map: by_key.into_iter().collect(), candidates })
    }
}

impl Select for HashMapSelection {
    #[inline(always)]
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler> {
        probes.probe();
        let slot = *self.map.get(&packet.protocol)?;
        // SAFETY: the map's slots and candidates came from one `group`.
        unsafe { self.candidates.resolve(slot, packet, probes) }
    }

    /// Reckoned from the capacity: the map keeps a power of two of buckets of which 7/8 may be full, one control byte
    /// for each, and a group of 16 more (hashbrown's layout on x86-64).
    fn footprint_bytes(&self) -> usize {
        const GROUP: usize = 16;
        let buckets = (self.map.capacity() * 8).div_ceil(7).next_power_of_two();
        buckets * (size_of::<(u16, Slot)>() + 1) + GROUP + self.candidates.bytes()
    }
}
