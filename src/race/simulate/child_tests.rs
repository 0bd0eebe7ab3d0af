//! Processes and what they leave behind. None of these needs valgrind: shell scripts stand in for it.

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::machine::Card;

/// A directory with a program called valgrind that runs `script`.
struct Stand {
    directory: tempfile::TempDir,
}

impl Stand {
    fn in_for_valgrind(script: &str) -> Stand {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join("valgrind");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
        Stand { directory }
    }

    fn find(&self) -> Result<Valgrind> {
        Valgrind::find(self.directory.path().as_os_str())
    }

    fn run(&self, limit: Duration, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let path = self.directory.path();
        let valgrind = Valgrind { program: path.join("valgrind"), version: "9.9".into() };
        let environment = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let performer = Performer { program: "true".into(), arguments: Vec::new(), environment };
        let geometry = Geometry::of(&Card::blank());
        run(&valgrind, &geometry, &performer, &path.join("job"), path, limit, check)
    }

    /// Where the script wrote its own number.
    fn process(&self) -> Option<u32> {
        fs::read_to_string(self.directory.path().join("number")).ok()?.trim().parse().ok()
    }
}

const LONG: Duration = Duration::from_secs(60);
/// Says who it is and stays: as long as the test runs, if nobody ends it.
const STAYS: &str = "echo $$ > \"$(dirname \"$0\")/number\"\nexec sleep 60";

fn fine() -> Result<()> {
    Ok(())
}

fn exists(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn valgrind_is_found_by_its_version_or_missed_with_what_to_install() {
    let found = Stand::in_for_valgrind("echo valgrind-3.99.1").find();
    if cfg!(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))) {
        assert!(found.expect_err("not here").to_string().contains("Linux"));
        return;
    }
    assert_eq!(found.expect("found").version, "3.99.1");
    let empty = tempfile::tempdir().expect("a directory");
    let missed = Valgrind::find(empty.path().as_os_str()).expect_err("none").to_string();
    assert!(missed.contains("isn't installed") && missed.contains("apt install valgrind"), "{missed}");
    for script in ["echo something else", "exit 1"] {
        let broken = Stand::in_for_valgrind(script).find().expect_err("broken").to_string();
        assert!(broken.contains("doesn't tell its version"), "{broken}");
    }
}

#[test]
fn failures_say_what_was_written_last() {
    let failed =
        |script: &str| Stand::in_for_valgrind(script).run(LONG, &fine).expect_err("failed").to_string();
    let said = failed("echo one; echo the last words >&2; exit 7");
    assert!(said.contains("exit status: 7") && said.contains("the last words"), "{said}");
    // `--log-file=…` is where valgrind complains.
    let log = "for word in \"$@\"; do case $word in --log-file=*) echo 'vex: unhandled instruction bytes: 0x62' > \"${word#*=}\";; esac; done; kill -ILL $$";
    let unknown = failed(log);
    assert!(
        unknown.contains("doesn't know an instruction") && unknown.contains("newer valgrind"),
        "{unknown}"
    );
    assert!(Stand::in_for_valgrind("exit 0").run(LONG, &fine).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn a_timeout_ends_the_child_and_says_what_to_do() {
    let stand = Stand::in_for_valgrind(STAYS);
    let begun = Instant::now();
    let late = stand.run(Duration::from_millis(300), &fine).expect_err("late").to_string();
    assert!(late.contains("more than 0.3 s") && late.contains("raise the timeout"), "{late}");
    assert!(begun.elapsed() < Duration::from_secs(30));
    let process = stand.process().expect("it had started");
    // A zombie would still have its entry.
    assert!(!exists(process));
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_child_at_once() {
    let stand = Stand::in_for_valgrind(STAYS);
    let stopped: Cell<Option<Instant>> = Cell::new(None);
    let check = || {
        if stand.process().is_none() {
            return Ok(());
        }
        stopped.set(Some(stopped.get().unwrap_or_else(Instant::now)));
        Err(Error::Interrupted)
    };
    assert!(matches!(stand.run(LONG, &check), Err(Error::Interrupted)));
    let process = stand.process().expect("it had started");
    assert!(!exists(process));
    // No threshold for how fast: it would have stayed for a minute.
    assert!(stopped.get().expect("stopped").elapsed() < Duration::from_secs(30));
}

#[test]
fn dumps_that_are_missing_or_do_not_add_up_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let dump = |number: u32, region: &std::ffi::CStr, total: u32| {
        let region = region.to_str().expect("plain");
        let text =
            format!("desc: Trigger: Client Request: {region}\nevents: Ir\nfn=f\n0 5\ntotals: {total}\n");
        fs::write(directory.path().join(format!("dump.{number}")), text).expect("written");
    };
    let refused = || dumps(directory.path()).expect_err("refused").to_string();
    assert!(refused().contains("weren't heard"), "{}", refused());
    dump(1, region::EMPTY, 5);
    assert!(refused().contains("measured region"), "{}", refused());
    dump(2, region::MEASURED, 6);
    assert!(refused().contains("instructions 5 and 6"), "{}", refused());
    dump(2, region::MEASURED, 5);
    assert_eq!(dumps(directory.path()).expect("whole").measured.totals.instructions, 5);
}
