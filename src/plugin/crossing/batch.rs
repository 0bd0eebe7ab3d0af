//! In batches: views written, one crossing, results read, as a host must that lends several packets at once.

use crate::Result;
use crate::dispatch::NO_HANDLER;
use crate::plugin::abi::{self, PacketView, PluginResult};
use crate::plugin::{Processed, read, view};
use crate::race::placement::code_copies;
use crate::race::{Arm, CODE_COPIES, Checksum, Input, PlacedSlice, Placement, Window, code_padding};
use crate::traffic::Packet;

use super::service::HANDLERS;

/// Largest batch.
pub const MOST_BATCH: usize = 1024;
/// Bytes that are written for each packet to lend it.
pub const VIEW_BYTES: usize = size_of::<PacketView>();
/// Bytes of its result: cleared by the host, written by the other side, read by the host.
pub const RESULT_BYTES: usize = size_of::<PluginResult>();

/// What a result says that was never written.
const UNWRITTEN: PluginResult = PluginResult { value: 0, claim: 0, reserved: 0, status: abi::ERROR };
/// Tag of what the other side failed at: no handler's number, and no claim's.
const FAILED: u16 = NO_HANDLER - 1;

/// Something between the loop and the work.
pub(super) trait Boundary: Send + 'static {
    /// Has the work done on all `views`, of which there are as many as `results`; whatever isn't [`abi::OK`] says that it
    /// wasn't. `COPY` is the code copy of the loop.
    ///
    /// # Safety
    /// Each view's payload must be readable for as many bytes as it says.
    unsafe fn cross<const COPY: usize>(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32;
}

/// Folds what came of a packet as every dispatch arm does; a failure as something that no arm folds.
#[inline(always)]
pub(super) fn fold(checksum: Checksum, processed: Processed) -> Checksum {
    match processed {
        Processed::Done { value, claim } => checksum.fold(value, claim),
        Processed::NotMine => checksum.fold(0, NO_HANDLER),
        Processed::Failed { .. } | Processed::UnknownClaim { .. } => checksum.fold(0, FAILED),
    }
}

struct Batched<B> {
    boundary: B,
    input: Input,
    batch: usize,
    views: PlacedSlice<PacketView>,
    results: PlacedSlice<PluginResult>,
}

// SAFETY: views point into `input`, which goes along, and are written anew before each use.
unsafe impl<B: Send> Send for Batched<B> {}

#[inline(never)]
fn run<B: Boundary, const COPY: usize>(state: &mut Batched<B>, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for packets in packets.chunks(state.batch) {
        let views = &mut state.views[..packets.len()];
        let results = &mut state.results[..packets.len()];
        for ((lent, result), packet) in views.iter_mut().zip(&mut *results).zip(packets) {
            *lent = view(packet);
            // A status that isn't written must not be the last batch's.
            *result = UNWRITTEN;
        }
        // SAFETY: payloads lie in `input`.
        if unsafe { state.boundary.cross::<COPY>(views, results) } != abi::OK {
            checksum = checksum.fold(0, FAILED);
        }
        for result in &*results {
            checksum = fold(checksum, read(result.status, result, HANDLERS));
        }
    }
    checksum
}

type Loop<B> = fn(&mut Batched<B>, Window) -> Checksum;

/// An arm that crosses `boundary` once for every `batch` packets, the last time for what is left.
pub(super) fn batched<B: Boundary>(
    boundary: B,
    batch: usize,
    input: &Input,
    placement: &mut Placement,
) -> Result<Arm> {
    let nothing = PacketView {
        payload: std::ptr::null(),
        payload_length: 0,
        flow: 0,
        protocol: 0,
        length: 0,
        reserved: 0,
    };
    let views = placement.place_slice(&vec![nothing; batch], 64)?;
    let results = placement.place_slice(&vec![UNWRITTEN; batch], 64)?;
    let state = Batched { boundary, input: input.clone(), batch, views, results };
    let copies: [Loop<B>; CODE_COPIES] = code_copies!(run, B);
    Ok(Arm::with_layouts(state, copies))
}

/// Where the loop's first copy lies.
pub(super) fn place<B: Boundary>() -> usize {
    let first: Loop<B> = run::<B, 0>;
    first as usize
}
