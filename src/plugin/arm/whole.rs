//! Whole arms: they find, call and fold by themselves, in code that the core never sees.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use rand::RngExt;

use super::abi::{ArmInput, Run};
use super::gate::{self, Functions};
use super::handlers::{self, Handed};
use crate::dispatch::HandlerSet;
use crate::plugin::Rejected;
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Window};
use crate::traffic::Packet;
use crate::{Error, Result};

/// How to build somebody's whole arm over a set of handlers. It must compute what every built-in arm does, and is told by
/// its checksum.
#[derive(Debug, Clone)]
pub struct ArmRecipe {
    functions: Functions<Run>,
    set: HandlerSet,
}

impl ArmRecipe {
    /// The arm of the library at `path`.
    ///
    /// # Errors
    /// [`Error::Plugin`] by the first gate that it doesn't pass; [`Error::InvalidArgument`] for a set with a plugin's
    /// handlers.
    ///
    /// # Safety
    /// Its code runs in this process and can do whatever it likes.
    pub unsafe fn load(path: &Path, set: &HandlerSet) -> Result<ArmRecipe> {
        if let Some(refusal) = handlers::refuses(set) {
            return Err(refusal);
        }
        // SAFETY: the caller vouches for what runs.
        let functions = unsafe { gate::arm(path) }?;
        Ok(ArmRecipe { functions, set: set.clone() })
    }

    /// The same arm over other handlers.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a set with a plugin's handlers.
    pub fn over(&self, set: &HandlerSet) -> Result<ArmRecipe> {
        match handlers::refuses(set) {
            Some(refusal) => Err(refusal),
            None => Ok(ArmRecipe { functions: self.functions.clone(), set: set.clone() }),
        }
    }

    /// The library's file.
    pub fn path(&self) -> PathBuf {
        self.functions.library.path().to_path_buf()
    }
}

/// A built arm, and what it was told of: freed by its library, and keeps that open.
struct Whole {
    arm: NonNull<c_void>,
    functions: Functions<Run>,
    _input: Input,
    _handed: Handed,
}

// SAFETY: by contract an arm may be used by any thread, if by one at a time, which `&mut` sees to.
unsafe impl Send for Whole {}

impl Drop for Whole {
    fn drop(&mut self) {
        // SAFETY: made by this library's `create`, freed once, before anything that it was told of.
        unsafe { (self.functions.destroy)(self.arm.as_ptr()) };
    }
}

fn run(state: &mut Whole, window: Window) -> Checksum {
    // SAFETY: the library's own function and arm; the window lies within the packets that it was told of.
    Checksum(unsafe { (state.functions.timed)(state.arm.as_ptr(), window.first as u64, window.count as u64) })
}

impl Recipe for ArmRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let handed = handlers::hand(&self.set, placement)?;
        let packets = input.items::<Packet>();
        let told = ArmInput {
            struct_size: size_of::<ArmInput>() as u32,
            body: handlers::body(&self.set),
            packets: packets.as_ptr().cast(),
            packet_count: packets.len() as u64,
            handlers: handed.handlers.as_ptr(),
            handler_count: handed.handlers.len() as u64,
            placement_seed: placement.random().random(),
        };
        // SAFETY: the library's own function; what it is told of lives as long as the arm.
        let arm = unsafe { (self.functions.create)(&raw const told) };
        let arm = NonNull::new(arm).ok_or_else(|| null(self.functions.library.path(), &self.set))?;
        Ok(Arm::new(
            Whole { arm, functions: self.functions.clone(), _input: input.clone(), _handed: handed },
            run,
        ))
    }
}

/// What is said of an arm that can't be built.
pub(super) fn null(path: &Path, set: &HandlerSet) -> Error {
    let wanted = format!(
        "an arm; it can't be built for {} handlers with {} bodies, of which {} test more than their key",
        set.len(),
        set.body(),
        set.residual_count()
    );
    Rejected::new(path, "create()", "null", wanted).into()
}
