//! Boundaries that this core knows nothing of, offered by whoever it is built into: a callback into a language's runtime.

use std::sync::OnceLock;

use super::batch::Boundary;
use crate::Result;
use crate::plugin::abi::{PacketView, PluginResult};

/// Carries a batch to the other side, has [`serve_batch`](super::serve_batch) called there, and carries the results back.
pub trait Carrier: Send {
    /// `results` has as many as `views`; anything but [`abi::OK`](crate::plugin::abi::OK) says that it failed.
    ///
    /// # Safety
    /// Each view's payload must be readable for as many bytes as it says, until this returns.
    unsafe fn carry(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32;
}

/// A boundary on offer.
#[derive(Debug)]
pub struct Offer {
    /// Its name, as a parameter spells it.
    pub name: &'static str,
    /// What crossing it once is.
    pub spoken: &'static str,
    /// Makes one; its argument is the first handler's key.
    pub make: fn(u16) -> Result<Box<dyn Carrier>>,
}

static OFFERED: OnceLock<Offer> = OnceLock::new();

/// Offers a boundary to the experiments of this process; the first offer stands.
pub fn offer(offer: Offer) {
    let _ = OFFERED.set(offer);
}

/// What was offered.
pub fn offered() -> Option<&'static Offer> {
    OFFERED.get()
}

/// The boundary that a carrier is.
pub(super) struct Carried(pub Box<dyn Carrier>);

impl Boundary for Carried {
    #[inline(always)]
    unsafe fn cross<const COPY: usize>(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
        // SAFETY: the caller's.
        unsafe { self.0.carry(views, results) }
    }
}
