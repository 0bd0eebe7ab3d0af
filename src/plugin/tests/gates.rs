//! Every field of the struct, with every value: taken or refused by name, and never read past.

use std::ffi::c_void;
use std::path::Path;

use proptest::prelude::*;

use crate::plugin::abi::{
    CLAIM_RESIDUAL, Claim, LEVEL_1_BYTES, LEVEL_2_BYTES, PacketView, PluginApi, PluginResult,
};
use crate::plugin::{claims, gate};

unsafe extern "C" fn keys(_: *mut Claim, _: u32) -> u32 {
    1
}
unsafe extern "C" fn create() -> *mut c_void {
    std::ptr::null_mut()
}
unsafe extern "C" fn destroy(_: *mut c_void) {}
unsafe extern "C" fn process(_: *mut c_void, _: *const PacketView, _: *mut PluginResult) -> i32 {
    0
}
unsafe extern "C" fn batch(_: *mut c_void, _: *const PacketView, _: u64, _: *mut PluginResult) -> i32 {
    0
}

fn whole() -> PluginApi {
    PluginApi {
        struct_size: LEVEL_2_BYTES,
        abi_version: 1,
        claimed_keys: Some(keys),
        create: Some(create),
        destroy: Some(destroy),
        process: Some(process),
        process_batch: Some(batch),
    }
}

fn gated(api: &PluginApi) -> Result<gate::Functions, &'static str> {
    // SAFETY: a whole struct is behind the pointer.
    unsafe { gate::functions(Path::new("made.so"), api) }.map_err(|rejected| rejected.field)
}

/// A size near the ones that mean something, or any.
fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![0..64_u32, 4080..4112_u32, any::<u32>()]
}

proptest! {
    #[test]
    fn sizes_are_taken_or_refused_by_arithmetic(struct_size in sizes(), abi_version in prop_oneof![0..4_u32, any::<u32>()]) {
        let said = gated(&PluginApi { struct_size, abi_version, ..whole() }).map(|functions| functions.process_batch.is_some());
        let size_fits = (LEVEL_1_BYTES..=gate::MOST_BYTES).contains(&struct_size) && struct_size % 8 == 0;
        let expected = match (size_fits, abi_version) {
            (false, _) => Err("struct_size"),
            (true, 1) => Ok(struct_size >= LEVEL_2_BYTES),
            (true, _) => Err("abi_version"),
        };
        prop_assert_eq!(said, expected);
    }

    #[test]
    fn each_null_function_is_named(present in any::<[bool; 5]>(), level_1 in any::<bool>()) {
        let [has_keys, has_create, has_destroy, has_process, has_batch] = present;
        let whole = whole();
        let api = PluginApi {
            struct_size: if level_1 { LEVEL_1_BYTES } else { LEVEL_2_BYTES },
            claimed_keys: whole.claimed_keys.filter(|_| has_keys),
            create: whole.create.filter(|_| has_create),
            destroy: whole.destroy.filter(|_| has_destroy),
            process: whole.process.filter(|_| has_process),
            process_batch: whole.process_batch.filter(|_| has_batch),
            ..whole
        };
        let fields = ["claimed_keys", "create", "destroy", "process"];
        let expected = match present[..4].iter().position(|present| !present) {
            Some(missing) => Err(fields[missing]),
            None => Ok(has_batch && !level_1),
        };
        prop_assert_eq!(gated(&api).map(|functions| functions.process_batch.is_some()), expected);
    }

    /// A struct that ends where it says, behind which nothing may be read.
    #[test]
    fn no_more_is_read_than_there_is(fields in 5..8_usize) {
        let page = rustix::param::page_size();
        let mapped = guarded(page);
        let bytes = fields * 8;
        // SAFETY: the struct's last byte is the page's last; the words that don't fit aren't written.
        let api = unsafe {
            let at = mapped.cast::<u8>().add(page - bytes);
            std::ptr::copy_nonoverlapping((&raw const PADDED).cast::<u8>(), at, bytes);
            at.cast::<u32>().write(bytes as u32);
            at.cast::<PluginApi>()
        };
        // SAFETY: as many bytes as it says are readable.
        let functions = unsafe { gate::functions(Path::new("made.so"), api) };
        prop_assert_eq!(functions.map(|functions| functions.process_batch.is_some()).ok(), Some(fields >= 6));
        // SAFETY: mapped above, used no more.
        unsafe { rustix::mm::munmap(mapped, 2 * page).expect("it was mapped") };
    }

    #[test]
    fn claims_are_kept_or_refused(given in prop::collection::vec((prop_oneof![0..4_u16, 65530..=65535_u16], 0..4_u16), 1..6)) {
        let claims: Vec<Claim> = given.iter().map(|&(key, flags)| Claim { key, flags }).collect();
        let distinct = {
            let mut keys: Vec<u16> = given.iter().map(|&(key, _)| key).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.len() == given.len()
        };
        let fine = distinct && given.iter().all(|&(key, flags)| key != 65535 && flags & !CLAIM_RESIDUAL == 0);
        prop_assert_eq!(claims::check(Path::new("made.so"), &claims).is_ok(), fine);
    }
}

/// A struct and what a later edition may have behind it.
static PADDED: (PluginApi, [usize; 2]) = (
    PluginApi {
        struct_size: 0,
        abi_version: 1,
        claimed_keys: Some(keys),
        create: Some(create),
        destroy: Some(destroy),
        process: Some(process),
        process_batch: Some(batch),
    },
    [0; 2],
);

/// Two pages, the second of which can't be touched.
fn guarded(page: usize) -> *mut c_void {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
    // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing, and the second page of it is ours.
    unsafe {
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        let mapped = mmap_anonymous(std::ptr::null_mut(), 2 * page, flags, MapFlags::PRIVATE)
            .expect("two pages can be mapped");
        mprotect(mapped.cast::<u8>().add(page).cast(), page, MprotectFlags::empty()).expect("it is ours");
        mapped
    }
}

#[test]
fn null_and_misaligned_structs_are_refused() {
    // SAFETY: neither is read.
    let of = |api| unsafe { gate::functions(Path::new("made.so"), api) }.expect_err("no struct").value;
    assert_eq!(of(std::ptr::null()), "null");
    assert!(of(std::ptr::without_provenance(4097)).starts_with("0x"));
}

/// `claimed_keys` of every kind, told apart by what it is asked.
mod asked {
    use super::*;

    fn ask(claimed_keys: unsafe extern "C" fn(*mut Claim, u32) -> u32) -> Result<usize, String> {
        // SAFETY: each writes no more than the guard holds behind what it was given.
        unsafe { claims::ask(Path::new("made.so"), claimed_keys) }
            .map(|claims| claims.len())
            .map_err(|rejected| rejected.value)
    }

    /// Writes keys 0, 1, …; nothing where there is no room at all.
    fn write(claims: *mut Claim, count: u32) {
        let keys = if claims.is_null() { 0 } else { count as u16 };
        for key in 0..keys {
            // SAFETY: each function below writes no more than the host's guard holds.
            unsafe { claims.add(usize::from(key)).write(Claim { key, flags: 0 }) };
        }
    }

    unsafe extern "C" fn honest(claims: *mut Claim, _: u32) -> u32 {
        write(claims, 3);
        3
    }
    unsafe extern "C" fn none(_: *mut Claim, _: u32) -> u32 {
        0
    }
    unsafe extern "C" fn too_many(_: *mut Claim, _: u32) -> u32 {
        65_536
    }
    unsafe extern "C" fn all(_: *mut Claim, _: u32) -> u32 {
        u32::MAX
    }
    unsafe extern "C" fn changing(_: *mut Claim, capacity: u32) -> u32 {
        3 + capacity
    }
    unsafe extern "C" fn lazy(claims: *mut Claim, _: u32) -> u32 {
        write(claims, 2);
        3
    }
    unsafe extern "C" fn overrunning(claims: *mut Claim, _: u32) -> u32 {
        write(claims, 5);
        3
    }

    #[test]
    fn the_two_calls_are_held_against_each_other() {
        assert_eq!(ask(honest), Ok(3));
        let refused = |claimed_keys| ask(claimed_keys).expect_err("refused");
        assert_eq!(refused(none), "0 keys");
        assert_eq!(refused(too_many), "65536 keys");
        assert_eq!(refused(all), "4294967295 keys");
        assert_eq!(refused(changing), "3 keys, then 6");
        assert_eq!(refused(lazy), "place 2 left unwritten");
        assert_eq!(refused(overrunning), "a claim written at place 3");
    }
}
