//! Records how this build was made, so that every result can say which build it came from; builds the example plugins,
//! each a library of its own; and lays out what a learner builds by hand, to be installed with the package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    record_build();
    build_plugins();
    lay_out_katas();
}

/// Folders of a kata that hold what a learner builds.
const SOURCES: [&str; 5] = ["include", "plugins", "exercises", "twins", "probes"];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}

fn katas() -> PathBuf {
    Path::new(&variable("CARGO_MANIFEST_DIR")).join("katas")
}

fn out() -> PathBuf {
    PathBuf::from(variable("OUT_DIR"))
}

/// The example plugins in Rust, separately compiled as any plugin is: `plugins/v1.so` against the first edition of the
/// ABI, `plugins/v2.so` against the present one.
fn build_plugins() {
    if variable("CARGO_CFG_TARGET_FAMILY") != "unix" {
        return;
    }
    let (sources, made) = (katas().join("plugin-dispatch/plugins"), out().join("plugins"));
    fs::create_dir_all(&made).expect("OUT_DIR can be written");
    for (name, cfg) in [("v1", Some("nanokata_plugin_level_1")), ("v2", None)] {
        let mut rustc = Command::new(variable("RUSTC"));
        rustc
            .args([
                "--edition=2024",
                "--crate-type=cdylib",
                "-Copt-level=3",
                "-Cpanic=abort",
                "-Cstrip=debuginfo",
            ])
            .arg(format!("--crate-name=nanokata_{name}"))
            .args(["--target", &variable("TARGET")])
            .args(cfg.into_iter().flat_map(|cfg| ["--cfg", cfg]))
            .arg("-o")
            .arg(made.join(format!("{name}.so")))
            .arg(sources.join(format!("{name}.rs")));
        if let Ok(linker) = std::env::var("RUSTC_LINKER") {
            rustc.arg(format!("-Clinker={linker}"));
        }
        let status = rustc.status().unwrap_or_else(|error| panic!("starting rustc: {error}"));
        assert!(status.success(), "the example plugin {name} didn't build: {status}");
    }
}

/// Copies headers, plugins, exercises and twins into `OUT_DIR/katas`, from where the wheel takes them.
fn lay_out_katas() {
    let to = out().join("katas");
    // What was removed from the sources must not stay behind.
    let _ = fs::remove_dir_all(&to);
    for kata in folders(&katas()) {
        for source in SOURCES.map(|folder| kata.join(folder)).into_iter().filter(|folder| folder.is_dir()) {
            println!("cargo::rerun-if-changed={}", source.display());
            let name = source.strip_prefix(katas()).expect("a kata's folder").to_path_buf();
            copy(&source, &to.join(name));
        }
    }
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
    let paths = entries.map(|entry| entry.expect("a directory's entries can be read").path());
    paths.filter(|path| path.is_dir()).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("OUT_DIR can be written");
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let path = entry.expect("a directory's entries can be read").path();
        let name = path.file_name().expect("an entry has a name");
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
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
