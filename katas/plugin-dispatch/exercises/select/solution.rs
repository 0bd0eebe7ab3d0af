//! Selection alone, by chains: from each key to the first handler that wants it, from each handler to the next.

use core::ffi::c_void;
use core::slice;

#[allow(dead_code, reason = "an arm needs less of the ABI than a host")]
mod nanokata_arm;

use nanokata_arm::*;

const KEYS: usize = 65_536;

struct Selection {
    handlers: &'static [Handler],
    /// By key: the first handler that wants it, or [`NO_HANDLER`].
    first: Box<[u16]>,
    /// By place: the next handler with the same key, or [`NO_HANDLER`].
    next: Box<[u16]>,
}

/// Whether a packet with the right key satisfies what else its handler asks for.
fn holds(handler: &Handler, packet: &Packet) -> bool {
    let byte = || packet.payload[usize::from(handler.offset)];
    match handler.residual {
        RESIDUAL_NONE => true,
        RESIDUAL_MASK => byte() & handler.first == handler.second,
        RESIDUAL_RANGE => (handler.first..=handler.second).contains(&byte()),
        _ => handler.active >> (packet.flow & 63) & 1 == 1,
    }
}

unsafe extern "C" fn create(input: *const ArmInput) -> *mut c_void {
    // SAFETY: the host's input, and its handlers live until `destroy`.
    let handlers = unsafe { slice::from_raw_parts((*input).handlers, (*input).handler_count as usize) };
    let mut first = vec![NO_HANDLER; KEYS].into_boxed_slice();
    let mut next = vec![NO_HANDLER; handlers.len()].into_boxed_slice();
    // From the last to the first, each put in front: so that chains stand in registration order.
    for (place, handler) in handlers.iter().enumerate().rev() {
        let head = &mut first[usize::from(handler.key)];
        next[place] = *head;
        *head = place as u16;
    }
    Box::into_raw(Box::new(Selection { handlers, first, next })).cast()
}

unsafe extern "C" fn destroy(selection: *mut c_void) {
    // SAFETY: `create` made it, and nobody uses it any more.
    drop(unsafe { Box::from_raw(selection.cast::<Selection>()) });
}

unsafe extern "C" fn choose(selection: *mut c_void, packets: *const Packet, count: u64, places: *mut u16) {
    // SAFETY: `create` made it; the host lends both arrays, each of `count`.
    let (this, packets, places) = unsafe {
        let this = &*selection.cast::<Selection>();
        let packets = slice::from_raw_parts(packets, count as usize);
        (this, packets, slice::from_raw_parts_mut(places, count as usize))
    };
    for (packet, chosen) in packets.iter().zip(places) {
        let mut place = this.first[usize::from(packet.protocol)];
        // Nobody's place is past the last handler's.
        while let Some(handler) = this.handlers.get(usize::from(place)) {
            if holds(handler, packet) {
                break;
            }
            place = this.next[usize::from(place)];
        }
        *chosen = place;
    }
}

static API: SelectApi = SelectApi {
    struct_size: size_of::<SelectApi>() as u32,
    abi_version: ARM_ABI_VERSION,
    create: Some(create),
    destroy: Some(destroy),
    select: Some(choose),
};

/// What the host asks for.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_select() -> *const SelectApi {
    &API
}
