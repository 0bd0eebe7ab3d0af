//! Allow-lists, and what is opened of what was examined.

use std::path::Path;
use std::sync::Arc;

use crate::plugin::{AllowList, Examined, Library, Plugin, shipped};

fn list(text: &str) -> crate::Result<AllowList> {
    let folder = tempfile::tempdir().expect("a directory of its own");
    let path = folder.path().join("allowed.sha256");
    std::fs::write(&path, text).expect("written");
    AllowList::read(&path)
}

fn examined() -> Examined {
    Examined::read(&shipped::library("v1").expect("built with this")).expect("a library")
}

#[test]
fn what_is_on_the_list_is_taken() {
    let hash = examined().sha256();
    for text in [
        format!("{hash}  v1.so\n"),
        format!("# ours\n\n{} *v1.so\n", hash.to_uppercase()),
        format!("\\{hash}  a\\nb.so"),
    ] {
        list(&text).expect("a list").require(&examined()).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn what_is_not_is_refused_with_its_hash() {
    let other = "0".repeat(64);
    let error =
        list(&format!("{other}  v1.so")).expect("a list").require(&examined()).expect_err("not on it");
    assert_eq!((error.field, error.value), ("sha256", examined().sha256()));
}

#[test]
fn what_is_no_list_is_refused_by_line() {
    for (text, said) in
        [("", "no hash"), ("# nothing\n", "no hash"), ("v1.so\n", "line 1"), ("\nabc  v1.so", "line 2")]
    {
        let error = list(text).expect_err("no list").to_string();
        assert!(error.contains(said), "{text:?}: {error}");
    }
    assert!(AllowList::read(Path::new("/nowhere/allowed")).is_err());
}

/// The dynamic linker gives out a library of the same name that is open already, however often it was built anew.
#[test]
fn a_library_that_was_built_anew_is_opened_anew() {
    let folder = tempfile::tempdir().expect("a directory of its own");
    let path = folder.path().join("mine.so");
    let replace = |name: &str| {
        let _ = std::fs::remove_file(&path);
        std::fs::copy(shipped::library(name).expect("built with this"), &path).expect("copied");
        // SAFETY: this build's own plugins.
        unsafe { Plugin::load(&path) }.expect("a plugin")
    };
    let first = replace("v1");
    let second = replace("v2");
    assert_eq!((first.claims()[0].key, second.claims()[0].key), (2000, 2010));
}

/// What is opened are the bytes that were examined, whatever became of the file.
#[test]
fn what_was_examined_is_what_is_opened() {
    let folder = tempfile::tempdir().expect("a directory of its own");
    let path = folder.path().join("mine.so");
    std::fs::copy(shipped::library("v1").expect("built with this"), &path).expect("copied");
    let examined = Examined::read(&path).expect("a library");
    std::fs::copy(shipped::library("v2").expect("built with this"), &path).expect("copied");
    // SAFETY: this build's own plugin.
    let plugin = unsafe { Plugin::open(&examined) }.expect("a plugin");
    assert_eq!(plugin.claims()[0].key, 2000);
}

/// Names of copies contain a descriptor's number, which must not be given out anew as long as the library is open.
#[test]
fn open_libraries_are_told_apart() {
    // SAFETY: this build's own plugins.
    let open = |name: &str| unsafe {
        Library::open(&Examined::read(&shipped::library(name).expect("built with this")).expect("a library"))
    };
    let first = open("v1").expect("opened");
    for _ in 0..4 {
        let again = open("v2").expect("opened");
        // SAFETY: any function will do for its address.
        let address = |library: &Arc<Library>| unsafe { library.function::<usize>("nanokata_plugin") };
        assert_ne!(address(&first).expect("exported"), address(&again).expect("exported"));
    }
}
