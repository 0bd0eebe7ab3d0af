//! What a plugin leaves in the process: threads, what signals do, descriptors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::report::Finding;

/// How long a thread that was told to end may take.
const GRACE: Duration = Duration::from_millis(300);

/// The process before a library came into it.
#[derive(Debug)]
pub struct Before {
    threads: Option<usize>,
    signals: Vec<(i32, usize)>,
    descriptors: Option<BTreeMap<String, PathBuf>>,
}

impl Before {
    /// Looks at this process.
    pub fn now() -> Before {
        Before { threads: threads(), signals: signals(), descriptors: descriptors() }
    }

    /// Whether there are no more threads than before, after some patience; `None` where the system doesn't tell.
    pub fn threads(&self) -> Option<Finding> {
        let before = self.threads?;
        let until = Instant::now() + GRACE;
        while threads()? > before && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(match threads()?.saturating_sub(before) {
            0 => Ok("none of its own is left".into()),
            more => Err(format!(
                "{more} of its own still run after destroy(); wanted them joined, since its code can't go while they run"
            )),
        })
    }

    /// Whether signals do what they did.
    ///
    /// # Errors
    /// Which don't.
    pub fn signals(&self) -> Finding {
        let now = signals();
        let changed: Vec<String> = self
            .signals
            .iter()
            .zip(&now)
            .filter(|(was, is)| was != is)
            .map(|((number, _), _)| name(*number))
            .collect();
        if changed.is_empty() {
            return Ok("none does anything else than before".into());
        }
        Err(format!("it changed what {} does; that is for the process to say", changed.join(", ")))
    }

    /// Whether what was open still is; `None` where the system doesn't tell.
    pub fn descriptors(&self) -> Option<Finding> {
        let (before, now) = (self.descriptors.as_ref()?, descriptors()?);
        let changed = before.iter().filter(|(number, target)| now.get(*number) != Some(*target));
        let gone: Vec<&str> = changed.map(|(number, _)| number.as_str()).collect();
        if gone.is_empty() {
            return Some(Ok("what was open still is".into()));
        }
        Some(Err(format!("it closed descriptor {}, which isn't its own", gone.join(", "))))
    }
}

/// The name of a signal that programs and people know.
fn name(number: i32) -> String {
    let known = [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGCHLD, "SIGCHLD"),
        (libc::SIGPIPE, "SIGPIPE"),
    ];
    let found = known.into_iter().find(|(known, _)| *known == number);
    found.map_or_else(|| format!("signal {number}"), |(_, name)| name.into())
}

fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// What each signal does, where that can be asked.
fn signals() -> Vec<(i32, usize)> {
    (1..=31)
        .filter_map(|number| {
            // SAFETY: zero bytes are a value of this type of numbers and pointers.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: asks, and changes nothing; there is room for the answer.
            let asked = unsafe { libc::sigaction(number, std::ptr::null(), &raw mut action) };
            (asked == 0).then_some((number, action.sa_sigaction))
        })
        .collect()
}

/// Open descriptors and what they are of; the one that the listing itself needs is gone when it is looked at.
fn descriptors() -> Option<BTreeMap<String, PathBuf>> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.filter_map(|entry| {
        let path = entry.ok()?.path();
        let target = std::fs::read_link(&path).ok()?;
        Some((path.file_name()?.to_string_lossy().into_owned(), target))
    });
    Some(open.filter(|(_, target)| !target.starts_with("/proc/")).collect())
}
