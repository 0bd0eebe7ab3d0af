//! Where the calling thread may run, does run, and is made to run.
//!
//! Placement is verified, not requested: [`Pin::to`] reads back both the mask and the CPU it landed on, and the guard
//! gives the former mask back on every way out.

use std::marker::PhantomData;

use super::cpu_list::format_cpu_list;
use super::{Card, Topology};

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod platform;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod platform;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
#[path = "other.rs"]
mod platform;

/// A CPU that is absent or not allowed, or a pin that was not honoured.
#[derive(Debug, thiserror::Error)]
pub enum PinningError {
    /// The machine has no such CPU, or it is offline.
    #[error(
        "cpu={cpu}: this machine has no such CPU; choose one of those online: {}",
        format_cpu_list(online)
    )]
    NoSuchCpu {
        /// The CPU that was asked for.
        cpu: usize,
        /// The CPUs that are online.
        online: Vec<usize>,
    },
    /// The CPU exists, but this thread may not use it (a cpuset, a container's limit, `taskset`).
    #[error(
        "cpu={cpu}: this thread is confined to CPUs {}; choose one of them, or widen the cpuset, container limit or \
         taskset that it was started under",
        format_cpu_list(allowed)
    )]
    NotAllowed {
        /// The CPU that was asked for.
        cpu: usize,
        /// The CPUs that are allowed.
        allowed: Vec<usize>,
    },
    /// The system accepted the pin, but reading it back shows something else.
    #[error(
        "cpu={cpu}: the system accepted the pin, but the thread runs on {} with CPUs {} allowed; another program may \
         be moving this process (cpuset, affinity daemon): try again, or choose another CPU",
        ran_on.map_or_else(|| "an unknown CPU".to_owned(), |cpu| format!("CPU {cpu}")), format_cpu_list(allowed)
    )]
    NotHonoured {
        /// The CPU that was asked for.
        cpu: usize,
        /// Where the thread runs instead, if that can be read.
        ran_on: Option<usize>,
        /// The mask that was read back.
        allowed: Vec<usize>,
    },
    /// The operating system refused.
    #[error("{what}: {source}")]
    Os {
        /// What was being done, with its values.
        what: String,
        /// The system's own error.
        source: std::io::Error,
    },
}

/// The CPUs that the calling thread may run on, ascending: its own mask, which respects cpusets, container limits and
/// `taskset`. Where threads have no such mask (macOS), all CPUs that are online.
///
/// Fails with [`PinningError::Os`] if the system won't tell.
pub fn allowed_cpus() -> Result<Vec<usize>, PinningError> {
    platform::allowed_cpus()
}

/// The CPU that the calling thread is running on this moment; `None` where the system has no such call.
///
/// On Linux through glibc's `sched_getcpu`, which reads the thread's rseq area or the vDSO: a few nanoseconds.
#[inline]
pub fn current_cpu() -> Option<usize> {
    platform::current_cpu()
}

/// The CPU to measure on when nobody chose one: the first that this thread may use, performance cores first, then
/// those that are neither CPU 0 nor its SMT sibling (see [`Topology::by_preference`]). `None` if the mask can't be read.
pub fn default_cpu(card: &Card) -> Option<usize> {
    first_choice(&card.topology, &allowed_cpus().ok()?)
}

/// `count` CPUs for an experiment with that many threads, on different physical cores of one kind, best first; `None`
/// if this thread isn't allowed so many.
pub fn default_cpus(card: &Card, count: usize) -> Option<Vec<usize>> {
    card.topology.distinct_cores(&allowed_cpus().ok()?, count)
}

fn first_choice(topology: &Topology, allowed: &[usize]) -> Option<usize> {
    topology.by_preference(allowed).first().copied()
}

/// What became of a pin.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Pinning {
    /// The thread was read back on this CPU, and may run on no other.
    Honoured {
        /// The CPU.
        cpu: usize,
    },
    /// This system doesn't pin threads.
    NotApplicable {
        /// Why not, and what was done instead.
        reason: String,
    },
}

/// Holds the calling thread on one CPU until dropped, then gives back the mask it had before, also when unwinding.
///
/// Belongs to the thread that made it, and can't be sent elsewhere.
#[derive(Debug)]
#[must_use = "the thread is unpinned when this is dropped"]
pub struct Pin {
    outcome: Pinning,
    former: Option<platform::Former>,
    _of_this_thread: PhantomData<*const ()>,
}

impl Pin {
    /// Pins the calling thread to `cpu` and verifies it.
    ///
    /// Errors: [`PinningError::NoSuchCpu`] and [`PinningError::NotAllowed`] before anything is changed;
    /// [`PinningError::NotHonoured`] if reading back shows another mask or CPU (the former mask is restored);
    /// [`PinningError::Os`] if a system call fails. On systems without pinning it succeeds, and
    /// [`Pin::placement`] says [`Pinning::NotApplicable`].
    pub fn to(cpu: usize) -> Result<Pin, PinningError> {
        let (outcome, former) = platform::pin(cpu)?;
        Ok(Pin { outcome, former: Some(former), _of_this_thread: PhantomData })
    }

    /// What became of the request.
    pub fn placement(&self) -> &Pinning {
        &self.outcome
    }

    /// The CPU that the thread is held on, where pinning exists.
    pub fn cpu(&self) -> Option<usize> {
        match self.outcome {
            Pinning::Honoured { cpu } => Some(cpu),
            Pinning::NotApplicable { .. } => None,
        }
    }

    /// Runs `job` with the former mask, then pins the thread again.
    ///
    /// Errors: [`PinningError`] as [`Pin::to`], if the mask can't be changed; then `job` wasn't run, or the thread is left
    /// unpinned.
    pub fn loosened<T>(&self, job: impl FnOnce() -> T) -> Result<T, PinningError> {
        let Some(former) = &self.former else { return Ok(job()) };
        platform::restore(former.clone())?;
        let done = job();
        if let Some(cpu) = self.cpu() {
            platform::pin(cpu)?;
        }
        Ok(done)
    }

    /// Gives the former mask back now, and says so if that fails; dropping does the same silently.
    pub fn release(mut self) -> Result<(), PinningError> {
        self.former.take().map_or(Ok(()), platform::restore)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if let Some(former) = self.former.take() {
            // Nothing can be done about a failure here; `release` reports it.
            let _ = platform::restore(former);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
