//! Handlers whose code isn't compiled into the core: they enter the same lists and tables, by key like any other.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Handler, HandlerSpec};
use crate::Result;
use crate::race::Placement;
use crate::traffic::Packet;

/// Whoever brings handlers of their own.
pub(crate) trait Foreign: Send + Sync + fmt::Debug {
    /// Who that is, for people.
    fn name(&self) -> String;

    /// What each of its handlers matches; [`Residual::Opaque`](super::Residual::Opaque) where a key isn't all.
    fn specs(&self) -> Vec<HandlerSpec>;

    /// Makes its handlers, of fresh state, for one arm: in the order of `specs`, each signing with its number.
    ///
    /// # Errors
    /// Where it has none to give, or memory can't be mapped.
    fn place(&self, signatures: &[u16], placement: &mut Placement) -> Result<PlacedForeign>;

    /// Its handlers once more, of fresh state, to be asked by plain code.
    ///
    /// # Errors
    /// Where it has none to give.
    fn asked(&self) -> Result<Box<dyn Asked>>;
}

/// Placed handlers, and what they need as long as they are called.
pub(crate) struct PlacedForeign {
    /// In the order of their specs.
    pub handlers: Vec<NonNull<dyn Handler>>,
    /// Everything behind them.
    pub keep: Box<dyn Send>,
}

/// Handlers that are asked one packet at a time, outside any arm.
pub(crate) trait Asked: Send {
    /// What handler `place` makes of a packet with its key; `None` where the packet turns out not to be its own.
    ///
    /// # Errors
    /// Where it breaks its word.
    fn ask(&mut self, place: usize, packet: &Packet) -> Result<Option<u64>>;
}

/// Somebody's handlers as members of a set: numbers from `first` on.
#[derive(Clone)]
pub(super) struct Members {
    pub handlers: Arc<dyn Foreign>,
    pub first: usize,
    pub specs: Vec<HandlerSpec>,
    asked: Arc<Mutex<Box<dyn Asked>>>,
}

impl Members {
    /// With numbers from `first` on.
    ///
    /// # Errors
    /// As [`Foreign::asked`].
    pub fn new(handlers: Arc<dyn Foreign>, first: usize) -> Result<Self> {
        let asked = Arc::new(Mutex::new(handlers.asked()?));
        Ok(Members { specs: handlers.specs(), handlers, first, asked })
    }

    /// The place of handler `id` among them.
    pub fn place(&self, id: usize) -> Option<usize> {
        id.checked_sub(self.first).filter(|&place| place < self.specs.len())
    }

    /// As [`Asked::ask`].
    ///
    /// # Errors
    /// As there.
    pub fn ask(&self, place: usize, packet: &Packet) -> Result<Option<u64>> {
        // What a panic left behind is whatever the plugin's own state was; the next answer is checked like any.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).ask(place, packet)
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} handlers of {} from {}", self.specs.len(), self.handlers.name(), self.first)
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handlers, &other.handlers) && self.first == other.first
    }
}

impl Eq for Members {}
