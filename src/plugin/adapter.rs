//! The adapter: a plugin's C functions go in, handlers as the core knows them come out, and nothing of the plugin's own
//! enters the core's types.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::abi::{self, CLAIM_RESIDUAL, PluginResult, Process};
use super::{Instance, Plugin, Processed, Rejected, view};
use crate::dispatch::foreign::{Asked, Foreign, PlacedForeign};
use crate::dispatch::{Handler, HandlerSet, HandlerSpec, Outcome, Residual, UNSUPPORTED};
use crate::race::Placement;
use crate::race::placement::Keep;
use crate::traffic::Packet;
use crate::{Error, Result};

/// `set` with a handler for each of a plugin's claims behind its own.
///
/// A claim by key alone takes each packet of that key. Of a residual one nothing is known but the key, so it only ever
/// enters the residual list of that key, where asking costs a whole call of the plugin's `process`.
///
/// # Errors
/// [`Error::InvalidArgument`] for more handlers than a set holds, or a claim that an earlier handler leaves nothing of;
/// [`Error::Plugin`] where the plugin has no instance to give.
pub fn with_plugin(set: &HandlerSet, plugin: &Arc<Plugin>) -> Result<HandlerSet> {
    set.with_foreign(Arc::new(Claimed { plugin: Arc::clone(plugin) }))
}

/// A plugin as somebody who brings handlers.
#[derive(Debug)]
struct Claimed {
    plugin: Arc<Plugin>,
}

impl Foreign for Claimed {
    fn name(&self) -> String {
        self.plugin.path().display().to_string()
    }

    fn specs(&self) -> Vec<HandlerSpec> {
        let spec = |claim: &abi::Claim| HandlerSpec {
            key: claim.key,
            residual: if claim.flags & CLAIM_RESIDUAL == 0 { Residual::None } else { Residual::Opaque },
        };
        self.plugin.claims().iter().map(spec).collect()
    }

    fn place(&self, signatures: &[u16], placement: &mut Placement) -> Result<PlacedForeign> {
        let instance = Instance::create(&self.plugin)?;
        let mut handlers = Vec::with_capacity(signatures.len());
        let mut keeps = Vec::with_capacity(signatures.len());
        for ((place, claim), &signature) in self.plugin.claims().iter().enumerate().zip(signatures) {
            let (found, kept) = placement.place(UNSUPPORTED)?.into_parts();
            keeps.push(kept);
            let (adapter, kept) = placement
                .place(Adapter {
                    process: self.plugin.functions().process,
                    instance: instance.as_ptr(),
                    key: claim.key,
                    place: place as u16,
                    signature,
                    residual: claim.flags & CLAIM_RESIDUAL != 0,
                    found,
                })?
                .into_parts();
            let handler: NonNull<dyn Handler> = adapter;
            handlers.push(handler);
            keeps.push(kept);
        }
        Ok(PlacedForeign { handlers, keep: Box::new(Kept { _instance: instance, _adapters: keeps }) })
    }

    fn asked(&self) -> Result<Box<dyn Asked>> {
        Ok(Box::new(Directly { instance: Instance::create(&self.plugin)? }))
    }
}

/// What adapters need as long as they are called: the instance, which keeps its library, and their own memory.
struct Kept {
    _instance: Instance,
    _adapters: Vec<Keep>,
}

/// One claim of one instance, as a handler.
#[derive(Clone, Copy)]
struct Adapter {
    process: Process,
    instance: NonNull<c_void>,
    key: u16,
    /// The claim's place among the plugin's.
    place: u16,
    /// The handler's number in its set.
    signature: u16,
    residual: bool,
    /// What a residual claim's `matches` found out, for the `process` that follows: the work is the test.
    found: NonNull<Outcome>,
}

// SAFETY: the adapters of an instance are placed for one arm, which hands them to nobody, and which one thread at a time runs
// (`Arm::run` takes `&mut self`); by contract an instance may move between threads.
unsafe impl Send for Adapter {}
// SAFETY: as above: references to an adapter never leave the arm.
unsafe impl Sync for Adapter {}

impl Adapter {
    /// One call across the boundary. Whoever says anything but that it processed the packet under this very claim has
    /// computed nothing.
    #[inline(always)]
    fn call(&self, packet: &Packet) -> Option<u64> {
        let view = view(packet);
        let mut result = PluginResult::default();
        // SAFETY: the plugin's own function and instance, which `Kept` keeps; view, payload and result live through the
        // call.
        let status = unsafe { (self.process)(self.instance.as_ptr(), &raw const view, &raw mut result) };
        (status == abi::OK && result.claim == self.place).then_some(result.value)
    }
}

impl Handler for Adapter {
    fn matches(&self, packet: &Packet) -> bool {
        if packet.protocol != self.key {
            return false;
        }
        if !self.residual {
            return true;
        }
        let computed = self.call(packet);
        if let Some(value) = computed {
            // SAFETY: this adapter's own place, which `Kept` keeps and nobody else refers to.
            unsafe { self.found.write(Outcome { value, handler: self.signature }) };
        }
        computed.is_some()
    }

    extern "C" fn process(&self, packet: &Packet) -> Outcome {
        if self.residual {
            // Only ever reached through `matches`: a residual claim has no slot of its own.
            // SAFETY: as in `matches`.
            return unsafe { self.found.replace(UNSUPPORTED) };
        }
        match self.call(packet) {
            Some(value) => Outcome { value, handler: self.signature },
            None => UNSUPPORTED,
        }
    }
}

/// An instance asked by plain code: what arms must compute, and whether the plugin keeps its word.
struct Directly {
    instance: Instance,
}

impl Asked for Directly {
    fn ask(&mut self, place: usize, packet: &Packet) -> Result<Option<u64>> {
        let plugin = Arc::clone(self.instance.plugin());
        let claim = plugin.claims()[place];
        let residual = claim.flags & CLAIM_RESIDUAL != 0;
        let broken = |value: String, wanted: &str| {
            let value = format!("{value} for a packet of key {}", claim.key);
            Err(Error::from(Rejected::new(plugin.path(), "process()", value, wanted)))
        };
        match self.instance.process(packet) {
            Processed::Done { value, claim: done } if usize::from(done) == place => Ok(Some(value)),
            Processed::Done { claim: done, .. } | Processed::UnknownClaim { claim: done } => {
                broken(format!("claim {done}"), &format!("claim {place}, the one with that key"))
            }
            Processed::NotMine if residual => Ok(None),
            Processed::NotMine => {
                broken("NANOKATA_NOT_MINE".into(), "that of residual claims only; flag the claim as one")
            }
            Processed::Failed { status } if status > 0 => broken(
                format!("status {status}"),
                "0, 1 for a residual claim, or a negative number for an error",
            ),
            Processed::Failed { status } => {
                broken(format!("error {status}"), "0: it has to work on each packet that it claims")
            }
        }
    }
}
