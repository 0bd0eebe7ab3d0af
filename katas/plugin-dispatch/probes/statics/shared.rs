//! One source with a static and a thread-local, compiled into host and plugin.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

pub static COUNT: AtomicU64 = AtomicU64::new(0);
thread_local!(pub static OF_THREAD: Cell<u64> = const { Cell::new(0) });

pub fn bump() {
    COUNT.fetch_add(1, Ordering::Relaxed);
    OF_THREAD.with(|count| count.set(count.get() + 1));
}

/// Both values and both addresses.
pub fn seen() -> [u64; 4] {
    let of_thread = OF_THREAD.with(|count| (count.get(), std::ptr::from_ref(count) as u64));
    [COUNT.load(Ordering::Relaxed), of_thread.0, (&raw const COUNT) as u64, of_thread.1]
}
