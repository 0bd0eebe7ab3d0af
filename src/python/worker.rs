//! Runs a job on a thread of its own, pinned if asked for, with the GIL released; the caller stays interruptible.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use pyo3::prelude::*;

use super::errors;
use crate::machine::{Pin, Pinning, affinity};
use crate::race::Watch;
use crate::{Error, Result};

/// How often the waiting caller looks for signals and reports progress. Ctrl-C must end a job within 0.2 s, and jobs
/// look at their watch every 50 ms at least.
const WAKE_EVERY: Duration = Duration::from_millis(50);

/// Where a job ran: the CPU asked for, the CPU seen at its start and at its end (`None` where the system doesn't tell),
/// whether the thread was pinned, and the reason if a pin that was asked for isn't possible here.
#[pyclass(name = "Ran", module = "nanokata._core", frozen, get_all, eq)]
#[derive(Debug, Clone, PartialEq)]
pub struct PyRan {
    /// CPU asked for.
    pub requested: Option<usize>,
    /// CPU seen at the start.
    pub start_cpu: Option<usize>,
    /// CPU seen at the end.
    pub end_cpu: Option<usize>,
    /// Whether the thread was held on the CPU asked for.
    pub pinned: bool,
    /// Why not, where this system can't pin.
    pub reason: Option<String>,
}

#[pymethods]
impl PyRan {
    fn __repr__(&self) -> String {
        let number = |cpu: Option<usize>| cpu.map_or("None".into(), |cpu| cpu.to_string());
        format!(
            "Ran(requested={}, start_cpu={}, end_cpu={}, pinned={})",
            number(self.requested),
            number(self.start_cpu),
            number(self.end_cpu),
            if self.pinned { "True" } else { "False" }
        )
    }
}

/// Tells the waiting caller that the job has ended, also if it panics.
struct Ending<'a> {
    ended: &'a AtomicBool,
    caller: Thread,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.caller.unpark();
    }
}

/// Runs `job` on a scoped thread and waits for it with the GIL released.
///
/// The caller's own affinity is never touched: only the new thread pins itself. `progress` is called with what is
/// being done and the fraction behind us; if it raises, or a signal handler does, the job is stopped first and that
/// exception is what the caller gets.
pub fn run<T: Send>(
    py: Python<'_>,
    cpu: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<(T, PyRan)> {
    run_with(py, progress, |watch| pinned(cpu, || job(watch)))
}

/// The same for a job that pins its threads by itself.
pub fn run_unpinned<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    run_with(py, progress, job)
}

fn run_with<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::new();
    let ended = AtomicBool::new(false);
    let caller = thread::current();
    thread::scope(|scope| {
        let (watch, ended) = (&watch, &ended);
        let worker = thread::Builder::new().name("nanokata".into()).spawn_scoped(scope, move || {
            let _ending = Ending { ended, caller };
            job(watch)
        });
        let worker = worker
            .map_err(|source| errors::raise(py, Error::Os { what: "starting a thread".into(), source }))?;
        let mut shown = None;
        let mut interrupted = None;
        while !ended.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(WAKE_EVERY));
            if interrupted.is_some() {
                continue;
            }
            let looked = py.check_signals().and_then(|()| match progress {
                Some(callback) => report(callback, watch, &mut shown),
                None => Ok(()),
            });
            if let Err(exception) = looked {
                watch.stop();
                interrupted = Some(exception);
            }
        }
        let outcome = py.detach(|| worker.join());
        match (interrupted, outcome) {
            (Some(exception), _) => Err(exception),
            (None, Ok(Ok(value))) => Ok(value),
            (None, Ok(Err(error))) => Err(errors::raise(py, error)),
            (None, Err(panic)) => {
                Err(errors::raise_panic(py, panic.as_ref()).unwrap_or_else(|| resume_unwind(panic)))
            }
        }
    })
}

/// Runs `job` on a thread that the interpreter knows, its lock given back meanwhile. A job that calls into Python takes the
/// lock then, as a thread of a Python program does; otherwise each call would first make a thread's state, and unmap it
/// afterwards.
pub fn known_to_python<T: Send>(job: impl FnOnce() -> T + Send) -> T {
    Python::attach(|py| py.detach(job))
}

fn report(callback: &Bound<'_, PyAny>, watch: &Watch, shown: &mut Option<(String, f64)>) -> PyResult<()> {
    let now = watch.progress();
    if shown.as_ref() != Some(&now) {
        callback.call1((now.0.as_str(), now.1))?;
        *shown = Some(now);
    }
    Ok(())
}

/// Pins the calling thread to `cpu`, if given, for the time of `job`, and tells where that ran.
pub fn pinned<T>(cpu: Option<usize>, job: impl FnOnce() -> Result<T>) -> Result<(T, PyRan)> {
    let pin = cpu.map(Pin::to).transpose()?;
    let (held, reason) = match pin.as_ref().map(Pin::placement) {
        Some(Pinning::Honoured { .. }) => (true, None),
        Some(Pinning::NotApplicable { reason }) => (false, Some(reason.clone())),
        None => (false, None),
    };
    let start_cpu = affinity::current_cpu();
    let value = job()?;
    let end_cpu = affinity::current_cpu();
    Ok((value, PyRan { requested: cpu, start_cpu, end_cpu, pinned: held, reason }))
}
