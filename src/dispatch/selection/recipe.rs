//! Recipes for the selection arms, and the untimed pass that counts their probes.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{HashMapSelection, Scan, ScanKeys, ScanMoveToFront, ScanTranspose, TableCompact, TableDirect16};
use crate::dispatch::mechanism::DynTrait;
use crate::dispatch::probes::CountedProbes;
use crate::dispatch::replay::{self, Select};
use crate::dispatch::{HandlerSet, order, sabotage};
use crate::machine::memory;
use crate::race::{Arm, Broken, Checksum, Fault, Input, Placement, Recipe, Settle, Watch};
use crate::traffic::Packet;
use crate::{Error, Result};

/// The ways of finding a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelectionArm {
    /// The brief's loop.
    Scan,
    /// The loop over keys alone.
    ScanKeys,
    /// The brief's loop, over handlers sorted by how often each runs.
    ScanOrdered,
    /// A list whose hits move one forward.
    ScanTranspose,
    /// A list whose hits move to the front.
    ScanMoveToFront,
    /// A slot for each 16-bit key.
    TableDirect16,
    /// A small table with verified keys.
    TableCompact,
    /// The standard hash map.
    HashMap,
}

impl SelectionArm {
    /// All of them.
    pub const ALL: [SelectionArm; 8] = [
        SelectionArm::Scan,
        SelectionArm::ScanKeys,
        SelectionArm::ScanOrdered,
        SelectionArm::ScanTranspose,
        SelectionArm::ScanMoveToFront,
        SelectionArm::TableDirect16,
        SelectionArm::TableCompact,
        SelectionArm::HashMap,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SelectionArm::Scan => "scan",
            SelectionArm::ScanKeys => "scan_keys",
            SelectionArm::ScanOrdered => "scan_ordered",
            SelectionArm::ScanTranspose => "scan_transpose",
            SelectionArm::ScanMoveToFront => "scan_move_to_front",
            SelectionArm::TableDirect16 => "table_direct16",
            SelectionArm::TableCompact => "table_compact",
            SelectionArm::HashMap => "hash_map",
        }
    }

    /// What it does, in one line.
    pub fn help(self) -> &'static str {
        match self {
            SelectionArm::Scan => "ask each handler in registration order, by an indirect call of matches",
            SelectionArm::ScanKeys => "compare each key of an array; ask a handler only where its key hits",
            SelectionArm::ScanOrdered => {
                "scan, over the handlers sorted by how often each runs on this input"
            }
            SelectionArm::ScanTranspose => "scan; a handler that is found swaps with the one before it",
            SelectionArm::ScanMoveToFront => "scan; a handler that is found moves to the front",
            SelectionArm::TableDirect16 => {
                "index 65,536 slots by the key (1 MiB), test residual candidates only"
            }
            SelectionArm::TableCompact => {
                "index 1,024 or more slots by the key's low bits and verify the key"
            }
            SelectionArm::HashMap => "look the key up in std's HashMap with its default hasher (SipHash 1-3)",
        }
    }

    /// Whether it changes its order as it runs, and has to see the whole input before its timing means anything.
    pub fn organises_itself(self) -> bool {
        matches!(self, SelectionArm::ScanTranspose | SelectionArm::ScanMoveToFront)
    }

    /// Whether it keeps to registration order, so that it agrees with the brief's loop on overlapping predicates too.
    pub fn keeps_order(self) -> bool {
        !self.organises_itself() && self != SelectionArm::ScanOrdered
    }
}

impl fmt::Display for SelectionArm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for SelectionArm {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = SelectionArm::ALL.into_iter().find(|arm| arm.name() == text);
        let names = || SelectionArm::ALL.map(SelectionArm::name).join(", ");
        found.ok_or_else(|| Error::invalid("selection", text, format!("one of {}", names())))
    }
}

/// How to build a selection arm over a set of handlers.
///
/// All compute what [`ScanReference`](crate::dispatch::ScanReference) says, except that on overlapping predicates an
/// arm that doesn't keep the registration order may run another handler.
#[derive(Debug, Clone)]
pub struct SelectionRecipe {
    arm: SelectionArm,
    set: HandlerSet,
    order: Option<Vec<usize>>,
    residual_bound: Option<usize>,
    footprint_bytes: usize,
}

/// One untimed pass over the whole input, from a fresh state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// The fold of all outcomes.
    pub checksum: Checksum,
    /// Who ran, one a packet; 0xFFFF where nobody did.
    pub handlers: Vec<u16>,
    /// Probes, one a packet: calls of `matches` in scans of handlers, comparisons in `scan_keys`, in tables the lookup of
    /// a slot and each test of a candidate.
    pub probes: Vec<u32>,
}

/// Builds the selection that an arm names and hands it to `$then`.
macro_rules! with_selection {
    ($self:expr, $packets:expr, $placement:expr, |$selection:ident| $then:expr) => {{
        let (recipe, placement): (&SelectionRecipe, &mut Placement) = ($self, $placement);
        let (set, bound) = (recipe.set(), recipe.residual_bound());
        match recipe.arm() {
            SelectionArm::Scan => {
                let $selection = Scan::build(set, placement)?;
                $then
            }
            SelectionArm::ScanKeys => {
                let $selection = ScanKeys::build(set, placement)?;
                $then
            }
            SelectionArm::ScanOrdered => {
                let $selection = Scan::build(&recipe.sorted($packets)?, placement)?;
                $then
            }
            SelectionArm::ScanTranspose => {
                let $selection = ScanTranspose::build(set, placement)?;
                $then
            }
            SelectionArm::ScanMoveToFront => {
                let $selection = ScanMoveToFront::build(set, placement)?;
                $then
            }
            SelectionArm::TableDirect16 => {
                let $selection = TableDirect16::build(set, bound, placement)?;
                $then
            }
            SelectionArm::TableCompact => {
                let $selection = TableCompact::build(set, bound, placement)?;
                $then
            }
            SelectionArm::HashMap => {
                let $selection = HashMapSelection::build(set, bound, placement)?;
                $then
            }
        }
    }};
}
pub(super) use with_selection;

impl SelectionRecipe {
    /// An arm over `set`. `residual_bound` limits how many residual candidates a key of a table may have.
    ///
    /// # Errors
    /// [`Error::ResidualBound`] where a key has more (tables only); [`Error::Os`] where memory can't be mapped.
    pub fn new(arm: SelectionArm, set: &HandlerSet, residual_bound: Option<usize>) -> Result<Self> {
        let mut recipe =
            SelectionRecipe { arm, set: set.clone(), order: None, residual_bound, footprint_bytes: 0 };
        let mut placement = Placement::new(0);
        recipe.footprint_bytes =
            with_selection!(&recipe, &[], &mut placement, |selection| selection.footprint_bytes());
        Ok(recipe)
    }

    /// `scan_ordered` in an order known beforehand, handler numbers, instead of one computed from the input at each
    /// build.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `order` names each handler once.
    pub fn scan_ordered(set: &HandlerSet, order: Vec<usize>) -> Result<Self> {
        set.reordered(&order)?;
        let recipe = Self::new(SelectionArm::ScanOrdered, set, None)?;
        Ok(SelectionRecipe { order: Some(order), ..recipe })
    }

    /// The same arm with everything settled that it would otherwise find out from the input at each build: the order of
    /// `scan_ordered`. Worth it before a race, which builds in every block and can't stop inside a build.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once `watch` is stopped; [`Error::Plugin`] where a plugin among the handlers breaks its word
    /// on these packets.
    pub fn settled_for(&self, packets: &[Packet], watch: &Watch) -> Result<Self> {
        self.set.try_plugins(packets, watch)?;
        let order = match (&self.order, self.arm) {
            (None, SelectionArm::ScanOrdered) => Some(order::frequency_order(&self.set, packets, watch)?),
            (order, _) => order.clone(),
        };
        Ok(SelectionRecipe { order, ..self.clone() })
    }

    /// Which arm.
    pub fn arm(&self) -> SelectionArm {
        self.arm
    }

    /// Its handlers.
    pub fn set(&self) -> &HandlerSet {
        &self.set
    }

    /// How many residual candidates a key of a table may have.
    pub(super) fn residual_bound(&self) -> Option<usize> {
        self.residual_bound
    }

    /// The arm's name.
    pub fn name(&self) -> &'static str {
        self.arm.name()
    }

    /// What it does, in one line.
    pub fn help(&self) -> &'static str {
        self.arm.help()
    }

    /// One whole pass from a fresh state with the code that is timed, counting probes. Never a source of times.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once `watch` is stopped; [`Error::OutOfMemory`] before anything is counted.
    pub fn pass(&self, packets: &[Packet], watch: &Watch) -> Result<Pass> {
        let mut placement = Placement::new(0);
        let settled = self.settled_for(packets, watch)?;
        with_selection!(&settled, packets, &mut placement, |selection| pass(selection, packets, watch))
    }

    pub(super) fn sorted(&self, packets: &[Packet]) -> Result<HandlerSet> {
        match &self.order {
            Some(order) => self.set.reordered(order),
            // A build has nobody to stop it; who wants to be stopped calls `settled_for` first.
            None => self.set.reordered(&order::frequency_order(&self.set, packets, &Watch::new())?),
        }
    }
}

/// Packets between two looks at the watch: 1,024 handlers asked of each take about 20 ms.
const CHUNK: usize = 4096;

fn pass<S: Select>(mut selection: S, packets: &[Packet], watch: &Watch) -> Result<Pass> {
    let mut checksum = Checksum::EMPTY;
    // Asked for together: each alone might fit.
    let item_bytes = size_of::<u16>() + size_of::<u32>();
    memory::room_for("what a counting pass notes of each packet", packets.len(), item_bytes)?;
    let mut handlers = memory::reserve("the handler of each packet", packets.len())?;
    let mut probes = memory::reserve("the probes of each packet", packets.len())?;
    for chunk in packets.chunks(CHUNK) {
        watch.check()?;
        for packet in chunk {
            let mut counted = CountedProbes::default();
            let outcome = replay::dispatch::<S, DynTrait, _>(&mut selection, packet, &mut counted);
            checksum = checksum.fold(outcome.value, outcome.handler);
            handlers.push(outcome.handler);
            probes.push(counted.0);
        }
    }
    Ok(Pass { checksum, handlers, probes })
}

impl Recipe for SelectionRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        Ok(with_selection!(self, input.items(), placement, |selection| {
            replay::arm::<_, DynTrait>(selection, input)
        }))
    }

    fn broken(&self, fault: Fault) -> Result<Broken, String> {
        let build = |set: &HandlerSet| {
            let recipe = SelectionRecipe { set: set.clone(), ..self.clone() };
            Ok(Arc::new(recipe) as Arc<dyn Recipe>)
        };
        let keeps_order = self.arm.keeps_order();
        sabotage::broken_over(&self.set, fault, keeps_order, build, sabotage::plain_scan)
    }

    fn settle(&self) -> Settle {
        if self.arm.organises_itself() { Settle::Pass } else { Settle::Window }
    }

    fn varies(&self) -> Option<&'static str> {
        let hashed = self.arm == SelectionArm::HashMap;
        hashed.then_some("std's default hasher draws its keys anew in each process")
    }

    fn footprint_bytes(&self) -> Option<usize> {
        Some(self.footprint_bytes)
    }
}
