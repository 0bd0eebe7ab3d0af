//! Built later (`--cfg later`): fills both structs and says where their fields are.

mod shared;

static BY_RUST: shared::ByRust = shared::ByRust { small: 1, big: 2, appended: 0x5555_5555_5555_5555 };
static BY_C: shared::ByC = shared::ByC { small: 1, big: 2, appended: 0x5555_5555_5555_5555 };

#[unsafe(no_mangle)]
pub extern "C" fn by_rust() -> *const u8 {
    (&raw const BY_RUST).cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn by_c() -> *const u8 {
    (&raw const BY_C).cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn say() {
    println!("plugin_by_rust={}", shared::said(&shared::ByRust::offsets()));
    println!("plugin_by_c={}", shared::said(&shared::ByC::offsets()));
}
