//! Recipes for the mechanism arms: one compact table, several ways of calling.

use std::fmt;
use std::str::FromStr;

use super::{Direct, EnumMatch, Erased, FatPointer, Table, Thin};
use crate::dispatch::body::{Fat, Tiny};
use crate::dispatch::replay;
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
    /// Thin
    Thin,
    /// Erased
    Erased,
    /// Enum
    EnumMatch,
}

impl MechanismArm {
    /// All of them.
    pub const ALL: [MechanismArm; 5] = [MechanismArm::Direct, MechanismArm::DynTrait, MechanismArm::Thin, MechanismArm::Erased, MechanismArm::EnumMatch];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MechanismArm::Direct => "direct",
            MechanismArm::DynTrait => "dyn_trait",
            MechanismArm::Thin => "thin",
            MechanismArm::Erased => "erased",
            MechanismArm::EnumMatch => "enum_match",
        }
    }

    /// What it does, in one line.
    pub fn help(self) -> &'static str {
        match self {
            MechanismArm::Direct => "the table's selection, then one fixed body by a direct call",
            MechanismArm::DynTrait => "the table's selection, then the selected handler through its vtable",
            _ => "",
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

/// Builds the table that an arm names and hands it to `$then`.
macro_rules! with_table {
    ($self:expr, $placement:expr, |$table:ident| $then:expr) => {{
        let (recipe, placement): (&MechanismRecipe, &mut Placement) = ($self, $placement);
        let set = &recipe.set;
        match (recipe.arm, set.body()) {
            (MechanismArm::Direct, Body::Tiny) => {
                let $table = Table::<Direct<Tiny>>::build(set, placement)?;
                $then
            }
            (MechanismArm::Direct, _) => {
                let $table = Table::<Direct<Fat>>::build(set, placement)?;
                $then
            }
            (MechanismArm::DynTrait, _) => {
                let $table = Table::<FatPointer>::build(set, placement)?;
                $then
            }
            (MechanismArm::Thin, _) => {
                let $table = Table::<Thin>::build(set, placement)?;
                $then
            }
            (MechanismArm::Erased, _) => {
                let $table = Table::<Erased>::build(set, placement)?;
                $then
            }
            (MechanismArm::EnumMatch, Body::Tiny) => {
                let $table = Table::<EnumMatch<Tiny>>::build(set, placement)?;
                $then
            }
            (MechanismArm::EnumMatch, _) => {
                let $table = Table::<EnumMatch<Fat>>::build(set, placement)?;
                $then
            }
        }
    }};
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
        let mut recipe = MechanismRecipe { arm, set: set.clone(), footprint_bytes: 0 };
        let mut placement = Placement::new(0);
        recipe.footprint_bytes = with_table!(&recipe, &mut placement, |table| table.footprint_bytes());
        Ok(recipe)
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
        Ok(with_table!(self, placement, |table| replay::dispatching(table, input)))
    }

    fn footprint_bytes(&self) -> Option<usize> {
        Some(self.footprint_bytes)
    }
}
