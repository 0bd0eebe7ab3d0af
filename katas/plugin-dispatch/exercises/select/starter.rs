//! Selection alone: who runs each packet. It doesn't say what the loop says: see README.md.

use core::ffi::c_void;
use core::slice;

#[allow(dead_code, reason = "an arm needs less of the ABI than a host")]
mod nanokata_arm;

use nanokata_arm::*;

struct Selection {
    handlers: &'static [Handler],
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
    Box::into_raw(Box::new(Selection { handlers })).cast()
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
        for (place, handler) in this.handlers.iter().enumerate() {
            if handler.key == packet.protocol && holds(handler, packet) {
                *chosen = place as u16;
            }
        }
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
