//! Building a library from one source file with the system's own compiler: C, C++ or Rust, by the file's ending.

use std::ffi::OsString;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::race::Watch;
use crate::{Error, Result};

/// What a source file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
}

impl Language {
    /// By a file's ending.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for any other.
    pub fn of(source: &Path) -> Result<Language> {
        match source.extension().and_then(|ending| ending.to_str()) {
            Some("c") => Ok(Language::C),
            Some("cc" | "cpp" | "cxx") => Ok(Language::Cpp),
            Some("rs") => Ok(Language::Rust),
            _ => Err(Error::invalid(
                "source",
                source.display(),
                "a file that ends in .c, .cpp, .cc, .cxx or .rs",
            )),
        }
    }

    /// The environment's variable that names its compiler, and the names that are tried without.
    fn compilers(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Language::C => ("CC", &["cc", "gcc", "clang"]),
            Language::Cpp => ("CXX", &["c++", "g++", "clang++"]),
            Language::Rust => ("RUSTC", &["rustc"]),
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Language::C => {
                &["-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra"]
            }
            Language::Cpp => {
                &["-std=c++17", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra"]
            }
            Language::Rust => &["--edition=2024", "--crate-type=cdylib", "-Copt-level=3"],
        }
    }
}

/// A library that was built, and how.
#[derive(Debug, Clone)]
pub struct Built {
    /// The library.
    pub library: PathBuf,
    /// The compiler's own first line about itself.
    pub compiler: String,
    /// The whole command, to be typed again.
    pub command: String,
    /// What the compiler warned of; empty where it had nothing to say.
    pub warnings: String,
}

/// Builds the library `output` from `source`, with `options` behind the usual ones. `compiler` names another than the
/// system's.
///
/// # Errors
/// [`Error::InvalidArgument`] for a file that isn't there, or of no known ending; [`Error::CannotBuild`] without a compiler,
/// and with the compiler's own words where it fails.
pub fn build(
    source: &Path,
    output: &Path,
    compiler: Option<&str>,
    options: &[&str],
    watch: &Watch,
) -> Result<Built> {
    if !source.is_file() {
        return Err(Error::invalid("source", source.display(), "a source file that is there"));
    }
    let language = Language::of(source)?;
    let refuse = |reason: String| Error::CannotBuild { source_file: source.to_path_buf(), reason };
    let (program, version) = find(language, compiler).map_err(refuse)?;
    let mut arguments: Vec<OsString> = language.options().iter().map(OsString::from).collect();
    if language == Language::Rust && without_std(source) {
        // Without the standard library there is nothing to unwind with, and rustc refuses to try.
        arguments.push("-Cpanic=abort".into());
    }
    arguments.extend(options.iter().map(OsString::from));
    if language != Language::Rust
        && let Ok(include) = super::shipped::sources().map(|sources| sources.join("include"))
    {
        if language == Language::Cpp && cfg!(target_os = "linux") {
            let mut exports = OsString::from("-Wl,--version-script=");
            exports.push(include.join("exports.map"));
            arguments.push(exports);
        }
        arguments.extend([OsString::from("-I"), include.into()]);
    }
    arguments.extend([source.into(), OsString::from("-o"), output.into()]);
    let mut command = Command::new(&program);
    command.args(&arguments);
    let (status, said) = run(command, watch, |error| refuse(format!("starting {program}: {error}")))?;
    if !status.success() {
        return Err(refuse(format!("{program} ended with {status}:\n{said}")));
    }
    let words =
        std::iter::once(program).chain(arguments.iter().map(|word| word.to_string_lossy().into_owned()));
    Ok(Built {
        library: output.to_path_buf(),
        compiler: version,
        command: words.map(quoted).collect::<Vec<_>>().join(" "),
        warnings: said,
    })
}

/// Runs a compiler to its end, and returns what it said; kills it once `watch` is stopped.
fn run(
    mut command: Command,
    watch: &Watch,
    refuse: impl Fn(std::io::Error) -> Error,
) -> Result<(ExitStatus, String)> {
    // A file, which takes as much as it has to say without anybody reading meanwhile.
    let mut said = tempfile::tempfile().map_err(&refuse)?;
    let stderr = said.try_clone().map_err(&refuse)?;
    let mut compiler =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn().map_err(&refuse)?;
    let status = loop {
        if let Some(status) = compiler.try_wait().map_err(&refuse)? {
            break status;
        }
        if let Err(stopped) = watch.check() {
            let _ = compiler.kill();
            let _ = compiler.wait();
            return Err(stopped);
        }
        std::thread::sleep(POLL);
    };
    let mut text = Vec::new();
    said.rewind().and_then(|()| said.read_to_end(&mut text)).map_err(&refuse)?;
    Ok((status, String::from_utf8_lossy(&text).trim_end().to_string()))
}

/// Between two looks at the compiler and the watch.
const POLL: Duration = Duration::from_millis(10);

/// Whether a Rust source says that it does without the standard library.
fn without_std(source: &Path) -> bool {
    let text = std::fs::read_to_string(source).unwrap_or_default();
    text.lines().any(|line| line.split_whitespace().collect::<String>().starts_with("#![no_std]"))
}

/// The compiler for a language, and what it says of itself.
///
/// # Errors
/// Why there is none, and what to install.
pub fn find(language: Language, asked: Option<&str>) -> Result<(String, String), String> {
    let (variable, names) = language.compilers();
    let named =
        asked.map(str::to_string).or_else(|| std::env::var(variable).ok().filter(|name| !name.is_empty()));
    let tried: Vec<String> = match named {
        Some(name) => vec![name],
        None => names.iter().map(ToString::to_string).collect(),
    };
    for name in &tried {
        let asked = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        if let Some(output) = asked.ok().filter(|output| output.status.success()) {
            let said = String::from_utf8_lossy(&output.stdout);
            return Ok((name.clone(), said.lines().next().unwrap_or_default().trim().to_string()));
        }
    }
    let install = match language {
        Language::Rust => "install Rust (https://rustup.rs)",
        Language::C | Language::Cpp => {
            "install one (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; Arch: pacman -S gcc)"
        }
    };
    Err(format!("no compiler answers to {}; {install}, or set {variable}", tried.join(", ")))
}

/// A word as a shell takes it.
fn quoted(word: String) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+./,:@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
