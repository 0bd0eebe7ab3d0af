//! A boundary to another process, by two pipes: a batch is copied out, worked on there, and its results are copied back.

mod message;
mod process;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use message::Message;
use process::Process;

use super::batch::Boundary;
use crate::plugin::abi::{self, PacketView, PluginResult};
use crate::{Error, Result};

/// The processes of a race, of which there is one as long as an arm of it needs it: arms of a block share it, and the next
/// block's have another.
#[derive(Debug, Clone, Default)]
pub struct Shared(Arc<Mutex<Weak<Process>>>);

impl Shared {
    /// The one that runs, or a new one.
    fn process(&self, first: u16) -> Result<Arc<Process>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = kept.upgrade() {
            return Ok(running);
        }
        let started = Process::start(first)
            .map_err(|source| Error::Os { what: "starting a process behind a pipe".into(), source })?;
        let started = Arc::new(started);
        *kept = Arc::downgrade(&started);
        Ok(started)
    }

    /// The id of the one that runs.
    #[cfg(test)]
    pub(super) fn id(&self) -> Option<libc::pid_t> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.upgrade().map(|process| process.id())
    }
}

/// The boundary.
pub(super) struct Pipe {
    process: Arc<Process>,
    message: Box<Message>,
}

impl Pipe {
    /// To the process of these arms.
    ///
    /// # Errors
    /// [`Error::Os`] where none can be started.
    pub fn open(first: u16, shared: &Shared) -> Result<Self> {
        Ok(Pipe { process: shared.process(first)?, message: Message::empty() })
    }
}

impl Boundary for Pipe {
    #[inline(always)]
    unsafe fn cross<const COPY: usize>(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
        // SAFETY: the caller vouches for the payloads.
        let carried = unsafe { self.message.fill(views) } && self.process.exchange(&self.message, results);
        if carried { abi::OK } else { abi::ERROR }
    }
}
