//! The loop over an array of keys in registration order: two bytes a handler instead of thirty-two.

use core::ffi::c_void;
use core::slice;

#[allow(dead_code, reason = "an arm needs less of the ABI than a host")]
mod nanokata_arm;

use nanokata_arm::*;

struct Order {
    input: ArmInput,
    handlers: &'static [Handler],
    keys: Box<[u16]>,
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

impl Order {
    /// The handler that runs.
    fn find(&self, packet: &Packet) -> Option<&Handler> {
        // A handler is touched only once its key fits: what the loop walks over is keys alone.
        let fits = |&(&key, handler): &(&u16, &Handler)| key == packet.protocol && holds(handler, packet);
        self.keys.iter().zip(self.handlers).find(fits).map(|(_, handler)| handler)
    }
}

unsafe extern "C" fn create(input: *const ArmInput) -> *mut c_void {
    // SAFETY: the host's input, and its handlers live until `destroy`.
    let (input, handlers) = unsafe {
        let input = *input;
        (input, slice::from_raw_parts(input.handlers, input.handler_count as usize))
    };
    let keys = handlers.iter().map(|handler| handler.key).collect();
    Box::into_raw(Box::new(Order { input, handlers, keys })).cast()
}

unsafe extern "C" fn destroy(arm: *mut c_void) {
    // SAFETY: `create` made it, and nobody uses it any more.
    drop(unsafe { Box::from_raw(arm.cast::<Order>()) });
}

unsafe extern "C" fn run(arm: *mut c_void, first: u64, count: u64) -> u64 {
    // SAFETY: `create` made it, and its packets live until `destroy`; the host asks for packets that there are.
    let (this, packets) = unsafe {
        let this = &*arm.cast::<Order>();
        (this, slice::from_raw_parts(this.input.packets.add(first as usize), count as usize))
    };
    packets.iter().fold(CHECKSUM_EMPTY, |checksum, packet| match this.find(packet) {
        Some(handler) => {
            // SAFETY: its own object, and a packet of the host's.
            let outcome = unsafe { (handler.process)(handler.object, packet) };
            fold(checksum, outcome.value, outcome.handler)
        }
        None => fold(checksum, 0, NO_HANDLER),
    })
}

static API: ArmApi = ArmApi {
    struct_size: size_of::<ArmApi>() as u32,
    abi_version: ARM_ABI_VERSION,
    create: Some(create),
    destroy: Some(destroy),
    run: Some(run),
};

/// What the host asks for.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_arm() -> *const ArmApi {
    &API
}
