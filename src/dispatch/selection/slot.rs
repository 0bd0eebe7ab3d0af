//! What a key leads to, in every table: one handler without a test, or a short list of candidates.

use std::collections::BTreeMap;

use crate::dispatch::objects::{HandlerPointer, Objects};
use crate::dispatch::probes::ProbeCounter;
use crate::dispatch::{Handler, HandlerSet};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;
use crate::{Error, Result};

/// What a key leads to.
#[derive(Clone, Copy)]
pub(in crate::dispatch) enum Slot {
    /// The key alone decides: run this one, no `matches` needed.
    Only(HandlerPointer),
    /// Test these of the candidates, in registration order; none at all for a key that nobody claimed.
    Tested {
        /// Where they begin.
        begin: u32,
        /// How many.
        count: u32,
    },
}

// The range lies where `Only` has its object, and a null vtable tells the two apart: a slot is one fat pointer.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Slot>() == 16);

impl Slot {
    /// A key that nobody claimed.
    pub const UNCLAIMED: Slot = Slot::Tested { begin: 0, count: 0 };
}

/// Who claims a key.
#[derive(Default)]
pub(in crate::dispatch) struct Claim {
    /// Places in registration order of those that can run: all up to the first one without residual.
    pub places: Vec<usize>,
    /// Whether the last of them has no residual, so that it takes whatever is left.
    pub ended: bool,
}

/// Who claims each key, keys ascending.
///
/// Of a key's handlers in registration order, those after the first one without residual can never run, so an ordinary
/// handler ends the list.
pub(in crate::dispatch) fn claims(set: &HandlerSet) -> BTreeMap<u16, Claim> {
    let mut by_key = BTreeMap::<u16, Claim>::new();
    for (place, (_, spec)) in set.registered().enumerate() {
        let claim = by_key.entry(spec.key).or_default();
        if !claim.ended {
            claim.places.push(place);
            claim.ended = spec.residual.is_none();
        }
    }
    by_key
}

/// The candidates of all keys, one after another, and the objects behind every pointer of a table.
pub(in crate::dispatch) struct Candidates {
    list: PlacedSlice<HandlerPointer>,
    _objects: Objects,
}

impl Candidates {
    /// Groups a set by key: what each claimed key's slot holds, keys ascending, and the candidates that slots refer to.
    ///
    /// If an ordinary handler is all that a key has, it needs no test.
    ///
    /// # Errors
    /// [`Error::ResidualBound`] for the first key with more candidates to test than `residual_bound`.
    pub fn group(
        set: &HandlerSet,
        residual_bound: Option<usize>,
        placement: &mut Placement,
    ) -> Result<(BTreeMap<u16, Slot>, Self)> {
        let objects = Objects::place(set, placement)?;
        let mut list = Vec::new();
        let mut slots = BTreeMap::new();
        for (key, Claim { places, ended }) in claims(set) {
            let slot = match (places.as_slice(), ended) {
                (&[only], true) => Slot::Only(objects.pointers()[only]),
                (places, ended) => {
                    // The ordinary handler that ends the list is no residual candidate.
                    let length = places.len() - usize::from(ended);
                    if let Some(bound) = residual_bound.filter(|&bound| length > bound) {
                        return Err(Error::ResidualBound { key, length, bound });
                    }
                    let begin = list.len() as u32;
                    list.extend(places.iter().map(|&place| objects.pointers()[place]));
                    Slot::Tested { begin, count: places.len() as u32 }
                }
            };
            slots.insert(key, slot);
        }
        Ok((slots, Candidates { list: placement.place_slice(&list, 64)?, _objects: objects }))
    }

    /// The handler that a slot leads this packet to.
    ///
    /// # Safety
    /// The slot must be one of those that came from [`Candidates::group`] with these candidates, or
    /// [`Slot::UNCLAIMED`].
    #[inline(always)]
    pub unsafe fn resolve<P: ProbeCounter>(
        &self,
        slot: Slot,
        packet: &Packet,
        probes: &mut P,
    ) -> Option<&dyn Handler> {
        match slot {
            // SAFETY: the slot belongs to these candidates, whose `_objects` lives as long as `self`.
            Slot::Only(pointer) => Some(unsafe { pointer.get() }),
            Slot::Tested { begin, count } => {
                let range = begin as usize..begin as usize + count as usize;
                // SAFETY: `group` made the range inside the list, or it is the empty one at the beginning. Checked, it
                // would cost the table a branch on each tested slot.
                for pointer in unsafe { self.list.get_unchecked(range) } {
                    // SAFETY: `_objects` lives as long as `self`.
                    let handler = unsafe { pointer.get() };
                    probes.probe();
                    if handler.matches(packet) {
                        return Some(handler);
                    }
                }
                None
            }
        }
    }

    /// Bytes of the list.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.list)
    }
}
