//! Scan an array of keys: the same search without a call for each handler.

use crate::Result;
use crate::dispatch::objects::{HandlerPointer, Objects};
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// Keys side by side, compared one after another; a handler is asked only where its key hits and it tests more.
pub(in crate::dispatch) struct ScanKeys {
    keys: PlacedSlice<u16>,
    has_residual: PlacedSlice<bool>,
    list: PlacedSlice<HandlerPointer>,
    _objects: Objects,
}

impl ScanKeys {
    /// Places objects, keys, flags and list.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let objects = Objects::place(set, placement)?;
        let keys: Vec<u16> = set.registered().map(|(_, spec)| spec.key).collect();
        let has_residual: Vec<bool> = set.registered().map(|(_, spec)| !spec.residual.is_none()).collect();
        Ok(ScanKeys {
            keys: placement.place_slice(&keys, 64)?,
            has_residual: placement.place_slice(&has_residual, 64)?,
            list: placement.place_slice(objects.pointers(), 64)?,
            _objects: objects,
        })
    }
}

impl Select for ScanKeys {
    #[inline(always)]
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler> {
        for (at, &key) in self.keys.iter().enumerate() {
            probes.probe();
            if key == packet.protocol {
                // SAFETY: keys, flags and list were placed with one entry for each handler and keep their lengths, so
                // what is below one's is below the others'; `_objects` lives as long as `self`.
                let (handler, has_residual) =
                    unsafe { (self.list.get_unchecked(at).get(), *self.has_residual.get_unchecked(at)) };
                if !has_residual || handler.matches(packet) {
                    return Some(handler);
                }
            }
        }
        None
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.keys) + size_of_val(&*self.has_residual) + size_of_val(&*self.list)
    }
}
