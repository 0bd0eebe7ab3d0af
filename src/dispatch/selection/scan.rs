//! The brief's loop: ask each handler in turn.

use crate::Result;
use crate::dispatch::objects::{HandlerPointer, Objects};
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// A list of handlers, asked one after another through `matches`; also the sorted list, over a reordered set.
pub(in crate::dispatch) struct Scan {
    list: PlacedSlice<HandlerPointer>,
    _objects: Objects,
}

impl Scan {
    /// Places objects and list.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let objects = Objects::place(set, placement)?;
        Ok(Scan { list: placement.place_slice(objects.pointers(), 64)?, _objects: objects })
    }
}

impl Select for Scan {
    #[inline(always)]
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler> {
        for pointer in self.list.iter() {
            // SAFETY: `_objects` lives as long as `self`.
            let handler = unsafe { pointer.get() };
            probes.probe();
            if handler.matches(packet) {
                return Some(handler);
            }
        }
        None
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.list)
    }
}
