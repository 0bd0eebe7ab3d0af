//! The C headers and their Rust spelling, byte by byte: a C compiler is asked to assert what Rust says.

use std::path::Path;

use crate::plugin::abi::{
    ABI_VERSION, CLAIM_RESIDUAL, Claim, ERROR, LEVEL_1_BYTES, NOT_MINE, OK, PacketView, PluginApi,
    PluginResult,
};
use crate::plugin::building::{self, Language};
use crate::race::Watch;

/// `sizeof` and `alignof` of a struct, and `offsetof` of each of its fields, as C assertions.
macro_rules! asserted {
    ($rust:ty, $c:literal, [$($field:ident),*]) => {{
        let mut text = format!(
            "_Static_assert(sizeof({c}) == {}, \"size\");\n_Static_assert(_Alignof({c}) == {}, \"alignment\");\n",
            size_of::<$rust>(), align_of::<$rust>(), c = $c
        );
        $(text += &format!(
            "_Static_assert(offsetof({}, {field}) == {}, \"{field}\");\n",
            $c, std::mem::offset_of!($rust, $field), field = stringify!($field)
        );)*
        text
    }};
}

pub(crate) use asserted;

fn all() -> String {
    let mut text = String::from("#include <stddef.h>\n#include \"nanokata_plugin.h\"\n");
    text += &asserted!(
        PacketView,
        "NanokataPacketView",
        [payload, payload_length, flow, protocol, length, reserved]
    );
    text += &asserted!(PluginResult, "NanokataResult", [value, claim, reserved, status]);
    text += &asserted!(Claim, "NanokataClaim", [key, flags]);
    text += &asserted!(
        PluginApi,
        "NanokataPluginApi",
        [struct_size, abi_version, claimed_keys, create, destroy, process, process_batch]
    );
    let numbers = [
        ("NANOKATA_OK", i64::from(OK)),
        ("NANOKATA_NOT_MINE", NOT_MINE.into()),
        ("NANOKATA_ERROR", ERROR.into()),
        ("NANOKATA_CLAIM_RESIDUAL", CLAIM_RESIDUAL.into()),
        ("NANOKATA_PLUGIN_ABI_VERSION", ABI_VERSION.into()),
    ];
    for (name, number) in numbers {
        text += &format!("_Static_assert({name} == {number}, \"{name}\");\n");
    }
    text
}

/// Whether a C compiler takes it; `None` without one.
pub(crate) fn holds(text: &str, options: &[&str]) -> Option<Result<(), String>> {
    building::find(Language::C, None).ok()?;
    let folder = tempfile::tempdir().expect("a directory of its own");
    let source = folder.path().join("layout.c");
    std::fs::write(&source, text).expect("written");
    let built = building::build(&source, &folder.path().join("layout.so"), None, options, &Watch::new());
    Some(built.map(|_| ()).map_err(|error| error.to_string()))
}

#[test]
fn c_and_rust_say_the_same() {
    let Some(held) = holds(&all(), &[]) else { return };
    held.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_level_1_struct_is_genuinely_shorter() {
    let text = format!(
        "#define NANOKATA_PLUGIN_LEVEL 1\n#include \"nanokata_plugin.h\"\n\
         _Static_assert(sizeof(NanokataPluginApi) == {LEVEL_1_BYTES}, \"size\");\n"
    );
    let Some(held) = holds(&text, &[]) else { return };
    held.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn another_layout_would_be_noticed() {
    let moved =
        all().replace("offsetof(NanokataResult, claim) == 8", "offsetof(NanokataResult, claim) == 10");
    assert_ne!(moved, all());
    let Some(held) = holds(&moved, &[]) else { return };
    assert!(held.expect_err("the claim isn't there").contains("claim"));
}

#[test]
fn a_compiler_that_is_not_there_is_named() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("katas/plugin-dispatch/plugins/v1.c");
    let error =
        building::build(&source, Path::new("/nowhere/v1.so"), Some("no-such-compiler"), &[], &Watch::new());
    assert!(error.expect_err("there is none").to_string().contains("no-such-compiler"));
}
