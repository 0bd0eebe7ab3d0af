//! Helper threads of a race: pinned, spinning, ready to run a task beside the measuring thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use crate::machine::{Pin, ThreadUsage, affinity};
use crate::{Error, Result};

/// A borrowed task, its lifetime erased: [`Crew::beside`] waits for its end before it returns.
type Task = *const (dyn Fn() + Sync);

struct Shared {
    /// Rises by one for every task.
    posted: AtomicU64,
    /// The last task that was finished.
    finished: AtomicU64,
    task: std::cell::UnsafeCell<Option<Task>>,
    /// Whether somebody is between posting a task and its end.
    busy: AtomicBool,
    quit: AtomicBool,
    /// Tasks that ended elsewhere than on the pinned CPU.
    strays: AtomicUsize,
    /// Tasks during which the helper was switched out, faulted a page in, or moved.
    disturbed: AtomicUsize,
    /// Tasks that panicked.
    panics: AtomicUsize,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Shared {
            posted: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            task: std::cell::UnsafeCell::new(None),
            busy: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            strays: AtomicUsize::new(0),
            disturbed: AtomicUsize::new(0),
            panics: AtomicUsize::new(0),
        })
    }
}

// SAFETY: `task` is written by the one poster that holds `busy`, before `posted` is released, and read by the helper after
// it is acquired; `busy` is given back only after `finished`.
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
    ///
    /// # Errors
    /// [`Error::Pinning`] for a CPU that can't be had, [`Error::Os`] where a thread can't be started. Helpers that were
    /// started by then are ended.
    pub fn new(cpus: &[usize]) -> Result<Self> {
        let mut crew = Crew { helpers: Vec::with_capacity(cpus.len()) };
        for &cpu in cpus {
            let shared = Shared::new();
            let theirs = Arc::clone(&shared);
            let (ready, pinned) = std::sync::mpsc::channel();
            let thread = std::thread::Builder::new()
                .name(format!("nanokata-helper-{cpu}"))
                .spawn(move || match Pin::to(cpu) {
                    Ok(_pin) => {
                        let _ = ready.send(Ok(()));
                        serve(&theirs, cpu);
                    }
                    Err(error) => _ = ready.send(Err(error)),
                })
                .map_err(|source| Error::Os { what: "starting a helper thread".into(), source })?;
            crew.helpers.push(Helper { cpu, shared, thread: Some(thread) });
            match pinned.recv() {
                Ok(answer) => answer?,
                Err(_) => {
                    let what = format!("a helper on CPU {cpu}");
                    return Err(Error::NotMeasurable {
                        what,
                        reason: "its thread ended before it was ready".into(),
                    });
                }
            }
        }
        Ok(crew)
    }

    /// The CPUs of the helpers.
    pub fn cpus(&self) -> Vec<usize> {
        self.helpers.iter().map(|helper| helper.cpu).collect()
    }

    /// Tasks so far that ended on another CPU than the helper's.
    pub fn strays(&self) -> usize {
        self.helpers.iter().map(|helper| helper.shared.strays.load(Ordering::Relaxed)).sum()
    }

    /// Tasks so far during which a helper was disturbed: switched out, moved, or faulting a page in.
    pub fn disturbed(&self) -> usize {
        self.helpers.iter().map(|helper| helper.shared.disturbed.load(Ordering::Relaxed)).sum()
    }

    /// Runs `task` on helper `index` while `main` runs here; returns when both are done.
    ///
    /// The task must end by itself once `main` has ended (by a flag of the caller's).
    ///
    /// # Panics
    /// If `task` panicked, or if the helper is at work already (a second thread, or a call from inside `main`).
    pub fn beside<R>(&self, index: usize, task: &(dyn Fn() + Sync), main: impl FnOnce() -> R) -> R {
        let shared = &self.helpers[index].shared;
        assert!(!shared.busy.swap(true, Ordering::Acquire), "helper {index} is at work already");
        let panics = shared.panics.load(Ordering::Relaxed);
        let turn = shared.posted.load(Ordering::Relaxed) + 1;
        // SAFETY: only the lifetime is erased; `Wait` keeps this call from returning (or unwinding) before the
        // helper is done with it.
        let erased = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(task) };
        // SAFETY: nobody else writes while `busy` is ours, and the helper isn't reading: whoever held `busy` before gave
        // it back only after the helper had finished.
        unsafe { *shared.task.get() = Some(std::ptr::from_ref(erased)) };
        shared.posted.store(turn, Ordering::Release);
        struct Wait<'a>(&'a Shared, u64);
        impl Drop for Wait<'_> {
            fn drop(&mut self) {
                while self.0.finished.load(Ordering::Acquire) != self.1 {
                    std::hint::spin_loop();
                }
                self.0.busy.store(false, Ordering::Release);
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
    let mut before = ThreadUsage::now().ok();
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
        let strayed = affinity::current_cpu().is_some_and(|now| now != cpu);
        let after = ThreadUsage::now().ok();
        let since = before.zip(after).map(|(before, after)| after.since(&before)).unwrap_or_default();
        before = after;
        shared.strays.fetch_add(usize::from(strayed), Ordering::Relaxed);
        let disturbed = strayed || since.involuntary_switches + since.minor_faults + since.major_faults > 0;
        shared.disturbed.fetch_add(usize::from(disturbed), Ordering::Relaxed);
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
        assert!(matches!(error, Error::Pinning(_)), "{error}");
    }

    #[test]
    fn helpers_of_a_crew_that_fails_are_ended() {
        let threads = || {
            let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
            let name = |task: std::fs::DirEntry| {
                std::fs::read_to_string(task.path().join("comm")).unwrap_or_default()
            };
            // The kernel cuts names to 15 bytes.
            tasks.map(name).filter(|name| name.starts_with("nanokata-helpe")).count()
        };
        let cpu = *affinity::allowed_cpus().expect("a mask").last().expect("a CPU");
        let before = threads();
        assert!(Crew::new(&[cpu, usize::MAX]).is_err());
        // Other tests may have helpers of their own come and go, but not stay.
        let ended = (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            threads() <= before
        });
        assert!(ended);
    }

    #[test]
    fn a_second_task_at_the_same_time_is_refused() {
        let crew = crew();
        let nested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            crew.beside(0, &|| (), || crew.beside(0, &|| (), || ()))
        }));
        assert!(nested.is_err());
        assert_eq!(crew.beside(0, &|| (), || 3), 3);
    }
}
