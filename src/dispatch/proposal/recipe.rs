//! Recipes for the proposals.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::Arc;

use super::known::{self, WRITTEN_OUT};
use super::{Asked, Folded, ScanEnum, ScanErased, ScanStatic, ScanStaticKeys};
use crate::binary::Image;
use crate::dispatch::arm_code::{self, ArmCode, Route};
use crate::dispatch::body::{Fat, Tiny};
use crate::dispatch::mechanism::{BUILT_IN_ONLY, unknown_keys};
use crate::dispatch::replay::{self, Dispatch};
use crate::dispatch::sizes::with_size;
use crate::dispatch::{Body, HandlerSet, sabotage};
use crate::race::{Arm, Broken, Fault, Input, Placement, Recipe};
use crate::{Error, Result};

/// The proposals: ways of making the calls in the brief's loop cheaper. The loop through `dyn` is
/// [`SelectionArm::Scan`](crate::dispatch::SelectionArm::Scan).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProposalArm {
    /// The loop over objects and two functions each, side by side in the list.
    Erased,
    /// The loop over a closed sum; both calls through jump tables to the same functions.
    Enum,
    /// The same with a `matches` that the compiler may inline and merge.
    EnumInlined,
    /// The loop written out over known types; objects filled at run time.
    Static,
    /// The loop written out over known types and keys.
    StaticKeys,
}

impl ProposalArm {
    /// All of them.
    pub const ALL: [ProposalArm; 5] = [
        ProposalArm::Erased,
        ProposalArm::Enum,
        ProposalArm::EnumInlined,
        ProposalArm::Static,
        ProposalArm::StaticKeys,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ProposalArm::Erased => "scan_erased",
            ProposalArm::Enum => "scan_enum",
            ProposalArm::EnumInlined => "scan_enum_inlined",
            ProposalArm::Static => "scan_static",
            ProposalArm::StaticKeys => "scan_static_keys",
        }
    }

    /// What it does, in one line.
    pub fn help(self) -> &'static str {
        match self {
            ProposalArm::Erased => {
                "the brief's loop; both calls through functions that lie beside the object"
            }
            ProposalArm::Enum => {
                "the brief's loop over a closed sum by value; both calls through jump tables to the same functions"
            }
            ProposalArm::EnumInlined => "the same, with a matches that the compiler may inline and merge",
            ProposalArm::Static => {
                "the loop written out over known types: matches inlined, bodies called by name"
            }
            ProposalArm::StaticKeys => {
                "the same with keys that are constants too: the compiler may make a jump table of the loop"
            }
        }
    }

    /// What it can't express, whatever it costs.
    pub fn excludes(self) -> Option<&'static str> {
        match self {
            ProposalArm::Erased => None,
            ProposalArm::Enum | ProposalArm::EnumInlined => Some(
                "can't name a plugin's type: the set of variants is closed when it is compiled, and a handler that is \
                 loaded later has none",
            ),
            ProposalArm::Static => Some(
                "can't register a handler at run time: which types there are, and in which order, is fixed when it is \
                 compiled",
            ),
            ProposalArm::StaticKeys => Some(
                "can't register a handler or change a key at run time: types, order and keys are fixed when it is \
                 compiled",
            ),
        }
    }

    /// Why it can't dispatch to this set; `None` if it can.
    pub fn refuses(self, set: &HandlerSet) -> Option<String> {
        if set.built_in() < set.len() {
            return Some(BUILT_IN_ONLY.into());
        }
        match self {
            ProposalArm::Static => known::unknown(set),
            ProposalArm::StaticKeys => unknown_keys(set, &WRITTEN_OUT),
            _ => None,
        }
    }
}

impl fmt::Display for ProposalArm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ProposalArm {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = ProposalArm::ALL.into_iter().find(|arm| arm.name() == text);
        let names = || ProposalArm::ALL.map(ProposalArm::name).join(", ");
        found.ok_or_else(|| Error::invalid("proposal", text, format!("one of {}", names())))
    }
}

/// Builds what an arm dispatches by and hands it to `$then`.
macro_rules! with_proposal {
    ($self:expr, $placement:expr, |$dispatch:ident| $then:expr) => {{
        let (recipe, placement): (&ProposalRecipe, &mut Placement) = ($self, $placement);
        let set = &recipe.set;
        match (recipe.arm, set.body()) {
            (ProposalArm::Erased, _) => {
                let $dispatch = ScanErased::build(set, placement)?;
                $then
            }
            (ProposalArm::Enum, Body::Tiny) => {
                let $dispatch = ScanEnum::<Tiny, Asked>::build(set, placement)?;
                $then
            }
            (ProposalArm::Enum, Body::Fat | Body::Identical) => {
                let $dispatch = ScanEnum::<Fat, Asked>::build(set, placement)?;
                $then
            }
            (ProposalArm::EnumInlined, Body::Tiny) => {
                let $dispatch = ScanEnum::<Tiny, Folded>::build(set, placement)?;
                $then
            }
            (ProposalArm::EnumInlined, Body::Fat | Body::Identical) => {
                let $dispatch = ScanEnum::<Fat, Folded>::build(set, placement)?;
                $then
            }
            (ProposalArm::Static, Body::Tiny) => {
                with_size!(set, [10, 25, 50, 100], |SIZE| {
                    let $dispatch = ScanStatic::<Tiny, SIZE>::build(set, placement)?;
                    $then
                })
            }
            (ProposalArm::Static, Body::Fat | Body::Identical) => {
                with_size!(set, [10, 25, 50, 100], |SIZE| {
                    let $dispatch = ScanStatic::<Fat, SIZE>::build(set, placement)?;
                    $then
                })
            }
            (ProposalArm::StaticKeys, Body::Tiny) => {
                with_size!(set, [10, 25, 50, 100], |SIZE| {
                    let $dispatch = ScanStaticKeys::<Tiny, SIZE>(PhantomData);
                    $then
                })
            }
            (ProposalArm::StaticKeys, Body::Fat | Body::Identical) => {
                with_size!(set, [10, 25, 50, 100], |SIZE| {
                    let $dispatch = ScanStaticKeys::<Fat, SIZE>(PhantomData);
                    $then
                })
            }
        }
    }};
}

/// How to build a proposal over a set of handlers. All compute what
/// [`ScanReference`](crate::dispatch::ScanReference) says.
#[derive(Debug, Clone)]
pub struct ProposalRecipe {
    arm: ProposalArm,
    set: HandlerSet,
    footprint_bytes: usize,
}

impl ProposalRecipe {
    /// # Errors
    /// [`Error::InvalidArgument`] where the arm [refuses](ProposalArm::refuses) the set; [`Error::Os`] where the list
    /// can't be mapped.
    pub fn new(arm: ProposalArm, set: &HandlerSet) -> Result<Self> {
        if let Some(reason) = arm.refuses(set) {
            return Err(Error::invalid("proposal", arm, reason));
        }
        let mut recipe = ProposalRecipe { arm, set: set.clone(), footprint_bytes: 0 };
        let mut placement = Placement::new(0);
        recipe.footprint_bytes =
            with_proposal!(&recipe, &mut placement, |dispatch| dispatch.footprint_bytes());
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
    /// [`Error::Binary`] where the file has no symbols or can't be decoded; [`Error::Os`] where the list can't be
    /// mapped.
    pub fn code(&self, image: &Image) -> Result<ArmCode> {
        let mut placement = Placement::new(0);
        let places = with_proposal!(self, &mut placement, |dispatch| replay::places(&dispatch));
        let route = match self.arm {
            ProposalArm::Erased => Route::ScanPointers,
            ProposalArm::Enum | ProposalArm::EnumInlined | ProposalArm::Static | ProposalArm::StaticKeys => {
                Route::Scan
            }
        };
        Ok(arm_code::examine(self.arm.name(), &self.set, route, &places, image)?)
    }
}

impl Recipe for ProposalRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        Ok(with_proposal!(self, placement, |dispatch| replay::dispatching(dispatch, input)))
    }

    fn footprint_bytes(&self) -> Option<usize> {
        Some(self.footprint_bytes)
    }

    fn broken(&self, fault: Fault) -> Result<Broken, String> {
        if self.arm == ProposalArm::StaticKeys {
            return Err("its handlers are compiled in: no others can be put under it".into());
        }
        let build = |set: &HandlerSet| Ok(Arc::new(ProposalRecipe::new(self.arm, set)?) as Arc<dyn Recipe>);
        sabotage::broken_over(&self.set, fault, true, build, sabotage::plain_scan)
    }
}
