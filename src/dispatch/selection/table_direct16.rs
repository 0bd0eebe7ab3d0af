//! A table indexed by the whole key: one slot for each of 65,536 protocols, used or not.

use super::{Candidates, Slot};
use crate::Result;
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// One slot for each value of a 16-bit key.
const SLOTS: usize = 1 << 16;

/// 65,536 slots of 16 bytes: 1 MiB, whatever is claimed.
pub(in crate::dispatch) struct TableDirect16 {
    slots: PlacedSlice<Slot>,
    candidates: Candidates,
}

impl TableDirect16 {
    /// Places objects, slots and candidates.
    ///
    /// # Errors
    /// [`Error::ResidualBound`](crate::Error::ResidualBound) where a key has more candidates than `residual_bound`.
    pub fn build(set: &HandlerSet, residual_bound: Option<usize>, placement: &mut Placement) -> Result<Self> {
        let (by_key, candidates) = Candidates::group(set, residual_bound, placement)?;
        let mut slots = vec![Slot::UNCLAIMED; SLOTS];
        for (key, slot) in by_key {
            slots[usize::from(key)] = slot;
        }
        Ok(TableDirect16 { slots: placement.place_slice(&slots, 64)?, candidates })
    }
}

impl Select for TableDirect16 {
    #[inline(always)]
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler> {
        probes.probe();
        // SAFETY: there are `SLOTS` slots, one for each value of a u16; placed whole in `build`.
        let slot = unsafe { *self.slots.get_unchecked(usize::from(packet.protocol)) };
        // SAFETY: the table's slots and candidates came from one `group`.
        unsafe { self.candidates.resolve(slot, packet, probes) }
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.slots) + self.candidates.bytes()
    }
}
