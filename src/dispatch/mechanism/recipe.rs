//! Recipes for the mechanism arms: one compact table, several ways of calling.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::Arc;

use super::known::{self, INLINED_SIZES, KNOWN_SIZES};
use super::{BUILT_IN_ONLY, Direct, EnumMatch, Erased, FatPointer, StaticInlined, StaticMatch, Table, Thin};
use crate::binary::Image;
use crate::dispatch::arm_code::{self, ArmCode, Route};
use crate::dispatch::body::{Fat, Tiny};
use crate::dispatch::replay::{self, Dispatch};
use crate::dispatch::sizes::with_size;
use crate::dispatch::{Body, DirectReference, HandlerSet, sabotage};
use crate::race::{Arm, Broken, Fault, Input, Placement, Recipe, Reference};
use crate::{Error, Result};

/// The ways of calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MechanismArm {
    /// Handler 0's body by a direct call, whatever was selected.
    Direct,
    /// The selected handler through its vtable, whose address lies beside the object's.
    DynTrait,
    /// The selected handler through its vtable, whose address lies in the object, as in C++.
    Thin,
    /// The selected handler's function, whose address lies beside the object's.
    Erased,
    /// The selected variant of a closed sum, through a jump table.
    EnumMatch,
    /// The packet's key matched straight to the bodies.
    StaticMatch,
    /// The same with bodies that the compiler may inline and merge.
    StaticInlined,
}

impl MechanismArm {
    /// All of them.
    pub const ALL: [MechanismArm; 7] = [
        MechanismArm::Direct,
        MechanismArm::DynTrait,
        MechanismArm::Thin,
        MechanismArm::Erased,
        MechanismArm::EnumMatch,
        MechanismArm::StaticMatch,
        MechanismArm::StaticInlined,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MechanismArm::Direct => "direct",
            MechanismArm::DynTrait => "dyn_trait",
            MechanismArm::Thin => "thin",
            MechanismArm::Erased => "erased",
            MechanismArm::EnumMatch => "enum_match",
            MechanismArm::StaticMatch => "static_match",
            MechanismArm::StaticInlined => "static_inlined",
        }
    }

    /// What it does, in one line.
    pub fn help(self) -> &'static str {
        match self {
            MechanismArm::Direct => "the table's selection, then one fixed body by a direct call",
            MechanismArm::DynTrait => "the table's selection, then the selected handler through its vtable",
            MechanismArm::Thin => {
                "the table's selection, then through a vtable whose address the object carries, as in C++"
            }
            MechanismArm::Erased => {
                "the table's selection, then the function whose address lies beside the object's"
            }
            MechanismArm::EnumMatch => {
                "the table's selection, then a match over a closed sum: a jump table to the same bodies"
            }
            MechanismArm::StaticMatch => {
                "no table, no objects: a match from the packet's key to the same bodies"
            }
            MechanismArm::StaticInlined => {
                "the same match with bodies that the compiler may inline and merge"
            }
        }
    }

    /// What it can't express, whatever it costs: what a service must not require if it is to use it.
    pub fn excludes(self) -> Option<&'static str> {
        match self {
            // Not a way of dispatching: what the others are held against.
            MechanismArm::Direct => None,
            MechanismArm::DynTrait => Some(
                "can't cross a compiler: where Rust's vtables keep what isn't specified, so a handler that another \
                 compiler built can't be called",
            ),
            // Layouts of our own making: a plugin can fill them in by a C header.
            MechanismArm::Thin | MechanismArm::Erased => None,
            MechanismArm::EnumMatch => Some(
                "can't name a plugin's type: the set of variants is closed when it is compiled, and a handler that is \
                 loaded later has none",
            ),
            MechanismArm::StaticMatch => Some(
                "can't match a key that isn't known when it is compiled: neither a plugin's handler nor a \
                 configuration's key has a case",
            ),
            MechanismArm::StaticInlined => Some(
                "can't match a key that isn't known when it is compiled, nor call a body that the compiler doesn't \
                 see: no plugin, and no handler that is compiled apart",
            ),
        }
    }

    /// Why it can't dispatch to this set; `None` if it can.
    pub fn refuses(self, set: &HandlerSet) -> Option<String> {
        if set.built_in() < set.len() {
            return Some(BUILT_IN_ONLY.into());
        }
        match self {
            MechanismArm::StaticMatch => known::unknown(set, &KNOWN_SIZES),
            MechanismArm::StaticInlined => known::unknown(set, &INLINED_SIZES),
            _ => None,
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

/// Builds what an arm dispatches by and hands it to `$then`.
macro_rules! with_dispatch {
    ($self:expr, $placement:expr, |$dispatch:ident| $then:expr) => {{
        let (recipe, placement): (&MechanismRecipe, &mut Placement) = ($self, $placement);
        let set = &recipe.set;
        match (recipe.arm, set.body()) {
            (MechanismArm::DynTrait, _) => {
                let $dispatch = Table::<FatPointer>::build(set, placement)?;
                $then
            }
            (MechanismArm::Thin, _) => {
                let $dispatch = Table::<Thin>::build(set, placement)?;
                $then
            }
            (MechanismArm::Erased, _) => {
                let $dispatch = Table::<Erased>::build(set, placement)?;
                $then
            }
            (MechanismArm::Direct, Body::Tiny) => {
                let $dispatch = Table::<Direct<Tiny>>::build(set, placement)?;
                $then
            }
            (MechanismArm::Direct, Body::Fat | Body::Identical) => {
                let $dispatch = Table::<Direct<Fat>>::build(set, placement)?;
                $then
            }
            (MechanismArm::EnumMatch, Body::Tiny) => {
                let $dispatch = Table::<EnumMatch<Tiny>>::build(set, placement)?;
                $then
            }
            (MechanismArm::EnumMatch, Body::Fat | Body::Identical) => {
                let $dispatch = Table::<EnumMatch<Fat>>::build(set, placement)?;
                $then
            }
            (MechanismArm::StaticMatch, Body::Tiny) => {
                with_size!(set, [10, 25, 50, 100, 1024], |SIZE| {
                    let $dispatch = StaticMatch::<Tiny, SIZE>(PhantomData);
                    $then
                })
            }
            (MechanismArm::StaticMatch, Body::Fat | Body::Identical) => {
                with_size!(set, [10, 25, 50, 100, 1024], |SIZE| {
                    let $dispatch = StaticMatch::<Fat, SIZE>(PhantomData);
                    $then
                })
            }
            (MechanismArm::StaticInlined, Body::Tiny) => {
                with_size!(set, [10, 25, 50, 100], |SIZE| {
                    let $dispatch = StaticInlined::<Tiny, SIZE>(PhantomData);
                    $then
                })
            }
            (MechanismArm::StaticInlined, Body::Fat | Body::Identical) => {
                with_size!(set, [10, 25, 50, 100], |SIZE| {
                    let $dispatch = StaticInlined::<Fat, SIZE>(PhantomData);
                    $then
                })
            }
        }
    }};
}

/// How to build a mechanism arm over a set of handlers.
///
/// `direct` computes what [`DirectReference`] says, every other mechanism what
/// [`ScanReference`](crate::dispatch::ScanReference) says.
#[derive(Debug, Clone)]
pub struct MechanismRecipe {
    arm: MechanismArm,
    set: HandlerSet,
    footprint_bytes: usize,
}

impl MechanismRecipe {
    /// # Errors
    /// [`Error::InvalidArgument`] where the arm [refuses](MechanismArm::refuses) the set; [`Error::Os`] where the table
    /// can't be mapped.
    pub fn new(arm: MechanismArm, set: &HandlerSet) -> Result<Self> {
        if let Some(reason) = arm.refuses(set) {
            return Err(Error::invalid("mechanism", arm, reason));
        }
        let mut recipe = MechanismRecipe { arm, set: set.clone(), footprint_bytes: 0 };
        let mut placement = Placement::new(0);
        recipe.footprint_bytes =
            with_dispatch!(&recipe, &mut placement, |dispatch| dispatch.footprint_bytes());
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

    /// What the compiler made of it, read from `image`, which must be [`Image::of_this_code`].
    ///
    /// # Errors
    /// [`Error::Binary`] where the file has no symbols or can't be decoded; [`Error::Os`] where the table can't be
    /// mapped.
    pub fn code(&self, image: &Image) -> Result<ArmCode> {
        let mut placement = Placement::new(0);
        let places = with_dispatch!(self, &mut placement, |dispatch| replay::places(&dispatch));
        let route = match self.arm {
            MechanismArm::Direct => Route::Fixed,
            MechanismArm::DynTrait | MechanismArm::Thin | MechanismArm::Erased => Route::Pointer,
            MechanismArm::EnumMatch => Route::Tag,
            MechanismArm::StaticMatch => Route::Key,
            MechanismArm::StaticInlined => Route::Inlined,
        };
        Ok(arm_code::examine(self.arm.name(), &self.set, route, &places, image)?)
    }
}

impl Recipe for MechanismRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        Ok(with_dispatch!(self, placement, |dispatch| replay::dispatching(dispatch, input)))
    }

    fn footprint_bytes(&self) -> Option<usize> {
        Some(self.footprint_bytes)
    }

    fn broken(&self, fault: Fault) -> Result<Broken, String> {
        if matches!(self.arm, MechanismArm::StaticMatch | MechanismArm::StaticInlined) {
            return Err("its handlers are compiled in: no others can be put under it".into());
        }
        let build = |set: &HandlerSet| Ok(Arc::new(MechanismRecipe::new(self.arm, set)?) as Arc<dyn Recipe>);
        let plain = |set: &HandlerSet| -> Arc<dyn Reference> {
            match self.arm {
                MechanismArm::Direct => Arc::new(DirectReference::new(set)),
                _ => sabotage::plain_scan(set),
            }
        };
        sabotage::broken_over(&self.set, fault, true, build, plain)
    }
}
