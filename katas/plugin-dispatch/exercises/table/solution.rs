//! A table from key to the handlers that want it, in registration order: mostly one, asked at once.

use core::ffi::c_void;
use core::slice;

#[allow(dead_code, reason = "an arm needs less of the ABI than a host")]
mod nanokata_arm;

use nanokata_arm::*;

const PAGE: usize = 256;

/// Where a key's handlers begin in the list, and how many there are.
#[derive(Clone, Copy, Default)]
struct Slot {
    first: u16,
    count: u16,
}

/// Pages of 256 keys; those without handlers share page 0, so that the table is as large as its keys are spread.
struct Table {
    input: ArmInput,
    page_of: [u16; PAGE],
    pages: Box<[[Slot; PAGE]]>,
    list: Box<[&'static Handler]>,
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

impl Table {
    /// The handler that runs.
    fn find(&self, packet: &Packet) -> Option<&Handler> {
        let key = usize::from(packet.protocol);
        let Slot { first, count } = self.pages[usize::from(self.page_of[key / PAGE])][key % PAGE];
        let wanting = &self.list[usize::from(first)..][..usize::from(count)];
        wanting.iter().copied().find(|handler| holds(handler, packet))
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
    let mut pages = vec![[Slot::default(); PAGE]; usize::from(count)].into_boxed_slice();
    let mut list: Box<[&Handler]> = handlers.iter().collect();
    // A stable sort: within a key the order of registration stays.
    list.sort_by_key(|handler| handler.key);
    for (at, handler) in list.iter().enumerate() {
        let key = usize::from(handler.key);
        let slot = &mut pages[usize::from(page_of[key / PAGE])][key % PAGE];
        if slot.count == 0 {
            slot.first = at as u16;
        }
        slot.count += 1;
    }
    Box::into_raw(Box::new(Table { input, page_of, pages, list })).cast()
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
