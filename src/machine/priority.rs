//! The scheduling priority of the measuring thread.

use std::marker::PhantomData;

/// The nice value that a measurement asks for: well ahead of ordinary programs, behind the system's own helpers, and
/// never real-time, which could starve the machine.
const WANTED_NICE: i32 = -10;

/// Holds the calling thread at a raised priority, where that is allowed, until dropped.
///
/// Belongs to the thread that made it.
#[derive(Debug)]
#[must_use = "the priority is given back when this is dropped"]
pub struct Priority {
    outcome: Outcome,
    _of_this_thread: PhantomData<*const ()>,
}

#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
enum Outcome {
    Raised { from: i32, to: i32 },
    Already { nice: i32 },
    Refused { nice: Option<i32>, reason: String },
}

impl Priority {
    /// Raises the calling thread to nice −10, or as far as `RLIMIT_NICE` lets it. Never fails: what came of it is in
    /// [`Priority::describe`].
    pub fn raise() -> Priority {
        Priority { outcome: platform::raise(WANTED_NICE), _of_this_thread: PhantomData }
    }

    /// Whether the thread now runs at a higher priority than before.
    pub fn is_raised(&self) -> bool {
        matches!(self.outcome, Outcome::Raised { .. })
    }

    /// One line: `nice 0 → -10`, `nice -12 already`, or `nice 0, not raised: EACCES (…)`.
    pub fn describe(&self) -> String {
        match &self.outcome {
            Outcome::Raised { from, to } => format!("nice {from} → {to}"),
            Outcome::Already { nice } => format!("nice {nice} already"),
            Outcome::Refused { nice: Some(nice), reason } => format!("nice {nice}, not raised: {reason}"),
            Outcome::Refused { nice: None, reason } => format!("not raised: {reason}"),
        }
    }
}

impl Drop for Priority {
    fn drop(&mut self) {
        if let Outcome::Raised { from, .. } = self.outcome {
            // Lowering a priority is always allowed.
            platform::set(from);
        }
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use rustix::io::Errno;
    use rustix::process::{Resource, getpriority_process, getrlimit, setpriority_process};

    use super::Outcome;

    // `None` is the caller: on Linux the calling *thread*, since nice values are the kernel tasks' (setpriority(2),
    // "C library/kernel differences").

    pub(super) fn raise(wanted: i32) -> Outcome {
        let nice = match getpriority_process(None) {
            Ok(nice) => nice,
            Err(errno) => return Outcome::Refused { nice: None, reason: errno.to_string() },
        };
        if nice <= wanted {
            return Outcome::Already { nice };
        }
        let refusal = match setpriority_process(None, wanted) {
            Ok(()) => return Outcome::Raised { from: nice, to: wanted },
            Err(errno) => errno,
        };
        let limit = limit();
        if limit < nice && setpriority_process(None, limit).is_ok() {
            return Outcome::Raised { from: nice, to: limit };
        }
        let reason = match refusal {
            Errno::ACCESS => "EACCES (it takes CAP_SYS_NICE, or a higher `ulimit -e`)".to_owned(),
            Errno::PERM => "EPERM (a seccomp filter or security module forbids it)".to_owned(),
            other => other.to_string(),
        };
        Outcome::Refused { nice: Some(nice), reason }
    }

    /// How low a nice value `RLIMIT_NICE` allows: 20 − limit (getrlimit(2)).
    fn limit() -> i32 {
        let ceiling = getrlimit(Resource::Nice).current.unwrap_or(40).min(40);
        20 - ceiling as i32
    }

    pub(super) fn set(nice: i32) {
        let _ = setpriority_process(None, nice);
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::Outcome;

    pub(super) fn raise(_: i32) -> Outcome {
        let reason = format!("{} has no nice value by thread", std::env::consts::OS);
        Outcome::Refused { nice: None, reason }
    }

    pub(super) fn set(_: i32) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    /// Runs in a thread of its own, whose priority dies with it.
    fn in_thread(body: impl FnOnce() + Send + 'static) {
        std::thread::spawn(body).join().expect("the test's own thread");
    }

    #[test]
    fn it_is_given_back_also_after_a_panic() {
        in_thread(|| {
            let before = getpriority_process(None).unwrap();
            for panics in [false, true] {
                let caught = std::panic::catch_unwind(|| {
                    let priority = Priority::raise();
                    let now = getpriority_process(None).unwrap();
                    assert_eq!(priority.is_raised(), now < before, "{}", priority.describe());
                    assert!(priority.describe().contains(&now.to_string()), "{}", priority.describe());
                    if panics {
                        std::panic::resume_unwind(Box::new("on purpose"));
                    }
                });
                assert_eq!(caught.is_err(), panics);
                assert_eq!(getpriority_process(None).unwrap(), before);
            }
        });
    }

    #[test]
    fn raising_twice_changes_nothing_the_second_time() {
        in_thread(|| {
            let first = Priority::raise();
            let nice = getpriority_process(None).unwrap();
            let second = Priority::raise();
            assert!(!second.is_raised());
            drop(second);
            assert_eq!(getpriority_process(None).unwrap(), nice);
            drop(first);
        });
    }

    #[test]
    fn other_threads_keep_theirs() {
        let before = getpriority_process(None).unwrap();
        in_thread(|| std::mem::forget(Priority::raise()));
        assert_eq!(getpriority_process(None).unwrap(), before);
    }

    #[test]
    fn a_refusal_says_why() {
        let refused = Priority {
            outcome: Outcome::Refused { nice: Some(0), reason: "EACCES (…)".into() },
            _of_this_thread: PhantomData,
        };
        assert_eq!(refused.describe(), "nice 0, not raised: EACCES (…)");
        assert!(!refused.is_raised());
    }
}
