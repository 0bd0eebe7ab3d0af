//! The child process under valgrind: started, watched, stopped, and read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::profile::Dump;
use super::{Geometry, region};
use crate::{Error, Result};

/// How often the child and the watch are looked at. Ctrl-C must end it within 0.2 s.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Lines of what a failed child wrote that are worth showing.
const LAST_LINES: usize = 3;

/// A program that performs a job: it is given the job's file as its last argument, and runs
/// [`perform`](crate::simulate::perform) on it.
#[derive(Debug, Clone)]
pub struct Performer {
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the job's file.
    pub arguments: Vec<String>,
    /// Its whole environment: what else is set here would move its stack.
    pub environment: Vec<(String, String)>,
}

/// An installed valgrind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Valgrind {
    /// The program.
    pub program: PathBuf,
    /// Its version, as `3.19.0`.
    pub version: String,
}

impl Valgrind {
    /// Looks for valgrind in the directories of `path` (as `PATH` is written) and asks for its version.
    ///
    /// # Errors
    /// [`Error::NotMeasurable`] where there is none for this system, with what to install.
    pub fn find(path: &std::ffi::OsStr) -> Result<Valgrind> {
        let none = |reason: String| Error::NotMeasurable { what: "a simulation".into(), reason };
        if !cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
            let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
            return Err(none(format!(
                "it needs valgrind on Linux, x86-64 or arm64, and this is {system} on {architecture}"
            )));
        }
        let found = std::env::split_paths(path).map(|directory| directory.join("valgrind"));
        let Some(program) = found.into_iter().find(|program| program.is_file()) else {
            return Err(none(
                "valgrind isn't installed, or not in PATH; install it (Debian, Ubuntu: apt install valgrind; \
                 Fedora: dnf install valgrind; Arch: pacman -S valgrind)"
                    .into(),
            ));
        };
        let asked = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
        let version = asked.ok().filter(|output| output.status.success()).and_then(|output| {
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            said.strip_prefix("valgrind-").map(str::to_owned)
        });
        match version {
            Some(version) => Ok(Valgrind { program, version }),
            None => Err(none(format!(
                "{} doesn't tell its version as valgrind does; install valgrind anew",
                program.display()
            ))),
        }
    }
}

/// The dumps of a finished child.
#[derive(Debug, Clone)]
pub(crate) struct Dumps {
    /// Of the region in which nothing runs.
    pub(super) empty: Dump,
    /// Of the measured passes.
    pub(super) measured: Dump,
}

/// Runs one job under callgrind, in `directory`, which belongs to it alone, and reads what callgrind wrote there.
///
/// The region's checksum isn't looked at here: the job says whether it was right in a file of its own.
///
/// # Errors
/// What `check`, which is asked all the time, refuses with; [`Error::NotMeasurable`] where valgrind fails or `limit` has
/// passed. In each case the child has ended.
pub(crate) fn run(
    valgrind: &Valgrind,
    geometry: &Geometry,
    performer: &Performer,
    job: &Path,
    directory: &Path,
    limit: Duration,
    check: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let log = directory.join("valgrind.log");
    let output = directory.join("output.log");
    let written = File::create(&output).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) =
        written.map_err(|source| Error::Os { what: format!("writing {}", output.display()), source })?;
    let mut command = Command::new(&valgrind.program);
    command
        .arg("--tool=callgrind")
        // No debugger comes, and the pipes for one would stay behind where a child is killed.
        .arg("--vgdb=no")
        .args(["--cache-sim=yes", "--branch-sim=yes", "--instr-atstart=no"])
        // Demangled here, so that names don't depend on valgrind's version.
        .args(["--demangle=no", "--compress-pos=no", "--dump-instr=no"])
        .args(geometry.options())
        .arg(format!("--callgrind-out-file={}", literally(&directory.join("dump"))))
        .arg(format!("--log-file={}", literally(&log)))
        .arg(&performer.program)
        .args(&performer.arguments)
        .arg(job)
        .env_clear()
        .envs(performer.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    isolate(&mut command);
    let child = command
        .spawn()
        .map_err(|source| Error::Os { what: format!("starting {}", valgrind.program.display()), source })?;
    let status = Running(child).wait(limit, check)?;
    if status.success() {
        return Ok(());
    }
    Err(Error::NotMeasurable {
        what: "a simulation".into(),
        reason: failure(valgrind, status, &log, &output),
    })
}

/// A path as valgrind's options want it, where `%` begins a pattern.
fn literally(path: &Path) -> String {
    path.display().to_string().replace('%', "%%")
}

/// Reads the dumps that a finished job left in `directory`.
///
/// # Errors
/// [`Error::NotMeasurable`] where one is missing or isn't understood.
pub(crate) fn dumps(directory: &Path) -> Result<Dumps> {
    let broken = |source| Error::Os { what: format!("reading {}", directory.display()), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(broken)? {
        let path = entry.map_err(broken)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // callgrind numbers the parts of a file that it dumps one after another: dump.1, dump.2.
        if name.starts_with("dump.") {
            found.push(Dump::parse(&fs::read_to_string(&path).map_err(broken)?)?);
        }
    }
    let mut of = |name: &std::ffi::CStr| {
        let name = name.to_string_lossy();
        let at = found.iter().position(|dump| dump.trigger.ends_with(&*name));
        at.map(|at| found.swap_remove(at)).ok_or_else(|| Error::NotMeasurable {
            what: "a simulation".into(),
            reason: format!("callgrind wrote nothing for the {name}: its client requests weren't heard"),
        })
    };
    let (empty, measured) = (of(region::EMPTY)?, of(region::MEASURED)?);
    if measured.sum() != measured.totals {
        return Err(Error::NotMeasurable {
            what: "callgrind's output".into(),
            reason: format!(
                "the functions' costs don't add up to the total: {}",
                measured.sum().differences(&measured.totals).join(", ")
            ),
        });
    }
    Ok(Dumps { empty, measured })
}

/// Puts the child into a process group of its own, so that the terminal's Ctrl-C reaches only this process, which then
/// ends the child; has it end with this process, whatever happens to that; and has data placed without randomisation.
#[cfg(target_os = "linux")]
fn isolate(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    // SAFETY: between fork and exec only two system calls are made, which are async-signal-safe, and nothing is allocated.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // Refused in some containers; valgrind places what it runs by itself anyway, so this is belt and braces.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn isolate(_command: &mut Command) {}

/// A child that never outlives this value, and is always waited for: no process and no zombie is left.
struct Running(Child);

impl Running {
    fn wait(mut self, limit: Duration, check: &dyn Fn() -> Result<()>) -> Result<ExitStatus> {
        let begun = Instant::now();
        loop {
            check()?;
            let ended = self.0.try_wait();
            if let Some(status) =
                ended.map_err(|source| Error::Os { what: "waiting for valgrind".into(), source })?
            {
                return Ok(status);
            }
            if begun.elapsed() > limit {
                return Err(Error::NotMeasurable {
                    what: "a simulation".into(),
                    reason: format!(
                        "an arm took more than {} s under valgrind; raise the timeout, or take a smaller input \
                         or fewer passes",
                        limit.as_secs_f64()
                    ),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail where it has ended and was waited for, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Why valgrind or what it ran failed, in a line.
fn failure(valgrind: &Valgrind, status: ExitStatus, log: &Path, output: &Path) -> String {
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let log = read(log).unwrap_or_default();
    let unknown = ["unhandled instruction", "Unrecognised instruction", "unrecognised instruction"];
    if unknown.iter().any(|words| log.contains(words)) {
        return format!(
            "valgrind {} doesn't know an instruction that this build or its interpreter uses; a newer valgrind may",
            valgrind.version
        );
    }
    let said = read(output).unwrap_or_default();
    let said = if said.trim().is_empty() { log } else { said };
    let mut lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.split_off(lines.len().saturating_sub(LAST_LINES)).join("; ");
    format!("valgrind {} ended with {status}: {last}", valgrind.version)
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
