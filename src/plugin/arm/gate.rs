//! The gates that an arm's struct passes before anything of it is called; whole arms and selections have the same fields.

use std::path::Path;
use std::sync::Arc;

use super::abi::{ARM_ABI_VERSION, ArmApi, Create, Destroy, Run, Select, SelectApi};
use crate::plugin::{Examined, Library, Rejected};

/// The functions of an arm, all there; `T` is what is timed.
#[derive(Debug, Clone)]
pub struct Functions<T> {
    pub create: Create,
    pub destroy: Destroy,
    pub timed: T,
    /// What they come from.
    pub library: Arc<Library>,
}

/// The symbol of a whole arm.
pub const ARM: &str = "nanokata_arm";
/// The symbol of a selection.
pub const SELECT: &str = "nanokata_select";

/// The whole arm that a library exports.
///
/// # Errors
/// [`Rejected`] by the first gate that it doesn't pass.
///
/// # Safety
/// Its code runs in this process and can do whatever it likes.
pub unsafe fn arm(path: &Path) -> Result<Functions<Run>, Rejected> {
    // SAFETY: the caller vouches for what runs.
    let (api, library) = unsafe { exported::<ArmApi>(path, ARM) }?;
    let path = library.path();
    Ok(Functions {
        create: there(path, "create", api.create)?,
        destroy: there(path, "destroy", api.destroy)?,
        timed: there(path, "run", api.run)?,
        library,
    })
}

/// The selection that a library exports.
///
/// # Errors
/// [`Rejected`] by the first gate that it doesn't pass.
///
/// # Safety
/// As [`arm`].
pub unsafe fn select(path: &Path) -> Result<Functions<Select>, Rejected> {
    // SAFETY: the caller vouches for what runs.
    let (api, library) = unsafe { exported::<SelectApi>(path, SELECT) }?;
    let path = library.path();
    Ok(Functions {
        create: there(path, "create", api.create)?,
        destroy: there(path, "destroy", api.destroy)?,
        timed: there(path, "select", api.select)?,
        library,
    })
}

fn there<T>(path: &Path, field: &'static str, function: Option<T>) -> Result<T, Rejected> {
    function.ok_or_else(|| Rejected::new(path, field, "null", "a function's address"))
}

/// The struct behind the exported function of that name, once its size and version are right.
///
/// # Safety
/// `T` must be the struct that goes with the symbol, and begin with its size and its version; what runs is the caller's to
/// vouch for.
unsafe fn exported<T: Copy>(path: &Path, symbol: &'static str) -> Result<(T, Arc<Library>), Rejected> {
    let examined = Examined::read(path)?;
    examined.require(symbol)?;
    // SAFETY: the caller vouches for what runs.
    let library = unsafe { Library::open(&examined) }?;
    // SAFETY: a function of that name has that type by contract, and is called while `library` is held.
    let entry: unsafe extern "C" fn() -> *const T = unsafe { library.function(symbol) }?;
    // SAFETY: the caller vouches for what runs.
    let api = unsafe { entry() };
    if api.is_null() || !api.is_aligned() {
        let wanted = "the address of its struct of functions, aligned as C aligns it";
        return Err(Rejected::new(library.path(), "struct", format!("{api:p}"), wanted));
    }
    // SAFETY: aligned, and by contract it begins with these two.
    let [struct_size, abi_version] = unsafe { api.cast::<[u32; 2]>().read() };
    let bytes = size_of::<T>() as u32;
    if struct_size < bytes {
        return Err(Rejected::new(library.path(), "struct_size", struct_size, format!("at least {bytes}")));
    }
    if abi_version != ARM_ABI_VERSION {
        let wanted = format!("{ARM_ABI_VERSION}; build it against this host's nanokata_arm.h");
        return Err(Rejected::new(library.path(), "abi_version", abi_version, wanted));
    }
    // SAFETY: there is that much of it.
    Ok((unsafe { *api }, library))
}
