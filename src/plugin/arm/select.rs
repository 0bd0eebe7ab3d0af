//! Selections: who runs, without running anybody. One call for a batch of packets, the same for everybody's and for the
//! built-in ones, so that nothing but the finding differs.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use rand::RngExt;

use super::abi::{self, ArmInput, Select};
use super::gate::{self, Functions};
use super::handlers::{self, Handed};
use super::whole::null;
use crate::Result;
use crate::dispatch::{HandlerSet, SelectionArm, SelectionRecipe, Selector, reference};
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Reference, Settle, Source, Watch, Window};
use crate::traffic::Packet;

/// Packets that one call is asked about: enough that the call itself is nothing beside them, and their places stay in the L1.
const BATCH: usize = 256;

/// Who selects.
#[derive(Debug, Clone)]
pub enum Selecting {
    /// A built-in arm, over handlers numbered by their places.
    BuiltIn(SelectionRecipe),
    /// Somebody's library.
    Library(Box<Functions<Select>>),
}

/// How to build a selection over a set of handlers.
#[derive(Debug, Clone)]
pub struct SelectRecipe {
    selecting: Selecting,
    set: HandlerSet,
}

impl SelectRecipe {
    /// A built-in one; an arm that doesn't keep the registration order finds other handlers where predicates overlap.
    pub fn built_in(arm: SelectionArm, set: &HandlerSet) -> Result<SelectRecipe> {
        match handlers::refuses(set) {
            Some(refusal) => Err(refusal),
            None => Ok(SelectRecipe {
                selecting: Selecting::BuiltIn(Selector::recipe(arm, set)?),
                set: set.clone(),
            }),
        }
    }

    /// The one of the library at `path`.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) by the first gate that it doesn't pass;
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a set with a plugin's handlers.
    ///
    /// # Safety
    /// Its code runs in this process and can do whatever it likes.
    pub unsafe fn load(path: &Path, set: &HandlerSet) -> Result<SelectRecipe> {
        if let Some(refusal) = handlers::refuses(set) {
            return Err(refusal);
        }
        // SAFETY: the caller vouches for what runs.
        let functions = Box::new(unsafe { gate::select(path) }?);
        Ok(SelectRecipe { selecting: Selecting::Library(functions), set: set.clone() })
    }

    /// The same with everything settled that it would otherwise find out from the input at each build.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) once `watch` is stopped.
    pub fn settled_for(&self, packets: &[Packet], watch: &Watch) -> Result<SelectRecipe> {
        let selecting = match &self.selecting {
            Selecting::BuiltIn(recipe) => Selecting::BuiltIn(recipe.settled_for(packets, watch)?),
            library @ Selecting::Library(_) => library.clone(),
        };
        Ok(SelectRecipe { selecting, set: self.set.clone() })
    }

    /// The built-in arm that it is, or the library's file.
    pub fn source(&self) -> Result<SelectionArm, PathBuf> {
        match &self.selecting {
            Selecting::BuiltIn(recipe) => Ok(recipe.arm()),
            Selecting::Library(functions) => Err(functions.library.path().to_path_buf()),
        }
    }
}

/// A built selection of a library: freed by it, and keeps it open.
struct Foreign {
    selection: NonNull<c_void>,
    functions: Functions<Select>,
    _handed: Handed,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: made by this library's `create`, freed once, before anything that it was told of.
        unsafe { (self.functions.destroy)(self.selection.as_ptr()) };
    }
}

/// Whoever selects, by one pointer: the call is the same for all.
struct Batches {
    select: Select,
    selection: NonNull<c_void>,
    input: Input,
    places: Box<[u16; BATCH]>,
    /// What is behind the pointers.
    _keep: Box<dyn Send>,
}

// SAFETY: by contract a selection may be used by any thread, if by one at a time, which `&mut` sees to.
unsafe impl Send for Batches {}
// SAFETY: as above.
unsafe impl Send for Foreign {}

fn run(state: &mut Batches, window: Window) -> Checksum {
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    let mut checksum = Checksum::EMPTY;
    for packets in packets.chunks(BATCH) {
        // What was found before must not pass for what wasn't written.
        state.places[..packets.len()].fill(UNWRITTEN);
        // SAFETY: the function and the selection belong together; there is room for as many places as packets.
        unsafe {
            (state.select)(
                state.selection.as_ptr(),
                packets.as_ptr().cast(),
                packets.len() as u64,
                state.places.as_mut_ptr(),
            );
        }
        for &place in &state.places[..packets.len()] {
            checksum = checksum.fold(place.into(), 0);
        }
    }
    checksum
}

/// No place: sets have 1,024 handlers at most.
const UNWRITTEN: u16 = 0xFFFE;

impl Recipe for SelectRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let places = Box::new([UNWRITTEN; BATCH]);
        let batches = match &self.selecting {
            Selecting::BuiltIn(recipe) => {
                let selector = Selector::build(recipe, input.items(), placement)?;
                let selection = selector.pointer();
                Batches {
                    // SAFETY: but for the names of its structs the same function; packets are laid out alike.
                    select: unsafe { std::mem::transmute::<*const c_void, Select>(selector.function()) },
                    selection,
                    input: input.clone(),
                    places,
                    _keep: Box::new(selector),
                }
            }
            Selecting::Library(functions) => {
                let handed = handlers::hand(&self.set, placement)?;
                let told = ArmInput {
                    struct_size: size_of::<ArmInput>() as u32,
                    body: handlers::body(&self.set),
                    packets: std::ptr::null(),
                    packet_count: 0,
                    handlers: handed.handlers.as_ptr(),
                    handler_count: handed.handlers.len() as u64,
                    placement_seed: placement.random().random(),
                };
                // SAFETY: the library's own function; what it is told of lives as long as the selection.
                let selection = unsafe { (functions.create)(&raw const told) };
                let selection =
                    NonNull::new(selection).ok_or_else(|| null(functions.library.path(), &self.set))?;
                let foreign = Foreign { selection, functions: Functions::clone(functions), _handed: handed };
                Batches {
                    select: functions.timed,
                    selection,
                    input: input.clone(),
                    places,
                    _keep: Box::new(foreign),
                }
            }
        };
        Ok(Arm::new(batches, run))
    }

    fn settle(&self) -> Settle {
        match &self.selecting {
            Selecting::BuiltIn(recipe) => recipe.settle(),
            // What a library's learns from what it sees can't be known.
            Selecting::Library(_) => Settle::Pass,
        }
    }
}

/// What every selection must find, by plain code.
#[derive(Debug, Clone)]
pub struct SelectReference {
    set: HandlerSet,
    /// The place of each handler in registration order, by its number.
    places: Vec<u16>,
}

impl SelectReference {
    /// For selections over `set`.
    pub fn new(set: &HandlerSet) -> Self {
        let mut places = vec![0; set.len()];
        for (place, &id) in set.order().iter().enumerate() {
            places[id] = place as u16;
        }
        SelectReference { set: set.clone(), places }
    }
}

impl Reference for SelectReference {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let packets = &source.items::<Packet>()[window.first..][..window.count];
        packets.iter().fold(Checksum::EMPTY, |checksum, packet| {
            let place = reference::running(&self.set, packet).map_or(abi::NO_HANDLER, |id| self.places[id]);
            checksum.fold(place.into(), 0)
        })
    }
}
