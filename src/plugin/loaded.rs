//! A plugin that passed every gate, and instances of it.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use super::abi::{self, Claim, EntryPoint, PacketView, PluginResult};
use super::gate::{self, Functions};
use super::library::{Examined, Library};
use super::{Rejected, claims};
use crate::traffic::Packet;

/// A loaded plugin: its functions, what it claims, and the library that both come from.
#[derive(Debug)]
pub struct Plugin {
    functions: Functions,
    claims: Vec<Claim>,
    library: Arc<Library>,
    sha256: String,
}

impl Plugin {
    /// Loads the plugin at `path`.
    ///
    /// # Errors
    /// [`Rejected`], by the first gate that it doesn't pass.
    ///
    /// # Safety
    /// Its code runs in this process, from its constructors on, and can do whatever it likes; only an examination in another
    /// process tells beforehand what that is.
    pub unsafe fn load(path: &Path) -> Result<Arc<Plugin>, Rejected> {
        // SAFETY: as above.
        unsafe { Self::open(&Examined::read(path)?) }
    }

    /// The plugin in a library that was examined.
    ///
    /// # Errors
    /// As [`Plugin::load`].
    ///
    /// # Safety
    /// As [`Plugin::load`].
    pub unsafe fn open(examined: &Examined) -> Result<Arc<Plugin>, Rejected> {
        examined.require(abi::SYMBOL)?;
        // SAFETY: the caller vouches for what runs.
        let library = unsafe { Library::open(examined) }?;
        let path = library.path();
        // SAFETY: a function of that name has that type by contract, and is called while `library` is held.
        let entry: EntryPoint = unsafe { library.function(abi::SYMBOL) }?;
        // SAFETY: the caller vouches for what runs; what is returned is read no further than it says it reaches.
        let functions = unsafe { gate::functions(path, entry()) }?;
        // SAFETY: the plugin's own function, while `library` is held.
        let claims = unsafe { claims::ask(path, functions.claimed_keys) }?;
        Ok(Arc::new(Plugin { functions, claims, library, sha256: examined.sha256() }))
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        self.library.path()
    }

    /// The library.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// The SHA-256 of the library's bytes, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Its functions.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// What it claims, in its own order.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }
}

/// What came of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processed {
    /// It was processed, under that claim.
    Done {
        /// What was computed.
        value: u64,
        /// The claim's place.
        claim: u16,
    },
    /// It isn't the plugin's.
    NotMine,
    /// The plugin says that it failed.
    Failed {
        /// What it said.
        status: i32,
    },
    /// It says that it processed it, under a claim that it doesn't have.
    UnknownClaim {
        /// What it wrote.
        claim: u16,
    },
}

/// What a status and a result mean, of whoever has that many claims.
#[inline(always)]
pub fn read(status: i32, result: &PluginResult, claims: usize) -> Processed {
    match status {
        abi::OK if usize::from(result.claim) < claims => {
            Processed::Done { value: result.value, claim: result.claim }
        }
        abi::OK => Processed::UnknownClaim { claim: result.claim },
        abi::NOT_MINE => Processed::NotMine,
        status => Processed::Failed { status },
    }
}

/// The view of a packet that a plugin is lent.
#[inline(always)]
pub fn view(packet: &Packet) -> PacketView {
    PacketView {
        payload: packet.payload.as_ptr(),
        payload_length: packet.payload.len() as u32,
        flow: packet.flow,
        protocol: packet.protocol,
        length: packet.length,
        reserved: 0,
    }
}

/// One instance of a plugin; freed by the plugin, and keeps its library open.
#[derive(Debug)]
pub struct Instance {
    pointer: NonNull<c_void>,
    plugin: Arc<Plugin>,
}

// SAFETY: by contract an instance may be used by any thread, if by one at a time, which `&mut self` sees to.
unsafe impl Send for Instance {}

impl Instance {
    /// Has the plugin make one.
    ///
    /// # Errors
    /// [`Rejected`] where it returns null.
    pub fn create(plugin: &Arc<Plugin>) -> Result<Instance, Rejected> {
        // SAFETY: the plugin's own function; `plugin` keeps the library open.
        let pointer = unsafe { (plugin.functions.create)() };
        match NonNull::new(pointer) {
            Some(pointer) => Ok(Instance { pointer, plugin: Arc::clone(plugin) }),
            None => Err(Rejected::new(plugin.path(), "create()", "null", "an instance; it has none to give")),
        }
    }

    /// The plugin's own pointer to it, valid as long as this lives.
    pub(super) fn as_ptr(&self) -> NonNull<c_void> {
        self.pointer
    }

    /// The plugin.
    pub fn plugin(&self) -> &Arc<Plugin> {
        &self.plugin
    }

    /// Lends it one packet.
    #[inline]
    pub fn process(&mut self, packet: &Packet) -> Processed {
        // SAFETY: the packet lives through the call.
        unsafe { self.process_view(&view(packet)) }
    }

    /// The same, unread: what it wrote, with what it returned as the status.
    #[inline]
    pub fn result(&mut self, packet: &Packet) -> PluginResult {
        // SAFETY: the packet lives through the call.
        unsafe { self.result_of(&view(packet)) }
    }

    /// Lends it the packet of a view.
    ///
    /// # Safety
    /// The view's payload must be readable for as many bytes as it says.
    #[inline]
    pub unsafe fn process_view(&mut self, view: &PacketView) -> Processed {
        // SAFETY: the caller vouches for the payload.
        let result = unsafe { self.result_of(view) };
        self.read(result.status, &result)
    }

    #[inline(always)]
    unsafe fn result_of(&mut self, view: &PacketView) -> PluginResult {
        let mut result = PluginResult::default();
        // SAFETY: the plugin's own function and instance; view and result live through the call, and the caller vouches
        // for the payload.
        let status = unsafe { (self.plugin.functions.process)(self.pointer.as_ptr(), view, &raw mut result) };
        PluginResult { status, ..result }
    }

    /// Lends it several at once; `false` where its edition has no way to.
    ///
    /// # Panics
    /// If there are fewer results than views.
    pub fn process_batch(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> Option<i32> {
        let process_batch = self.plugin.functions.process_batch?;
        assert!(results.len() >= views.len());
        // SAFETY: as in `process`; the arrays hold as many as it is told.
        let status = unsafe {
            process_batch(self.pointer.as_ptr(), views.as_ptr(), views.len() as u64, results.as_mut_ptr())
        };
        Some(status)
    }

    /// What a status and a result mean.
    #[inline]
    pub fn read(&self, status: i32, result: &PluginResult) -> Processed {
        read(status, result, self.plugin.claims.len())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: made by this plugin's `create`, freed once, while the library is open.
        unsafe { (self.plugin.functions.destroy)(self.pointer.as_ptr()) };
    }
}
