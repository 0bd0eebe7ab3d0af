//! A table indexed by the key's low bits: a few KiB, with the key stored in the slot and verified.

use super::{Candidates, Slot};
use crate::Result;
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// Slots to begin with (the public kata's figure); doubled until no two claimed keys share one.
pub const FIRST_SLOTS: usize = 1024;

#[derive(Clone, Copy)]
struct KeyedSlot {
    slot: Slot,
    /// The key that claimed it. Free slots hold 0: key 0 leads there only if nobody claimed it, and finds no candidate.
    key: u16,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<KeyedSlot>() == 24);

/// Slots of 24 bytes, 1,024 or the least power of two above that keeps claimed keys apart.
pub(in crate::dispatch) struct TableCompact {
    slots: PlacedSlice<KeyedSlot>,
    candidates: Candidates,
}

impl TableCompact {
    /// Places objects, slots and candidates.
    ///
    /// # Errors
    /// [`Error::ResidualBound`](crate::Error::ResidualBound) where a key has more candidates than `residual_bound`.
    pub fn build(set: &HandlerSet, residual_bound: Option<usize>, placement: &mut Placement) -> Result<Self> {
        let (by_key, candidates) = Candidates::group(set, residual_bound, placement)?;
        let mut length = FIRST_SLOTS;
        let slots = loop {
            let mut slots = vec![None; length];
            let apart = by_key.iter().all(|(&key, &slot)| {
                slots[usize::from(key) & (length - 1)].replace(KeyedSlot { slot, key }).is_none()
            });
            if apart {
                break slots;
            }
            // Ends at 65,536 slots at the latest, where each key has its own.
            length *= 2;
        };
        let free = KeyedSlot { slot: Slot::UNCLAIMED, key: 0 };
        let slots: Vec<KeyedSlot> = slots.into_iter().map(|slot| slot.unwrap_or(free)).collect();
        Ok(TableCompact { slots: placement.place_slice(&slots, 64)?, candidates })
    }

    /// How many slots it grew to.
    #[cfg(test)]
    pub fn slots(&self) -> usize {
        self.slots.len()
    }
}

impl Select for TableCompact {
    #[inline(always)]
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler> {
        probes.probe();
        let index = usize::from(packet.protocol) & (self.slots.len() - 1);
        // SAFETY: the number of slots is a power of two, so masking with one less stays below it.
        let KeyedSlot { slot, key } = unsafe { *self.slots.get_unchecked(index) };
        if key != packet.protocol {
            return None;
        }
        // SAFETY: the table's slots and candidates came from one `group`.
        unsafe { self.candidates.resolve(slot, packet, probes) }
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.slots) + self.candidates.bytes()
    }
}
