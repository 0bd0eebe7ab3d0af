//! Functions that panic, each in another way.

use std::panic::catch_unwind;

fn trouble() {
    panic!("trouble in the plugin");
}

/// By C's convention, which nothing may unwind through: Rust ends the process.
#[unsafe(no_mangle)]
pub extern "C" fn plain() {
    trouble();
}

/// By the convention that allows unwinding.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn unwinding() {
    trouble();
}

/// Contained where it begins: the panic becomes a status.
#[unsafe(no_mangle)]
pub extern "C" fn contained() -> i32 {
    if catch_unwind(trouble).is_ok() { 0 } else { -1 }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a second one, while the first unwinds");
    }
}

/// Contained in vain: a panic while another unwinds ends the process.
#[unsafe(no_mangle)]
pub extern "C" fn twice() -> i32 {
    let both = || {
        let _bomb = Bomb;
        trouble();
    };
    if catch_unwind(both).is_ok() { 0 } else { -1 }
}

/// Contained in vain: no panic at all, but the end of the stack.
#[unsafe(no_mangle)]
pub extern "C" fn deep() -> i32 {
    fn deeper(n: u64) -> u64 {
        let room = std::hint::black_box([n; 512]);
        if n == 0 { 0 } else { deeper(std::hint::black_box(n + 1)) + room[7] }
    }
    if catch_unwind(|| std::hint::black_box(deeper(1))).is_ok() { 0 } else { -1 }
}
