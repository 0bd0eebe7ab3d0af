//! The gates that a plugin's struct passes before anything of it is called: arithmetic alone.

use std::path::Path;

use super::Rejected;
use super::abi::{
    ABI_VERSION, ClaimedKeys, Create, Destroy, LEVEL_1_BYTES, LEVEL_2_BYTES, PluginApi, Process, ProcessBatch,
};

/// The most that `struct_size` may say: a page. Later editions append functions, and will for a long time not fill it; a
/// greater number is no size.
pub const MOST_BYTES: u32 = 4096;

/// A plugin's functions, all there; copied, so that what the library does to its struct later changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct Functions {
    /// What the plugin says its struct's size is, in bytes.
    pub struct_size: u32,
    /// What it says its functions mean.
    pub abi_version: u32,
    /// Which keys it handles.
    pub claimed_keys: ClaimedKeys,
    /// Makes an instance.
    pub create: Create,
    /// Ends one.
    pub destroy: Destroy,
    /// Works on one packet.
    pub process: Process,
    /// Works on several; `None` where the plugin's edition of the struct ends before it, or says null.
    pub process_batch: Option<ProcessBatch>,
}

/// Takes a plugin's functions out of its struct, reading no more of it than it says there is.
///
/// # Errors
/// [`Rejected`] with the first field that is wrong.
///
/// # Safety
/// If `api` is neither null nor misaligned, as many bytes as its first four say, and eight at least, must be readable.
pub unsafe fn functions(path: &Path, api: *const PluginApi) -> Result<Functions, Rejected> {
    if api.is_null() {
        return Err(Rejected::new(path, "nanokata_plugin()", "null", "the address of a NanokataPluginApi"));
    }
    if !api.is_aligned() {
        let wanted = format!("a multiple of {}, as C aligns the struct", align_of::<PluginApi>());
        return Err(Rejected::new(path, "nanokata_plugin()", format!("{api:p}"), wanted));
    }
    // SAFETY: aligned, and the caller vouches for the first eight bytes.
    let (struct_size, abi_version) = unsafe { ((*api).struct_size, (*api).abi_version) };
    size(path, struct_size)?;
    version(path, abi_version)?;
    let pointer_bytes = size_of::<usize>() as u32;
    let has = |offset: usize| offset as u32 + pointer_bytes <= struct_size;
    macro_rules! function {
        ($field:ident) => {
            // SAFETY: `size` saw to it that the struct reaches past the level-1 fields; the caller vouches for them.
            unsafe { (*api).$field }
                .ok_or_else(|| Rejected::new(path, stringify!($field), "null", "a function's address"))?
        };
    }
    Ok(Functions {
        struct_size,
        abi_version,
        claimed_keys: function!(claimed_keys),
        create: function!(create),
        destroy: function!(destroy),
        process: function!(process),
        process_batch: if has(std::mem::offset_of!(PluginApi, process_batch)) {
            // SAFETY: the struct reaches to there.
            unsafe { (*api).process_batch }
        } else {
            None
        },
    })
}

/// Whether a struct of that size can be one of this ABI.
///
/// # Errors
/// [`Rejected`]: shorter than the first edition, no whole number of fields, or beyond all reason.
pub fn size(path: &Path, struct_size: u32) -> Result<(), Rejected> {
    let pointer_bytes = size_of::<usize>() as u32;
    let wanted = if struct_size < LEVEL_1_BYTES {
        format!(
            "at least {LEVEL_1_BYTES}, the header's first edition; set it to sizeof(NanokataPluginApi) and build again"
        )
    } else if struct_size > MOST_BYTES {
        format!(
            "{LEVEL_1_BYTES} or {LEVEL_2_BYTES}; more than {MOST_BYTES} is no size of a struct of functions"
        )
    } else if !struct_size.is_multiple_of(pointer_bytes) {
        format!(
            "a multiple of {pointer_bytes}, since each field after the first two is an address; it ends within one"
        )
    } else {
        return Ok(());
    };
    Err(Rejected::new(path, "struct_size", struct_size, wanted))
}

/// Whether this host knows what functions of that version mean.
///
/// # Errors
/// [`Rejected`] for any version but its own.
pub fn version(path: &Path, abi_version: u32) -> Result<(), Rejected> {
    if abi_version == ABI_VERSION {
        return Ok(());
    }
    let wanted = match abi_version {
        0 => format!("{ABI_VERSION}; 0 is what an unfilled struct says"),
        _ => format!("{ABI_VERSION}; build the plugin against this host's nanokata_plugin.h"),
    };
    Err(Rejected::new(path, "abi_version", abi_version, wanted))
}
