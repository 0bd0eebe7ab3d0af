//! What direct calls lead to.

use super::super::{BinaryError, Image, Reach, reach};
use super::{assembled, build};

fn from(image: &Image, name: &str, without: &[&str]) -> Reach {
    let without: Vec<String> = without.iter().map(ToString::to_string).collect();
    reach(image, image.function_named(name).unwrap(), &without, 64, &|| false).unwrap().unwrap()
}

fn names(reach: &Reach) -> Vec<&str> {
    reach.functions.iter().map(|function| function.name.as_str()).collect()
}

const CALLS: &str = "\
leaf:
 nop
 nop
 nop
 ret
middle:
 call leaf
 jmp root
apart:
 ret
root:
 test rdi, rdi
 je middle
 call leaf
 call rax
 ret
";

#[test]
fn every_function_counts_once_with_its_whole_size() {
    let (_folder, image) = assembled(CALLS);
    let reach = from(&image, "root", &[]);
    let size = |name| image.function_named(name).unwrap().size;
    assert_eq!(reach.bytes, size("root") + size("middle") + size("leaf"));
    assert_eq!(reach.functions.len(), 3);
    assert!(!names(&reach).contains(&"apart"));
    assert!(reach.functions.is_sorted_by(|a, b| a.bytes >= b.bytes));
    let [unknown] = &reach.unknown[..] else { panic!("{:?}", reach.unknown) };
    assert_eq!((unknown.function.as_str(), unknown.text.as_str()), ("root", "call rax"));
    // The gap is smaller than a line, so all of it lies in one line or two.
    assert!((1..=2).contains(&reach.lines), "{}", reach.lines);
    let leaf = from(&image, "leaf", &[]);
    assert_eq!((leaf.bytes, names(&leaf)), (4, vec!["leaf"]));
}

#[test]
fn excluded_functions_are_named_and_not_entered() {
    let (_folder, image) = assembled(CALLS);
    let reach = from(&image, "root", &["midd"]);
    assert_eq!(reach.excluded, ["middle"]);
    assert_eq!(reach.functions.len(), 2);
}

#[test]
fn a_stop_ends_it() {
    let (_folder, image) = assembled(CALLS);
    let root = image.function_named("root").unwrap();
    assert!(reach(&image, root, &[], 64, &|| true).unwrap().is_none());
}

#[test]
fn imports_are_named_and_own_functions_found_through_slots() {
    let source = "extern int puts(const char *); extern int abs(int);
        int exported(int x) { return x + 1; }
        int through(int x) { return exported(puts(\"a\") + abs(x)) * 2; }";
    for options in [&["-fPIC"][..], &["-fPIC", "-fno-plt"], &["-fPIC", "-fcf-protection=full"]] {
        let options = [options, &["-shared", "-O1", "-fno-builtin"]].concat();
        let folder = tempfile::tempdir().unwrap();
        let image = Image::open(build(folder.path(), "c", source, &options)).unwrap();
        let reach = from(&image, "through", &[]);
        assert_eq!(reach.imports, ["abs", "puts"], "{options:?}: {reach:?}");
        let mut found = names(&reach);
        found.sort_unstable();
        assert_eq!(found, ["exported", "through"], "{options:?}");
        assert!(reach.unknown.is_empty() && reach.unsized_targets.is_empty(), "{options:?}: {reach:?}");
    }
}

#[test]
fn rust_binaries_read_by_their_own_names() {
    let source = "#[inline(never)] fn inner(x: u64) -> u64 { std::hint::black_box(x) + 3 }
        pub mod deep { #[inline(never)] pub fn outer(x: u64) -> u64 { super::inner(x) + super::inner(x + 1) } }
        #[unsafe(no_mangle)] pub extern \"C\" fn entry(x: u64) -> u64 { deep::outer(x) }
        ";
    let folder = tempfile::tempdir().unwrap();
    let options = ["--crate-type=cdylib", "--edition=2024", "-Copt-level=1"];
    let image = Image::open(build(folder.path(), "rs", source, &options)).unwrap();
    let reach = from(&image, "entry", &[]);
    let found = names(&reach).into_iter().map(|name| name.rsplit("::").next().unwrap()).collect::<Vec<_>>();
    for name in ["entry", "outer", "inner"] {
        assert!(found.contains(&name), "{found:?}");
    }
}

#[test]
fn a_root_without_code_is_refused() {
    let source = ".text\n.globl f\n.type f, @function\nf: ret\n.globl g\n.type g, @function\ng: call f\n.size g, .-g\n";
    let folder = tempfile::tempdir().unwrap();
    let image =
        Image::open(build(folder.path(), "s", source, &["-shared", "-nostdlib", "-Wl,-Bsymbolic"])).unwrap();
    let f = image.function_named("f").unwrap();
    assert!(matches!(reach(&image, f, &[], 64, &|| false), Err(BinaryError::NoCode { .. })));
    // Called, it is listed as what couldn't be counted.
    let called = from(&image, "g", &[]);
    assert_eq!((called.unsized_targets, called.bytes), (vec!["f".to_string()], 5));
}

#[test]
fn this_very_code_reaches_something() {
    let image = Image::of_this_code().unwrap();
    let root = image.function_named("binary::reach::reach").unwrap();
    let reach = reach(&image, root, &["core::panicking".into()], 64, &|| false).unwrap().unwrap();
    assert!(reach.bytes > root.size && reach.functions.len() > 3);
    assert!(reach.bytes <= reach.lines * 64);
}
