//! Whether a library is a plugin that a host can live with: everything that the contract says, tried.
//!
//! Runs the plugin's code, and is meant for a process that may die of it: each stage is reported before it begins and after
//! it ended, so that whoever listens outside knows in which one the process ended. [`serve`] is that process's whole life.

mod batch;
mod confine;
mod lease;
mod leftovers;
mod opening;
mod pages;
mod report;
mod stage;
mod subject;
mod traffic;
mod working;

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

pub use report::Event;
pub use stage::Stage;

use self::lease::Lease;
use self::leftovers::Before;
use self::report::Reporter;
use self::subject::Subject;
use super::Library;
use super::abi::EntryPoint;
use crate::race::Outcome;

/// The code that a process ends with whose reports nobody can get any more.
pub const REPORT_LOST: i32 = 113;

/// Examines the library at `path`, and says what happens to `listener`, stage by stage. After a stage that all others rest on
/// has failed, the rest isn't begun.
///
/// # Safety
/// Runs the library's code, which can do whatever it likes to this process.
pub unsafe fn examine(path: &Path, listener: &mut dyn FnMut(&Event)) {
    let mut reporter = Reporter::new(listener);
    // SAFETY: as above.
    unsafe { stages(path, &mut reporter) };
    reporter.say(&Event::Done);
}

/// # Safety
/// As [`examine`].
unsafe fn stages(path: &Path, reporter: &mut Reporter<'_>) -> Option<()> {
    let examined = opening::read(path, reporter)?;
    let before = Before::now();
    // SAFETY: the caller vouches for what runs.
    let (library, entry, functions) = unsafe { opening::functions(&examined, reporter) }?;
    // SAFETY: as above.
    let subject = unsafe { opening::claims(&library, functions, reporter) }?;
    let (instance, lease) = reporter.stage(Stage::Create, || {
        let instance = subject.create()?;
        Ok(((instance, Lease::roomy()?), "an instance".into()))
    })?;
    let held = at_work(&subject, instance, lease, reporter);
    reporter.check(Stage::Destroy, || {
        subject.destroy(instance);
        Ok("returned".into())
    });
    let threads = reporter.seen(Stage::Threads, || before.threads());
    reporter.check(Stage::Signals, || before.signals());
    reporter.seen(Stage::Descriptors, || before.descriptors());
    unload(library, entry, threads == Outcome::Failed, reporter);
    // Until here whatever still pointed there met either what it had been lent or nothing at all.
    drop(held);
    Some(())
}

/// The stages in which it processes packets. What it was lent is returned, to be kept.
fn at_work(
    subject: &Subject,
    instance: *mut c_void,
    mut lease: Lease,
    reporter: &mut Reporter<'_>,
) -> Vec<Lease> {
    let seen = working::claimed(subject, instance, &mut lease, reporter);
    working::unclaimed(subject, instance, &mut lease, reporter);
    let mut held = Vec::new();
    match seen {
        Some(seen) => {
            working::again(subject, instance, &mut lease, &seen, reporter);
            held = working::lent(subject, instance, &seen, reporter);
            held.extend(working::bounds(subject, instance, &seen, reporter));
            batch::batch(subject, instance, &seen, reporter);
            working::instances(subject, instance, &mut lease, &seen, reporter);
        }
        None => {
            for stage in [Stage::Determinism, Stage::Lent, Stage::Bounds, Stage::Batch, Stage::Instances] {
                reporter.skip(stage, "what it says of packets can't be relied on");
            }
        }
    }
    held.push(lease);
    held
}

/// Closes the library, if it is one that ever is.
fn unload(library: Arc<Library>, entry: EntryPoint, running: bool, reporter: &mut Reporter<'_>) {
    if running || library.stays() {
        let reason = match running {
            true => "threads of it still run its code",
            false => "it has thread-locals, whose destructors must find its code: it is never closed",
        };
        reporter.skip(Stage::Unload, reason);
        // What a library does when the process ends isn't waited for.
        std::mem::forget(library);
        return;
    }
    reporter.check(Stage::Unload, || {
        drop(library);
        Ok(match is_mapped(entry as usize) {
            Some(true) => "closed; the dynamic linker keeps it in memory",
            Some(false) => "closed; its code is gone from memory",
            None => "closed",
        }
        .into())
    });
}

/// Whether there is memory at an address; `None` where the system doesn't tell.
fn is_mapped(address: usize) -> Option<bool> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let number = |text| usize::from_str_radix(text, 16).unwrap_or_default();
    Some(
        maps.lines()
            .filter_map(|line| line.split_once(' ')?.0.split_once('-'))
            .any(|(from, to)| (number(from)..number(to)).contains(&address)),
    )
}

/// Examines `path` and writes a line of JSON an event to the descriptor `report`; then ends this process, of which nothing
/// is trusted any more.
///
/// # Safety
/// As [`examine`]; `report` must be an open descriptor that nobody else writes to.
#[cfg(unix)]
pub unsafe fn serve(path: &Path, report: std::os::fd::RawFd) -> ! {
    use std::io::Write;
    use std::os::fd::FromRawFd;

    confine::confine();
    // SAFETY: the caller vouches for it.
    let mut lines = unsafe { std::fs::File::from_raw_fd(report) };
    let mut write = |event: &Event| {
        let mut line = serde_json::to_vec(event).expect("plain data");
        line.push(b'\n');
        if lines.write_all(&line).is_err() {
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(REPORT_LOST) };
        }
    };
    // SAFETY: the caller vouches for what runs.
    unsafe { examine(path, &mut write) };
    // SAFETY: what the plugin printed and C's library still holds is for the parent to count; then nothing else runs.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(0)
    }
}
