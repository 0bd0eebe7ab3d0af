//! The processes of a simulation: several at a time, each with a directory of its own.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::SimulateOptions;
use super::job::{self, Job};
use crate::race::simulate::child::{self, Valgrind};
use crate::race::simulate::{Events, Geometry, Profile, Ran};
use crate::race::{Values, Watch};
use crate::{Error, Result};

/// What one process has to do.
pub(super) struct Task {
    /// Which setting.
    pub cell: usize,
    /// Which arm.
    pub arm: String,
}

/// What a process found.
pub(super) struct Found {
    pub ran: Ran,
    pub totals: Events,
    pub empty: Events,
    pub profile: Profile,
}

/// What all processes of a simulation share.
pub(super) struct Processes<'a> {
    pub id: &'a str,
    pub cells: &'a [Values],
    pub options: &'a SimulateOptions,
    pub valgrind: &'a Valgrind,
    pub geometry: &'a Geometry,
}

impl Processes<'_> {
    /// Runs every task as often as asked for, several processes at a time, and gives each task's findings in the tasks'
    /// order. The first failure ends the others.
    pub fn run(&self, tasks: &[Task], watch: &Watch) -> Result<Vec<Vec<Found>>> {
        let runs = self.options.runs as usize;
        let whole = tasks.len() * runs;
        let (next, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let found: Mutex<BTreeMap<usize, Found>> = Mutex::default();
        let failure: Mutex<Option<Error>> = Mutex::default();
        let check = || {
            watch.check()?;
            if failed.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
        };
        let at_once = self.options.jobs.or_else(|| std::thread::available_parallelism().ok());
        let at_once = at_once.map_or(1, NonZero::get).min(whole);
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= whole {
                            return;
                        }
                        match self.one(&tasks[at / runs], &check) {
                            Ok(one) => {
                                found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(at, one);
                                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                                watch.advance(done as f64 / whole as f64);
                            }
                            Err(error) => {
                                failed.store(true, Ordering::Relaxed);
                                let mut first =
                                    failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                                // What the failure interrupts isn't the failure.
                                if first.as_ref().is_none_or(|first| matches!(first, Error::Interrupted)) {
                                    *first = Some(error);
                                }
                                return;
                            }
                        }
                    }
                });
            }
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            return Err(error);
        }
        let mut found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).into_values();
        Ok((0..tasks.len()).map(|_| found.by_ref().take(runs).collect()).collect())
    }

    /// One process: its job written, performed, and read; its directory removed whatever happens.
    fn one(&self, task: &Task, check: &dyn Fn() -> Result<()>) -> Result<Found> {
        check()?;
        let os = |what: &str| {
            let what = what.to_owned();
            move |source| Error::Os { what, source }
        };
        let directory = tempfile::Builder::new()
            .prefix("nanokata-")
            .tempdir()
            .map_err(os("making a directory for a simulation"))?;
        let job = Job {
            experiment: self.id.to_owned(),
            values: self.cells[task.cell].0.clone(),
            arm: task.arm.clone(),
            seed: self.options.seed,
            passes: self.options.passes,
        };
        let file = directory.path().join("job.json");
        job.write(&file)?;
        child::run(
            self.valgrind,
            self.geometry,
            &self.options.performer,
            &file,
            directory.path(),
            self.options.timeout,
            check,
        )?;
        let ran = job::outcome(&file)?;
        let (totals, empty, profile) = child::dumps(directory.path())?.read();
        Ok(Found { ran, totals, empty, profile })
    }
}
