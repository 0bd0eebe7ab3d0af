//! The arms over a set of handlers, and what order does.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::arguments::{self, wholes};
use super::arrays;
use super::errors::OrRaise;
use super::handlers::PyHandlerSet;
use super::worker::{self, PyRan};
use crate::Result;
use crate::binary::Image;
use crate::dispatch::null::NullReference;
use crate::dispatch::{
    ArmCode, DirectReference, HandlerSet, MechanismArm, MechanismRecipe, NullRecipe, Pass, ProposalArm,
    ProposalRecipe, ScanReference, SelectionArm, SelectionRecipe, ceiling, order,
};
use crate::machine::memory;
use crate::plugin::arm::{ArmRecipe, SelectRecipe, SelectReference};
use crate::race::{Ceiling, Checksum, Placement, Probes, Recipe, Reference, Source, Watch, Window};
use crate::traffic::Packet;

/// The claim of arms that say who runs and run nobody.
pub const SELECTION_ALONE: &str = "selection alone";

/// The kinds of arm, each with what its recipe needs.
#[derive(Clone)]
enum Kind {
    Selection(Arc<SelectionRecipe>),
    Mechanism(Arc<MechanismRecipe>, MechanismArm),
    Proposal(Arc<ProposalRecipe>),
    Null(Arc<NullRecipe>),
    Whole(Arc<ArmRecipe>),
    Select(Arc<SelectRecipe>),
}

/// One way of doing the work: a recipe for races, and callable on an array of packets.
#[pyclass(name = "Arm", module = "nanokata.dispatch", frozen)]
pub struct PyArm {
    kind: Kind,
    set: HandlerSet,
}

impl PyArm {
    /// The same arm for a race over `packets`, with nothing left to find out from them in each block.
    pub fn settled_for(&self, packets: &[Packet], watch: &Watch) -> Result<PyArm> {
        let kind = match &self.kind {
            Kind::Selection(recipe) => Kind::Selection(Arc::new(recipe.settled_for(packets, watch)?)),
            Kind::Select(recipe) => Kind::Select(Arc::new(recipe.settled_for(packets, watch)?)),
            kind => kind.clone(),
        };
        Ok(PyArm { kind, set: self.set.clone() })
    }

    /// The least that it can cost, with the probes that were counted.
    pub fn ceiling(&self, probes: Option<&Probes>) -> Ceiling {
        match &self.kind {
            Kind::Selection(recipe) => ceiling::selection(recipe.arm(), probes),
            _ => ceiling::fold(),
        }
    }

    /// What a race builds in each block.
    pub fn recipe(&self) -> Arc<dyn Recipe> {
        match &self.kind {
            Kind::Selection(recipe) => Arc::clone(recipe) as _,
            Kind::Mechanism(recipe, _) => Arc::clone(recipe) as _,
            Kind::Proposal(recipe) => Arc::clone(recipe) as _,
            Kind::Null(recipe) => Arc::clone(recipe) as _,
            Kind::Whole(recipe) => Arc::clone(recipe) as _,
            Kind::Select(recipe) => Arc::clone(recipe) as _,
        }
    }

    /// What it must compute, and the claim that goes with it.
    pub fn reference(&self) -> (Arc<dyn Reference>, &'static str) {
        match &self.kind {
            Kind::Mechanism(_, MechanismArm::Direct) => {
                (Arc::new(DirectReference::new(&self.set)), "fixed body")
            }
            Kind::Null(_) => (Arc::new(NullReference::new(&self.set)), "loop alone"),
            Kind::Select(_) => (Arc::new(SelectReference::new(&self.set)), SELECTION_ALONE),
            Kind::Selection(_) | Kind::Mechanism(..) | Kind::Proposal(_) | Kind::Whole(_) => {
                (Arc::new(ScanReference::new(&self.set)), "dispatch")
            }
        }
    }

    /// The counting pass, for arms that select.
    pub fn counted(&self, packets: &[Packet], watch: &Watch) -> Result<Option<Pass>> {
        match &self.kind {
            Kind::Selection(recipe) => recipe.pass(packets, watch).map(Some),
            _ => Ok(None),
        }
    }

    /// Its handlers.
    pub fn handler_set(&self) -> &HandlerSet {
        &self.set
    }

    fn arm_name(&self) -> String {
        match &self.kind {
            Kind::Selection(recipe) => recipe.name().into(),
            Kind::Mechanism(recipe, _) => recipe.name().into(),
            Kind::Proposal(recipe) => recipe.name().into(),
            Kind::Null(_) => NullRecipe::NAME.into(),
            Kind::Whole(recipe) => recipe.path().display().to_string(),
            Kind::Select(recipe) => match recipe.source() {
                Ok(arm) => arm.name().into(),
                Err(path) => path.display().to_string(),
            },
        }
    }

    /// An arm of somebody's library.
    pub(super) fn whole(recipe: ArmRecipe, set: &HandlerSet) -> PyArm {
        PyArm { kind: Kind::Whole(Arc::new(recipe)), set: set.clone() }
    }

    /// A selection, whoever's.
    pub(super) fn select(recipe: SelectRecipe, set: &HandlerSet) -> PyArm {
        PyArm { kind: Kind::Select(Arc::new(recipe)), set: set.clone() }
    }
}

/// Operations between two looks at the watch: some 10 ms of them.
const CHUNK: usize = 1 << 16;

/// One pass of an arm that counts nothing: built as in a race, replayed in pieces, a fold for each.
fn fold(recipe: &dyn Recipe, packets: Vec<Packet>, watch: &Watch) -> Result<Vec<u64>> {
    let count = packets.len();
    let source = Source::from_items(packets);
    memory::room_for("a placed copy of the packets", count, size_of::<Packet>())?;
    let mut placement = Placement::new(0);
    let input = source.place(&mut placement)?;
    let mut arm = recipe.build(&input, &mut placement)?;
    let mut folds = Vec::with_capacity(count.div_ceil(CHUNK));
    for first in (0..count).step_by(CHUNK) {
        watch.check()?;
        folds.push(arm.run(Window { first, count: CHUNK.min(count - first) }).0);
    }
    Ok(folds)
}

/// What one untimed pass of an arm computed, and where it ran. Time comes only from a race.
#[pyclass(name = "Pass", module = "nanokata.dispatch", frozen, get_all)]
pub struct PyPass {
    /// Fold over all results.
    checksum: u64,
    /// Who ran, one a packet; 65535 where nobody did. `None` for arms that don't select.
    handlers: Option<Py<PyArray1<u16>>>,
    /// Probes, one a packet. `None` for arms that don't select.
    probes: Option<Py<PyArray1<u32>>>,
    /// Where it ran.
    ran: PyRan,
}

#[pymethods]
impl PyPass {
    fn __repr__(&self) -> String {
        format!("<Pass: checksum {:#018x}>", self.checksum)
    }
}

#[pymethods]
impl PyArm {
    /// One pass over all packets from a fresh state, on a thread of its own.
    #[pyo3(signature = (packets, *, cpu = None))]
    fn __call__(
        &self,
        py: Python<'_>,
        packets: &Bound<'_, PyAny>,
        cpu: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyPass> {
        let cpu = arguments::cpu(cpu)?;
        let packets = arrays::packets(py, "packets", packets)?;
        if let Kind::Selection(recipe) = &self.kind {
            let (pass, ran) = worker::run(py, cpu, None, |watch| recipe.pass(&packets, watch))?;
            let handlers = Some(pass.handlers.into_pyarray(py).unbind());
            let probes = Some(pass.probes.into_pyarray(py).unbind());
            return Ok(PyPass { checksum: pass.checksum.0, handlers, probes, ran });
        }
        let recipe = self.recipe();
        let (folds, ran) = worker::run(py, cpu, None, |watch| fold(recipe.as_ref(), packets, watch))?;
        // Of one piece it is what an arm that selects has; of several, the fold of their folds.
        let checksum = match folds[..] {
            [only] => only,
            _ => folds.into_iter().fold(Checksum::EMPTY, |sum, fold| sum.fold(fold, 0)).0,
        };
        Ok(PyPass { checksum, handlers: None, probes: None, ran })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> String {
        self.arm_name()
    }

    /// What it does, in one line.
    #[getter]
    fn help(&self) -> &'static str {
        match &self.kind {
            Kind::Selection(recipe) => recipe.help(),
            Kind::Mechanism(recipe, _) => recipe.help(),
            Kind::Proposal(recipe) => recipe.help(),
            Kind::Null(_) => NullRecipe::HELP,
            Kind::Whole(_) => "somebody's whole arm: finds, calls and folds by itself",
            Kind::Select(recipe) => match recipe.source() {
                Ok(arm) => arm.help(),
                Err(_) => "somebody's selection: says who runs, and runs nobody",
            },
        }
    }

    /// Its handlers.
    #[getter]
    fn handlers(&self) -> PyHandlerSet {
        PyHandlerSet::over(self.set.clone())
    }

    /// Bytes of tables, lists and keys that selecting touches or reserves.
    #[getter]
    fn footprint_bytes(&self) -> Option<usize> {
        self.recipe().footprint_bytes()
    }

    fn __repr__(&self) -> String {
        format!("<Arm {} over {} handlers>", self.arm_name(), self.set.len())
    }
}

/// An arm that selects, by its name.
#[pyfunction]
#[pyo3(signature = (name, handlers, *, residual_bound = None))]
pub fn selection(
    py: Python<'_>,
    name: &str,
    handlers: &PyHandlerSet,
    residual_bound: Option<usize>,
) -> PyResult<PyArm> {
    let recipe =
        name.parse().and_then(|arm: SelectionArm| SelectionRecipe::new(arm, handlers.set(), residual_bound));
    let recipe = Arc::new(recipe.or_raise(py)?);
    Ok(PyArm { kind: Kind::Selection(recipe), set: handlers.set().clone() })
}

/// `scan_ordered` in an order known beforehand.
#[pyfunction]
pub fn scan_ordered(py: Python<'_>, handlers: &PyHandlerSet, order: &Bound<'_, PyAny>) -> PyResult<PyArm> {
    let order = wholes("order", order)?;
    let recipe = Arc::new(SelectionRecipe::scan_ordered(handlers.set(), order).or_raise(py)?);
    Ok(PyArm { kind: Kind::Selection(recipe), set: handlers.set().clone() })
}

/// An arm that calls, by its name.
#[pyfunction]
pub fn mechanism(py: Python<'_>, name: &str, handlers: &PyHandlerSet) -> PyResult<PyArm> {
    let arm: MechanismArm = name.parse().or_raise(py)?;
    let recipe = Arc::new(MechanismRecipe::new(arm, handlers.set()).or_raise(py)?);
    Ok(PyArm { kind: Kind::Mechanism(recipe, arm), set: handlers.set().clone() })
}

/// The brief's own loop with its calls made otherwise, by its name.
#[pyfunction]
pub fn proposal(py: Python<'_>, name: &str, handlers: &PyHandlerSet) -> PyResult<PyArm> {
    let arm: ProposalArm = name.parse().or_raise(py)?;
    let recipe = Arc::new(ProposalRecipe::new(arm, handlers.set()).or_raise(py)?);
    Ok(PyArm { kind: Kind::Proposal(recipe), set: handlers.set().clone() })
}

/// What the compiler made of mechanisms and proposals over these handlers: a JSON list; those that refuse the handlers
/// are left out.
#[pyfunction]
pub fn arm_code(py: Python<'_>, handlers: &PyHandlerSet) -> PyResult<String> {
    let set = handlers.set();
    let found = py.detach(|| -> Result<Vec<ArmCode>> {
        let image = Image::of_this_code()?;
        let mechanisms = MechanismArm::ALL.into_iter().filter(|arm| arm.refuses(set).is_none());
        let mechanisms = mechanisms.map(|arm| MechanismRecipe::new(arm, set)?.code(&image));
        let proposals = ProposalArm::ALL.into_iter().filter(|arm| arm.refuses(set).is_none());
        let proposals = proposals.map(|arm| ProposalRecipe::new(arm, set)?.code(&image));
        mechanisms.chain(proposals).collect()
    });
    Ok(serde_json::to_string(&found.or_raise(py)?).expect("plain data"))
}

/// The harness's own cost: loop and fold alone.
#[pyfunction]
pub fn null(handlers: &PyHandlerSet) -> PyArm {
    PyArm { kind: Kind::Null(Arc::new(NullRecipe::new(handlers.set()))), set: handlers.set().clone() }
}

/// The handlers by how often each runs, most often first: handler numbers.
#[pyfunction]
#[pyo3(signature = (handlers, packets, *, cpu = None))]
pub fn frequency_order<'py>(
    py: Python<'py>,
    handlers: &PyHandlerSet,
    packets: &Bound<'py, PyAny>,
    cpu: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<u16>>> {
    let packets = arrays::packets(py, "packets", packets)?;
    let set = handlers.set().clone();
    let (sorted, _) = worker::run(py, cpu, None, |watch| order::frequency_order(&set, &packets, watch))?;
    let sorted: Vec<u16> = sorted.into_iter().map(|id| u16::try_from(id).expect("at most 1,024")).collect();
    Ok(sorted.into_pyarray(py))
}

/// How many packets run another handler in registration order `a` than in order `b`.
#[pyfunction]
#[pyo3(signature = (handlers, packets, a, b, *, cpu = None))]
pub fn changed_handlers(
    py: Python<'_>,
    handlers: &PyHandlerSet,
    packets: &Bound<'_, PyAny>,
    a: Vec<usize>,
    b: Vec<usize>,
    cpu: Option<usize>,
) -> PyResult<usize> {
    let packets = arrays::packets(py, "packets", packets)?;
    let set = handlers.set().clone();
    Ok(worker::run(py, cpu, None, |watch| order::changed_handlers(&set, &packets, &a, &b, watch))?.0)
}
