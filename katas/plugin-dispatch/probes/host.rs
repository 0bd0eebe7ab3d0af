//! What the probes' hosts share: opening a library with the flags that are asked for, and finding a function in it.

#![allow(dead_code, reason = "each host needs some of it")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// glibc's and musl's value.
const RTLD_NOW: c_int = 2;

/// Opens a library; ends the program with the dynamic linker's words where it can't.
pub fn open(path: &str) -> *mut c_void {
    let path = CString::new(path).expect("no zero in a path");
    // SAFETY: a string that ends, and the probe's own library.
    let handle = unsafe { dlopen(path.as_ptr(), RTLD_NOW) };
    if handle.is_null() {
        // SAFETY: after a failure there is a message.
        panic!("{}", unsafe { CStr::from_ptr(dlerror()) }.to_string_lossy());
    }
    handle
}

/// The function of that name, as an `F`, which must be a function's pointer.
pub fn function<F: Copy>(handle: *mut c_void, name: &str) -> F {
    let name = CString::new(name).expect("no zero in a name");
    // SAFETY: an open library and a string that ends.
    let found = unsafe { dlsym(handle, name.as_ptr()) };
    assert!(!found.is_null(), "{name:?} isn't exported");
    // SAFETY: the caller says what it is.
    unsafe { std::mem::transmute_copy(&found) }
}
