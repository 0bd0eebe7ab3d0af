//! Records how this build was made, so that every result can say which build it came from.

use std::path::Path;
use std::process::Command;

fn main() {
    record_build();
}

/// Sets `NANOKATA_RUSTC`, `_PROFILE`, `_OPT_LEVEL`, `_TARGET` and `_GIT` for `env!` in `src/machine/build_info.rs`.
fn record_build() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    set("RUSTC", first_line(Command::new(rustc).arg("--version")));
    for name in ["PROFILE", "OPT_LEVEL", "TARGET"] {
        set(name, std::env::var(name).ok());
    }
    set("GIT", git_describe());
    // Not the repository's own files: whatever changes the code changes one of these, and a rebuild of a thousand
    // generated bodies for a commit that touches only documents would be waste.
    for path in ["src", "build.rs", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
}

fn set(name: &str, value: Option<String>) {
    println!("cargo::rustc-env=NANOKATA_{name}={}", value.as_deref().unwrap_or("unknown"));
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}

/// The commit, if this directory is itself the root of a repository: an unpacked source distribution may lie inside
/// somebody else's, whose commit would say nothing about this code.
fn git_describe() -> Option<String> {
    let here = std::env::var("CARGO_MANIFEST_DIR").ok()?;
    let git = || {
        let mut command = Command::new("git");
        command.arg("-C").arg(&here);
        command
    };
    let root = first_line(git().args(["rev-parse", "--show-toplevel"]))?;
    let same = Path::new(&root).canonicalize().ok()? == Path::new(&here).canonicalize().ok()?;
    if !same {
        return None;
    }
    first_line(git().args(["describe", "--always", "--tags", "--dirty"]))
}
