//! Asks whether what the plugin made is the type that the host knows by the same name.

#[path = "../host.rs"]
mod host;

use std::any::{Any, TypeId};
use std::mem::{ManuallyDrop, MaybeUninit};

fn main() {
    let library = host::open(&std::env::args().nth(1).expect("the plugin"));
    let make: extern "C" fn() -> *mut Box<dyn Any> = host::function(library, "make");
    let identity: unsafe extern "C" fn(*mut TypeId) = host::function(library, "identity");
    let mut theirs = MaybeUninit::uninit();
    // SAFETY: room for one, which it fills.
    let theirs = unsafe {
        identity(theirs.as_mut_ptr());
        theirs.assume_init()
    };
    let ours = TypeId::of::<shared::Packet>();
    println!("host_id={ours:?}\nplugin_id={theirs:?}\nequal={}", ours == theirs);
    // SAFETY: both sides were built by one compiler, whose trait objects are laid out alike. Never dropped here.
    let made = ManuallyDrop::new(unsafe { Box::from_raw(make()) });
    println!("downcast={}", if made.downcast_ref::<shared::Packet>().is_some() { "some" } else { "none" });
}
