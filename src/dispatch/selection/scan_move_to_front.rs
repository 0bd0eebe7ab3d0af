//! A list that organises itself at once: a handler that is found moves to the front.

use crate::Result;
use crate::dispatch::objects::{HandlerPointer, Objects};
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// The move-to-front rule (McCabe, Operations Research 13:4, 1965): a hit goes first, those before it move back one.
pub(in crate::dispatch) struct ScanMoveToFront {
    list: PlacedSlice<HandlerPointer>,
    _objects: Objects,
}

impl ScanMoveToFront {
    /// Places objects and list; it begins in registration order.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let objects = Objects::place(set, placement)?;
        Ok(ScanMoveToFront { list: placement.place_slice(objects.pointers(), 64)?, _objects: objects })
    }
}

impl Select for ScanMoveToFront {
    #[inline(always)]
    fn select<P: ProbeCounter>(&mut self, packet: &Packet, probes: &mut P) -> Option<&dyn Handler> {
        for at in 0..self.list.len() {
            let pointer = self.list[at];
            // SAFETY: `_objects` lives as long as `self`.
            let handler = unsafe { pointer.get() };
            probes.probe();
            if handler.matches(packet) {
                if at > 0 {
                    // One memmove, the best that an array can do.
                    self.list.copy_within(..at, 1);
                    self.list[0] = pointer;
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
