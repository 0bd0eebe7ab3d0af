//! Hands out a `Box<dyn Any>` with a shared type in it.

use std::any::{Any, TypeId};

/// A box of a box, so that one plain pointer crosses.
#[unsafe(no_mangle)]
pub extern "C" fn make() -> *mut Box<dyn Any> {
    Box::into_raw(Box::new(Box::new(shared::Packet(7)) as Box<dyn Any>))
}

/// # Safety
/// There must be room for a `TypeId`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn identity(out: *mut TypeId) {
    // SAFETY: the caller's room.
    unsafe { out.write(TypeId::of::<shared::Packet>()) };
}
