//! Probes of two threads, callable.

use std::sync::Arc;

use pyo3::prelude::*;

use super::errors::OrRaise;
use super::machine::card;
use super::worker::{self, PyRan};
use crate::machine::{allowed_cpus, default_cpus};
use crate::race::{Checksum, Crew, Placement, Recipe, Source, Watch, Window};
use crate::sharing::{Line, LineRecipe, Mode};
use crate::{Error, Result};

/// Steps between two looks at the watch.
const CHUNK: usize = 1 << 16;

/// What one untimed pass of a line probe did, and where its two threads ran. Time comes only from `sharing.line`.
#[pyclass(name = "LinePass", module = "nanokata.sharing", frozen, get_all)]
pub struct PyLinePass {
    /// Fold over what the measured thread saw: by how much its own word grew, or its loads.
    checksum: u64,
    /// Steps that the other thread made meanwhile.
    other_steps: u64,
    /// Where the measured thread ran.
    ran: PyRan,
    /// CPU that the other thread is pinned to.
    other_cpu: usize,
}

#[pymethods]
impl PyLinePass {
    fn __repr__(&self) -> String {
        format!("<LinePass: checksum {:#018x}, {} steps beside it>", self.checksum, self.other_steps)
    }
}

/// Two words, `distance` bytes apart, one for each of two pinned threads: `steps` steps of the measured one.
#[pyfunction]
#[pyo3(signature = (distance, steps, *, mode, writes, cpus))]
pub fn line(
    py: Python<'_>,
    distance: usize,
    steps: usize,
    mode: &str,
    writes: bool,
    cpus: Option<(usize, usize)>,
) -> PyResult<PyLinePass> {
    let line = Mode::named(mode).map(|mode| Line { mode, distance_bytes: distance, writes }).or_raise(py)?;
    let recipe = LineRecipe::new(line).or_raise(py)?;
    let (own, other) = two_cpus(cpus).or_raise(py)?;
    let (checksum, ran) = worker::run_unpinned(py, None, |watch| {
        // The helper's thread is started first: it inherits the mask of whoever starts it.
        let crew = Arc::new(Crew::new(&[other])?);
        worker::pinned(Some(own), || pass(&recipe, crew, steps, watch))
    })?;
    Ok(PyLinePass { checksum: checksum.0, other_steps: recipe.other_steps(), ran, other_cpu: other })
}

fn two_cpus(asked: Option<(usize, usize)>) -> Result<(usize, usize)> {
    if let Some((own, other)) = asked {
        if own == other {
            let wanted = "wanted two different CPUs: on one, the threads would take turns";
            return Err(Error::invalid("cpus", format!("({own}, {other})"), wanted));
        }
        return Ok((own, other));
    }
    match default_cpus(card(), 2).as_deref() {
        Some(&[own, other]) => Ok((own, other)),
        _ => Err(Error::NotMeasurable {
            what: "a probe of two threads".into(),
            reason: card().topology.why_no_pair(&allowed_cpus()?).unwrap_or_else(|| {
                "two threads need a core each, which this process had only a moment ago".into()
            }),
        }),
    }
}

fn pass(recipe: &LineRecipe, crew: Arc<Crew>, steps: usize, watch: &Watch) -> Result<Checksum> {
    let mut placement = Placement::new(0).with_crew(Some(crew));
    let input = Source::without_items(steps).place(&mut placement)?;
    let mut arm = recipe.build(&input, &mut placement)?;
    let mut whole = Checksum::EMPTY;
    for first in (0..steps).step_by(CHUNK) {
        watch.check()?;
        let fold = arm.run(Window { first, count: CHUNK.min(steps - first) });
        whole = whole.fold(fold.0, 0);
    }
    Ok(whole)
}
