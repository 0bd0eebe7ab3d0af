//! Selection alone, behind one function that is asked about a batch: who runs, and nobody does.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::recipe::{SelectionRecipe, with_selection};
use super::{HashMapSelection, Scan, ScanKeys, ScanMoveToFront, ScanTranspose, TableCompact, TableDirect16};
use crate::Result;
use crate::dispatch::generated::Fields;
use crate::dispatch::probes::NoProbes;
use crate::dispatch::replay::Select;
use crate::dispatch::{Handler, HandlerSet, HandlerSpec, NO_HANDLER, SelectionArm};
use crate::race::Placement;
use crate::traffic::Packet;

type SelectBatch = unsafe extern "C" fn(*mut c_void, *const Packet, u64, *mut u16);

/// A built selection that writes places, by C's calling convention.
pub(crate) struct Selector {
    selection: NonNull<c_void>,
    select: SelectBatch,
    drop: unsafe fn(NonNull<c_void>),
}

// SAFETY: made of a `Select`, which is `Send`, alone.
unsafe impl Send for Selector {}

impl Selector {
    /// What [`Selector::build`] takes: a selection by `arm` over the built-in handlers of `set`, numbered anew in
    /// registration order, so that a handler's number is its place.
    ///
    /// # Errors
    /// As [`SelectionRecipe::new`].
    pub fn recipe(arm: SelectionArm, set: &HandlerSet) -> Result<SelectionRecipe> {
        let specs: Vec<HandlerSpec> = set.registered().map(|(_, spec)| spec).collect();
        SelectionRecipe::new(arm, &HandlerSet::from_specs(specs, set.body())?, None)
    }

    /// Places a selection that [`Selector::recipe`] made.
    ///
    /// # Errors
    /// [`Error::Os`](crate::Error::Os) where memory can't be mapped.
    pub fn build(
        recipe: &SelectionRecipe,
        packets: &[Packet],
        placement: &mut Placement,
    ) -> Result<Selector> {
        with_selection!(recipe, packets, placement, |selection| Ok(Self::of(selection)))
    }

    fn of<S: Select>(selection: S) -> Selector {
        unsafe fn drop_selection<S>(selection: NonNull<c_void>) {
            // SAFETY: it came from a leaked `Box<S>` below, and `Selector::drop` runs once.
            drop(unsafe { Box::from_raw(selection.cast::<S>().as_ptr()) });
        }
        let selection = NonNull::from(Box::leak(Box::new(selection))).cast();
        Selector { selection, select: select::<S>, drop: drop_selection::<S> }
    }

    /// What the function wants first.
    pub fn pointer(&self) -> NonNull<c_void> {
        self.selection
    }

    /// The address of a `void (*)(void *selection, const Packet *packets, uint64_t count, uint16_t *places)`.
    pub fn function(&self) -> *const c_void {
        self.select as *const c_void
    }
}

impl Drop for Selector {
    fn drop(&mut self) {
        // SAFETY: the pair was made together by `of`.
        unsafe { (self.drop)(self.selection) }
    }
}

/// Writes who runs each of `count` packets: its place in registration order, which its object holds.
///
/// # Safety
/// `selection` must be an `S` that nobody else uses meanwhile, of built-in handlers; `packets` and `places` must have room
/// for `count`.
unsafe extern "C" fn select<S: Select>(
    selection: *mut c_void,
    packets: *const Packet,
    count: u64,
    places: *mut u16,
) {
    // SAFETY: as the caller promises.
    let (selection, packets, places) = unsafe {
        (
            &mut *selection.cast::<S>(),
            std::slice::from_raw_parts(packets, count as usize),
            std::slice::from_raw_parts_mut(places, count as usize),
        )
    };
    for (packet, place) in packets.iter().zip(places) {
        *place = match selection.select(packet, &mut NoProbes) {
            Some(handler) => place_of(handler),
            None => NO_HANDLER,
        };
    }
}

fn place_of(handler: &dyn Handler) -> u16 {
    // SAFETY: every built-in handler is a transparent wrapper of its fields.
    unsafe { (&raw const *handler).cast::<Fields>().as_ref() }.map_or(NO_HANDLER, Fields::id)
}
