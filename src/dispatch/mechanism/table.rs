//! The selection that all mechanisms share: the compact table, with 16 bytes in each slot for whatever a mechanism keeps.

use std::mem::MaybeUninit;

use crate::Result;
use crate::dispatch::generated::{Code, Fields};
use crate::dispatch::replay::Dispatch;
use crate::dispatch::selection::{Claim, FIRST_SLOTS, claims};
use crate::dispatch::{HandlerSet, HandlerSpec, Outcome, UNSUPPORTED};
use crate::race::placement::Keep;
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// What a mechanism keeps of a handler in a slot, and how it gets from there to the body.
///
/// # Safety
/// `fields` and `call` may rely on nothing but what `place` made, and `place` must give out memory that the [`Keep`]
/// keeps.
pub(in crate::dispatch) unsafe trait Target: Copy + Send + 'static {
    /// Places the object of handler `id` with that code.
    ///
    /// # Errors
    /// [`Error::Os`](crate::Error::Os) where memory can't be mapped.
    fn place(
        code: &'static Code,
        id: u16,
        spec: HandlerSpec,
        placement: &mut Placement,
    ) -> Result<(Self, Keep)>;

    /// The object's fields, for the residual test.
    ///
    /// # Safety
    /// The `Keep` that came with this target must be alive for as long as the reference.
    unsafe fn fields<'a>(self) -> &'a Fields;

    /// Runs the body.
    ///
    /// # Safety
    /// The `Keep` that came with this target must be alive.
    unsafe fn call<const COPY: usize>(self, packet: &Packet) -> Outcome;

    /// Where its functions outside the loop lie, handlers' own apart; where there are copies, the first.
    fn out_of_line() -> Vec<usize> {
        Vec::new()
    }
}

/// A slot: 24 bytes whatever the mechanism, so that all tables take the same room in the cache.
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot<T: Copy> {
    target: MaybeUninit<T>,
    /// The key that claimed it; 0 in free slots, which lead nowhere.
    key: u16,
    /// How many candidates to test; [`ONLY`] where `target` needs no test.
    candidates: u16,
    /// Where they begin.
    begin: u32,
}

/// The key alone decides.
const ONLY: u16 = u16::MAX;

/// The objects of a set, each by a target; slots with verified keys; candidates with residual predicates.
///
/// Residual predicates are tested by the same direct call in every mechanism, so that nothing but the call of `process`
/// differs.
pub(in crate::dispatch) struct Table<T: Copy> {
    slots: PlacedSlice<Slot<T>>,
    candidates: PlacedSlice<T>,
    _keep: Vec<Keep>,
}

impl<T: Target> Table<T> {
    /// Places objects, slots and candidates.
    ///
    /// # Errors
    /// [`Error::Os`](crate::Error::Os) where memory can't be mapped.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let (targets, keep) = place_all::<T>(set, placement)?;
        Self::of(set, &targets, keep, placement)
    }

    /// A table of targets that are placed already, in registration order: the way in for sabotage.
    pub(in crate::dispatch) fn of(
        set: &HandlerSet,
        targets: &[T],
        keep: Vec<Keep>,
        placement: &mut Placement,
    ) -> Result<Self> {
        const { assert!(size_of::<T>() == 16 && align_of::<T>() == 8) }
        let free = Slot { target: MaybeUninit::uninit(), key: 0, candidates: 0, begin: 0 };
        let claims = claims(set);
        let mut length = FIRST_SLOTS;
        while !apart(claims.keys(), length) {
            // Ends at 65,536 slots at the latest, where each key has its own.
            length *= 2;
        }
        let mut slots = vec![free; length];
        let mut candidates = Vec::new();
        for (key, Claim { places, ended }) in claims {
            slots[usize::from(key) & (length - 1)] = match (places.as_slice(), ended) {
                (&[only], true) => {
                    Slot { target: MaybeUninit::new(targets[only]), key, candidates: ONLY, begin: 0 }
                }
                (places, _) => {
                    let begin = candidates.len() as u32;
                    candidates.extend(places.iter().map(|&place| targets[place]));
                    Slot { candidates: places.len() as u16, begin, key, ..free }
                }
            };
        }
        let slots = placement.place_slice(&slots, 64)?;
        Ok(Table { slots, candidates: placement.place_slice(&candidates, 64)?, _keep: keep })
    }

    #[inline(always)]
    fn select(&self, packet: &Packet) -> Option<T> {
        let index = usize::from(packet.protocol) & (self.slots.len() - 1);
        // SAFETY: the number of slots is a power of two, so masking with one less stays below it.
        let slot = unsafe { self.slots.get_unchecked(index) };
        if slot.key != packet.protocol {
            return None;
        }
        if slot.candidates == ONLY {
            // SAFETY: `of` filled the targets of slots that need no test.
            return Some(unsafe { slot.target.assume_init() });
        }
        let begin = slot.begin as usize;
        let range = begin..begin + usize::from(slot.candidates);
        // SAFETY: `of` made the range inside the list, or it is the empty one at the beginning. Checked, it would cost
        // the table a branch on each tested slot.
        let candidates = unsafe { self.candidates.get_unchecked(range) };
        // SAFETY: `_keep` lives as long as `self`.
        candidates.iter().copied().find(|target| unsafe { target.fields() }.residual().holds(packet))
    }
}

/// Places every handler's object: targets in registration order.
pub(in crate::dispatch) fn place_all<T: Target>(
    set: &HandlerSet,
    placement: &mut Placement,
) -> Result<(Vec<T>, Vec<Keep>)> {
    let placed = set
        .registered()
        .map(|(id, spec)| T::place(Code::of(set.body(), id), set.signature(id), spec, placement))
        .collect::<Result<Vec<_>>>()?;
    Ok(placed.into_iter().unzip())
}

fn apart<'a>(keys: impl Iterator<Item = &'a u16>, length: usize) -> bool {
    let mut taken = vec![false; length];
    keys.into_iter().all(|key| !std::mem::replace(&mut taken[usize::from(*key) & (length - 1)], true))
}

impl<T: Target> Dispatch for Table<T> {
    #[inline(always)]
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
        match self.select(packet) {
            // SAFETY: `_keep` lives as long as `self`.
            Some(target) => unsafe { target.call::<COPY>(packet) },
            None => UNSUPPORTED,
        }
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(&*self.candidates)
    }

    fn out_of_line() -> Vec<usize> {
        T::out_of_line()
    }
}
