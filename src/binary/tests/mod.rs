//! Binaries that are built for the purpose: whoever can build this crate has a linker driver, which assembles too.

mod damaged;
mod image;
mod loads;
mod reach;
mod shape;

use std::path::Path;
use std::process::Command;

use super::{Code, Image};

/// Builds `source` (its language by `suffix`: `s`, `c`, `rs`) as a shared object in `folder` and returns its path.
fn build(folder: &Path, suffix: &str, source: &str, options: &[&str]) -> std::path::PathBuf {
    let text = folder.join(format!("source.{suffix}"));
    let object = folder.join("built.so");
    std::fs::write(&text, source).unwrap();
    let compiler = if suffix == "rs" { "rustc" } else { "cc" };
    let output = Command::new(compiler).args(options).arg("-o").arg(&object).arg(&text).output();
    let output = output.unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    object
}

/// A shared object of assembly in Intel's notation, each `name: …` a function that ends where the next begins.
fn assembled(body: &str) -> (tempfile::TempDir, Image) {
    let mut source = String::from(".intel_syntax noprefix\n.text\n");
    let mut open: Option<String> = None;
    let close = |open: &Option<String>| {
        open.as_ref().map_or(String::new(), |name| format!(".size {name}, .-{name}\n"))
    };
    for line in body.lines() {
        let label = line.strip_suffix(':').filter(|name| !name.starts_with([' ', '.']));
        if let Some(name) = label {
            source.push_str(&close(&open));
            source.push_str(&format!(".globl {name}\n.hidden {name}\n.type {name}, @function\n"));
            open = Some(name.into());
        } else if line.trim_start().starts_with(".section") {
            source.push_str(&close(&open));
            open = None;
        }
        source.push_str(line);
        source.push('\n');
    }
    source.push_str(&close(&open));
    let folder = tempfile::tempdir().unwrap();
    let path = build(folder.path(), "s", &source, &["-shared", "-nostdlib"]);
    let image = Image::open(path).unwrap();
    (folder, image)
}

fn code(image: &Image, name: &str) -> Code {
    image.decode(image.function_named(name).unwrap()).unwrap()
}
