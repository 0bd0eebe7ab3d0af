//! Helper threads of a race: pinned, spinning, ready to run a task beside the measuring thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use crate::machine::{Pin, affinity};
use crate::{Error, Result};

/// A borrowed task, its lifetime erased: [`Crew::beside`] waits for its end before it returns.
type Task = *const (dyn Fn() + Sync);

struct Shared {
    /// Rises by one for every task.
    posted: AtomicU64,
    /// The last task that was finished.
    finished: AtomicU64,
    task: std::cell::UnsafeCell<Option<Task>>,
    quit: AtomicBool,
    /// Tasks that ended elsewhere than on the pinned CPU.
    strays: AtomicUsize,
    /// Tasks that panicked.
    panics: AtomicUsize,
}

// SAFETY: `task` is written by the poster before `posted` is released and read by the helper after it is acquired;
// the next write waits for `finished`.
unsafe impl Sync for Shared {}
// SAFETY: the task pointer is only followed between post and finish, while its owner waits.
unsafe impl Send for Shared {}

struct Helper {
    cpu: usize,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Threads pinned to CPUs of their own, shared by all arms of a race.
pub struct Crew {
    helpers: Vec<Helper>,
}

impl Crew {
    /// One helper on each of `cpus`.
    pub fn new(cpus: &[usize]) -> Result<Self> {
        let mut helpers = Vec::new();
        for &cpu in cpus {
            let shared = Arc::new(Shared {
                posted: AtomicU64::new(0),
                finished: AtomicU64::new(0),
                task: std::cell::UnsafeCell::new(None),
                quit: AtomicBool::new(false),
                strays: AtomicUsize::new(0),
                panics: AtomicUsize::new(0),
            });
            let theirs = Arc::clone(&shared);
            let (ready, pinned) = std::sync::mpsc::channel();
            let thread = std::thread::Builder::new()
                .name(format!("nanokata-helper-{cpu}"))
                .spawn(move || {
                    let pin = Pin::to(cpu);
                    let ok = pin.is_ok();
                    let _ = ready.send(pin.as_ref().map(|_| ()).map_err(ToString::to_string));
                    if ok {
                        serve(&theirs, cpu);
                    }
                })
                .map_err(|source| Error::Os { what: "starting a helper thread".into(), source })?;
            let helper = Helper { cpu, shared, thread: Some(thread) };
            if let Ok(Err(reason)) = pinned.recv() {
                return Err(Error::NotMeasurable { what: format!("a helper on CPU {cpu}"), reason });
            }
            helpers.push(helper);
        }
        Ok(Crew { helpers })
    }

    /// The CPUs of the helpers.
    pub fn cpus(&self) -> Vec<usize> {
        self.helpers.iter().map(|helper| helper.cpu).collect()
    }

    /// Tasks so far that ended on another CPU than the helper's.
    pub fn strays(&self) -> usize {
        self.helpers.iter().map(|helper| helper.shared.strays.load(Ordering::Relaxed)).sum()
    }

    /// Runs `task` on helper `index` while `main` runs here; returns when both are done.
    ///
    /// The task must end by itself once `main` has ended (by a flag of the caller's).
    ///
    /// # Panics
    /// If `task` panicked.
    pub fn beside<R>(&self, index: usize, task: &(dyn Fn() + Sync), main: impl FnOnce() -> R) -> R {
        let shared = &self.helpers[index].shared;
        let panics = shared.panics.load(Ordering::Relaxed);
        let turn = shared.posted.load(Ordering::Relaxed) + 1;
        // SAFETY: only the lifetime is erased; `Wait` keeps this call from returning (or unwinding) before the
        // helper is done with it.
        let erased = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(task) };
        // SAFETY: the helper isn't reading: it has finished every earlier task (`Wait` of the previous call).
        unsafe { *shared.task.get() = Some(std::ptr::from_ref(erased)) };
        shared.posted.store(turn, Ordering::Release);
        struct Wait<'a>(&'a Shared, u64);
        impl Drop for Wait<'_> {
            fn drop(&mut self) {
                while self.0.finished.load(Ordering::Acquire) != self.1 {
                    std::hint::spin_loop();
                }
            }
        }
        let result = {
            let _wait = Wait(shared, turn);
            main()
        };
        assert_eq!(panics, shared.panics.load(Ordering::Relaxed), "a task beside the race panicked");
        result
    }
}

fn serve(shared: &Shared, cpu: usize) {
    let mut done = 0;
    loop {
        let posted = shared.posted.load(Ordering::Acquire);
        if posted == done {
            if shared.quit.load(Ordering::Relaxed) {
                return;
            }
            std::hint::spin_loop();
            continue;
        }
        // SAFETY: posted with release after the task was written; the poster waits until `finished` says so.
        let task = unsafe { &*(*shared.task.get()).expect("posted with a task") };
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(task)).is_err() {
            shared.panics.fetch_add(1, Ordering::Relaxed);
        }
        if affinity::current_cpu().is_some_and(|now| now != cpu) {
            shared.strays.fetch_add(1, Ordering::Relaxed);
        }
        done = posted;
        shared.finished.store(posted, Ordering::Release);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for helper in &mut self.helpers {
            helper.shared.quit.store(true, Ordering::Relaxed);
            if let Some(thread) = helper.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crew() -> Crew {
        Crew::new(&[*affinity::allowed_cpus().expect("a mask").last().expect("a CPU")]).expect("a helper")
    }

    #[test]
    fn runs_both_sides_and_waits() {
        let crew = crew();
        let count = AtomicUsize::new(0);
        for round in 1..=1000 {
            let here = crew.beside(0, &|| _ = count.fetch_add(1, Ordering::Relaxed), || round);
            assert_eq!(here, round);
            assert_eq!(count.load(Ordering::Relaxed), round);
        }
        assert_eq!(crew.strays(), 0);
    }

    #[test]
    fn a_panicking_task_is_told_and_the_helper_lives_on() {
        let crew = crew();
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            crew.beside(0, &|| panic!("on purpose"), || ())
        }));
        assert!(told.is_err());
        assert_eq!(crew.beside(0, &|| (), || 7), 7);
    }

    #[test]
    fn an_absent_cpu_is_refused() {
        let Err(error) = Crew::new(&[usize::MAX]) else { panic!("accepted") };
        assert!(matches!(error, Error::NotMeasurable { .. }), "{error}");
    }
}
