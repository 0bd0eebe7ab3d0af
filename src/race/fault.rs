//! Faults that can be built into an arm on purpose, to see the checksum catch them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::arm::{Recipe, Reference};
use crate::{Error, Result, catalogue};

/// What is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Handlers that test more than their key are never found.
    SkipResidual,
    /// Nothing is done, and a constant is returned: what an optimiser might leave of a loop.
    ConstantResult,
    /// The last operation of each window is left out.
    DropPacket,
    /// The registration order is reversed, among handlers whose predicates overlap.
    WrongOrder,
    /// The right handler runs, and its result is signed with the next one's number.
    WrongHandlerId,
    /// Each packet is processed with the payload of the one before.
    StalePayload,
    /// The key is read with its two bytes swapped.
    SwappedKey,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 7] = [
        Fault::SkipResidual,
        Fault::ConstantResult,
        Fault::DropPacket,
        Fault::WrongOrder,
        Fault::WrongHandlerId,
        Fault::StalePayload,
        Fault::SwappedKey,
    ];

    /// Its name, as `--sabotage` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Fault::SkipResidual => "skip-residual",
            Fault::ConstantResult => "constant-result",
            Fault::DropPacket => "drop-packet",
            Fault::WrongOrder => "wrong-order",
            Fault::WrongHandlerId => "wrong-handler-id",
            Fault::StalePayload => "stale-payload",
            Fault::SwappedKey => "swapped-key",
        }
    }

    /// What it does, in one line.
    pub fn help(self) -> &'static str {
        match self {
            Fault::SkipResidual => "handlers that test more than their key are never found",
            Fault::ConstantResult => "nothing is done and a constant is returned",
            Fault::DropPacket => "the last operation of each window is left out",
            Fault::WrongOrder => "the registration order is reversed, among handlers that overlap",
            Fault::WrongHandlerId => "the right handler runs and signs with the next one's number",
            Fault::StalePayload => "each packet is processed with the payload of the one before",
            Fault::SwappedKey => "the key is read with its two bytes swapped",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let names = || Fault::ALL.into_iter().map(Fault::name);
        Fault::ALL
            .into_iter()
            .find(|fault| fault.name() == text)
            .ok_or_else(|| Error::invalid("sabotage", text, catalogue::nearest(text, names())))
    }
}

/// An arm with a fault, and what it takes to show that the fault is caught.
pub struct Broken {
    /// The faulty arm.
    pub recipe: Arc<dyn Recipe>,
    /// What the faulty arm computes, by plain code: where that is what a sound one does, the input never shows the fault.
    pub becomes: Arc<dyn Reference>,
    /// The same arm without the fault and what it must compute, where those aren't the entry's own: a fault may show only
    /// among handlers of another kind.
    pub sound: Option<(Arc<dyn Recipe>, Arc<dyn Reference>)>,
}
