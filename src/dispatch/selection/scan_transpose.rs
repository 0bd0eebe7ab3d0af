//! A list that organises itself slowly: a handler that is found moves one place forward.

use crate::Result;
use crate::dispatch::objects::{HandlerPointer, Objects};
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// The transpose rule (Rivest, CACM 19:2, 1976): a hit swaps with its predecessor.
pub(in crate::dispatch) struct ScanTranspose {
    list: PlacedSlice<HandlerPointer>,
    _objects: Objects,
}

impl ScanTranspose {
    /// Places objects and list; it begins in registration order.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let objects = Objects::place(set, placement)?;
        Ok(ScanTranspose { list: placement.place_slice(objects.pointers(), 64)?, _objects: objects })
    }
}

impl Select for ScanTranspose {
    #[inline(always)]
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler> {
        for at in 0..self.list.len() {
            // SAFETY: `_objects` lives as long as `self`.
            let handler = unsafe { self.list[at].get() };
            probes.probe();
            if handler.matches(packet) {
                if at > 0 {
                    self.list.swap(at, at - 1);
                }
                return Some(handler);
            }
        }
        None
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.list)
    }
}
