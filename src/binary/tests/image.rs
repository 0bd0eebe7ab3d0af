//! What symbols tell, and what is refused.

use super::super::{BinaryError, Image};
use super::{assembled, build};

#[inline(never)]
fn a_function_that_is_looked_up(x: u64) -> u64 {
    std::hint::black_box(x) * 3
}

#[test]
fn this_code_is_found_in_its_own_file() {
    let image = Image::of_this_code().unwrap();
    assert_eq!(image.path(), std::env::current_exe().unwrap().canonicalize().unwrap());
    let pointer = a_function_that_is_looked_up as fn(u64) -> u64;
    let at = image.to_file(pointer as usize as u64).unwrap();
    let function = image.function_at(at).unwrap();
    assert!(function.name.ends_with("tests::image::a_function_that_is_looked_up"), "{}", function.name);
    assert_eq!((function.address, function.section.as_str()), (at, ".text"));
    assert_eq!(image.function_at(at + function.size - 1), Some(function));
    // The same bytes in the file as in memory.
    let code = image.code(function).unwrap();
    // SAFETY: a function's machine code is readable for as long as the symbol says it is.
    let loaded = unsafe { std::slice::from_raw_parts(pointer as usize as *const u8, code.len()) };
    assert_eq!(code, loaded);
    let same = image.function_named("image::a_function_that_is_looked_up").unwrap();
    assert_eq!(same, function);
}

#[test]
fn sizes_names_and_aliases_are_the_symbols_own() {
    let (_folder, image) = assembled(
        "first:\n nop\n nop\n ret\nsecond:\n ret\n.globl alias\n.type alias, @function\n.set alias, first\n",
    );
    let first = image.function_named("first").unwrap();
    assert_eq!((first.size, image.code(first).unwrap()), (3, &[0x90, 0x90, 0xc3][..]));
    assert_eq!(image.function_named("alias").unwrap(), first);
    assert_eq!(image.function_named("second").unwrap().address, first.address + 3);
    assert_eq!(image.architecture(), "x86-64");
    assert!(image.load_bias().is_none());
}

#[test]
fn an_unknown_name_offers_the_nearest_and_a_vague_one_is_ambiguous() {
    let (_folder, image) = assembled("dispatch_table:\n ret\ndispatch_scan:\n ret\nother:\n ret\n");
    let Err(error) = image.function_named("dispatch_tabel") else { panic!("found") };
    assert!(error.to_string().contains("the nearest are dispatch_table, dispatch_scan"), "{error}");
    let Err(error) = image.function_named("dispatch") else { panic!("found") };
    assert!(matches!(&error, BinaryError::Ambiguous { count: 2, .. }), "{error}");
    assert!(error.to_string().contains("dispatch_table, dispatch_scan"), "{error}");
    assert!(matches!(image.function_named(""), Err(BinaryError::NoSuchFunction { .. })));
    assert_eq!(image.function_named("scan").unwrap().name, "dispatch_scan");
    assert_eq!(image.functions_with("dispatch").count(), 2);
}

#[test]
fn names_beyond_reading_are_clipped_and_come_last() {
    let long = format!("a{}", "b".repeat(5000));
    let (_folder, image) = assembled(&format!("{long}:\n ret\nabc:\n ret\n"));
    let Err(error) = image.function_named("ab") else { panic!("found") };
    let text = error.to_string();
    assert!(text.contains("abc, abbb") && text.contains("b…") && text.len() < 400, "{text}");
}

#[test]
fn what_is_no_linked_elf_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("absent");
    let Err(error) = Image::open(&missing) else { panic!("opened") };
    assert!(
        matches!(error, BinaryError::Unreadable { .. }) && error.to_string().contains("absent"),
        "{error}"
    );
    assert!(matches!(Image::open(folder.path()), Err(BinaryError::Unreadable { .. })));
    let empty = Image::from_bytes("empty", Vec::new()).unwrap_err().to_string();
    assert!(empty.starts_with("empty isn't an ELF file") && empty.contains("it is empty"), "{empty}");
    let text = Image::from_bytes("notes", b"#!/bin/sh".to_vec()).unwrap_err();
    assert!(matches!(text, BinaryError::NotElf { .. }), "{text}");
    let short = Image::from_bytes("short", b"\x7fELF\x02\x01".to_vec()).unwrap_err();
    assert!(matches!(short, BinaryError::Damaged { .. }), "{short}");
    let object = build(folder.path(), "s", ".text\nf: ret\n", &["-c"]);
    let unlinked = Image::open(object).unwrap_err();
    assert!(matches!(unlinked, BinaryError::NotLinked { kind: "an object file", .. }), "{unlinked}");
}

#[test]
fn a_stripped_file_opens_and_says_why_it_has_no_names() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["-shared", "-nostdlib", "-s", "-fvisibility=hidden"];
    let image = Image::open(build(folder.path(), "c", "int f(int x) { return x + 1; }", &options)).unwrap();
    assert!(image.functions().is_empty());
    let Err(error) = image.function_named("f") else { panic!("found") };
    assert!(
        matches!(error, BinaryError::Stripped { .. }) && error.to_string().contains("stripping"),
        "{error}"
    );
}

#[test]
fn code_of_another_architecture_is_listed_but_not_decoded() {
    let (_folder, image) = assembled("f:\n ret\n");
    let mut bytes = std::fs::read(image.path()).unwrap();
    // e_machine of the ELF header: EM_AARCH64.
    bytes[18..20].copy_from_slice(&183_u16.to_le_bytes());
    let image = Image::from_bytes("elsewhere", bytes).unwrap();
    let function = image.function_named("f").unwrap();
    assert_eq!(image.code(function).unwrap(), &[0xc3]);
    let error = image.decode(function).unwrap_err().to_string();
    assert!(error.contains("Aarch64") && error.contains("only x86-64"), "{error}");
}

#[test]
fn a_symbol_without_size_has_no_code() {
    let source = ".text\n.globl f\n.type f, @function\nf: ret\n";
    let folder = tempfile::tempdir().unwrap();
    let image = Image::open(build(folder.path(), "s", source, &["-shared", "-nostdlib"])).unwrap();
    let function = image.function_named("f").unwrap();
    let Err(error) = image.code(function) else { panic!("read") };
    assert!(error.to_string().contains("its symbol has no size"), "{error}");
}
