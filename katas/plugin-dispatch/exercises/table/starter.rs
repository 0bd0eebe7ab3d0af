//! A table from key to handler, built before the first packet. It computes something else than the loop: see README.md.

use core::ffi::c_void;
use core::slice;

#[allow(dead_code, reason = "an arm needs less of the ABI than a host")]
mod nanokata_arm;

use nanokata_arm::*;

const PAGE: usize = 256;

/// Pages of 256 keys; those without handlers share page 0, so that the table is as large as its keys are spread.
struct Table {
    input: ArmInput,
    handlers: &'static [Handler],
    page_of: [u16; PAGE],
    /// The place of the handler for each key, or [`NO_HANDLER`].
    pages: Box<[[u16; PAGE]]>,
}

impl Table {
    /// The handler that runs.
    fn find(&self, packet: &Packet) -> Option<&Handler> {
        let key = usize::from(packet.protocol);
        let place = self.pages[usize::from(self.page_of[key / PAGE])][key % PAGE];
        self.handlers.get(usize::from(place))
    }
}

/// Gives every key's page a number from 1 on; returns how many pages there are, page 0 included.
fn number_pages(handlers: &[Handler], page_of: &mut [u16; PAGE]) -> u16 {
    let mut pages = 1;
    for handler in handlers {
        let page = &mut page_of[usize::from(handler.key) / PAGE];
        if *page == 0 {
            *page = pages;
            pages += 1;
        }
    }
    pages
}

unsafe extern "C" fn create(input: *const ArmInput) -> *mut c_void {
    // SAFETY: the host's input, and its handlers live until `destroy`.
    let (input, handlers) = unsafe {
        let input = *input;
        (input, slice::from_raw_parts(input.handlers, input.handler_count as usize))
    };
    let mut page_of = [0; PAGE];
    let count = number_pages(handlers, &mut page_of);
    let mut pages = vec![[NO_HANDLER; PAGE]; usize::from(count)].into_boxed_slice();
    for (place, handler) in handlers.iter().enumerate() {
        let key = usize::from(handler.key);
        pages[usize::from(page_of[key / PAGE])][key % PAGE] = place as u16;
    }
    Box::into_raw(Box::new(Table { input, handlers, page_of, pages })).cast()
}

unsafe extern "C" fn destroy(arm: *mut c_void) {
    // SAFETY: `create` made it, and nobody uses it any more.
    drop(unsafe { Box::from_raw(arm.cast::<Table>()) });
}

unsafe extern "C" fn run(arm: *mut c_void, first: u64, count: u64) -> u64 {
    // SAFETY: `create` made it, and its packets live until `destroy`; the host asks for packets that there are.
    let (this, packets) = unsafe {
        let this = &*arm.cast::<Table>();
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
