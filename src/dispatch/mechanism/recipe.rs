//! Recipes for the mechanism arms: one compact table, several ways of calling.

use std::fmt;
use std::str::FromStr;

use super::{Direct, DynTrait};
use crate::dispatch::body::{Fat, Tiny};
use crate::dispatch::replay;
use crate::dispatch::selection::TableCompact;
use crate::dispatch::{Body, HandlerSet};
use crate::race::{Arm, Input, Placement, Recipe};
use crate::{Error, Result};

/// The ways of calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MechanismArm {
    /// Handler 0's body by a direct call, whatever was selected.
    Direct,
    /// The selected handler through its vtable.
    DynTrait,
}

impl MechanismArm {
    /// All of them.
    pub const ALL: [MechanismArm; 2] = [MechanismArm::Direct, MechanismArm::DynTrait];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MechanismArm::Direct => "direct",
            MechanismArm::DynTrait => "dyn_trait",
        }
    }

    /// What it does, in one line.
    pub fn help(self) -> &'static str {
        match self {
            MechanismArm::Direct => "the table's selection, then one fixed body by a direct call",
            MechanismArm::DynTrait => "the table's selection, then the selected handler through its vtable",
        }
    }
}

impl fmt::Display for MechanismArm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for MechanismArm {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = MechanismArm::ALL.into_iter().find(|arm| arm.name() == text);
        let names = || MechanismArm::ALL.map(MechanismArm::name).join(", ");
        found.ok_or_else(|| Error::invalid("mechanism", text, format!("one of {}", names())))
    }
}

/// How to build a mechanism arm over a set of handlers.
///
/// `direct` computes what [`DirectReference`](crate::dispatch::DirectReference) says, every other mechanism what
/// [`ScanReference`](crate::dispatch::ScanReference) says.
#[derive(Debug, Clone)]
pub struct MechanismRecipe {
    arm: MechanismArm,
    set: HandlerSet,
    footprint_bytes: usize,
}

impl MechanismRecipe {
    /// # Errors
    /// [`Error::Os`] where the table can't be mapped.
    pub fn new(arm: MechanismArm, set: &HandlerSet) -> Result<Self> {
        use crate::dispatch::replay::Select;
        let table = TableCompact::build(set, None, &mut Placement::new(0))?;
        Ok(MechanismRecipe { arm, set: set.clone(), footprint_bytes: table.footprint_bytes() })
    }

    /// The arm's name.
    pub fn name(&self) -> &'static str {
        self.arm.name()
    }

    /// What it does, in one line.
    pub fn help(&self) -> &'static str {
        self.arm.help()
    }
}

impl Recipe for MechanismRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let table = TableCompact::build(&self.set, None, placement)?;
        Ok(match (self.arm, self.set.body()) {
            (MechanismArm::DynTrait, _) => replay::arm::<_, DynTrait>(table, input),
            (MechanismArm::Direct, Body::Tiny) => replay::arm::<_, Direct<Tiny>>(table, input),
            (MechanismArm::Direct, Body::Fat | Body::Identical) => {
                replay::arm::<_, Direct<Fat>>(table, input)
            }
        })
    }

    fn footprint_bytes(&self) -> Option<usize> {
        Some(self.footprint_bytes)
    }
}
