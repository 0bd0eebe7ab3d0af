//! Arms that are wrong on purpose: whoever checks results shows with them that it would notice.

use super::HandlerSet;
use super::mechanism::DynTrait;
use super::replay;
use super::selection::{Slot, TableCompact};
use crate::Result;
use crate::race::{Arm, Checksum, Input, Placement, Recipe};

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A compact table that has forgotten its residual candidates.
    SkipsResiduals,
    /// An arm that does nothing and returns a constant: what an optimiser might leave of a loop.
    ReturnsConstant,
}

/// A recipe for a faulty arm.
#[derive(Debug, Clone)]
pub struct FaultyRecipe {
    fault: Fault,
    set: HandlerSet,
}

impl FaultyRecipe {
    /// An arm over `set` with that fault.
    pub fn new(fault: Fault, set: &HandlerSet) -> Self {
        FaultyRecipe { fault, set: set.clone() }
    }
}

impl Recipe for FaultyRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        match self.fault {
            Fault::SkipsResiduals => {
                let forget = |slot| match slot {
                    Slot::Only(only) => Slot::Only(only),
                    Slot::Tested { .. } => Slot::UNCLAIMED,
                };
                let table = TableCompact::build_with(&self.set, None, placement, forget)?;
                Ok(replay::arm::<_, DynTrait>(table, input))
            }
            Fault::ReturnsConstant => Ok(Arm::new((), |(), _| Checksum::EMPTY)),
        }
    }
}
