//! Damaged files end in errors or in whatever is left of them, never in a panic.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::super::{Image, reach};
use super::build;

/// A small shared object with a table, a slot and calls.
fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let source = "extern int puts(const char *);
            static int g(int x) { return x * 3; }
            int h(int (*f)(int), int x) {
                switch (x) { case 0: return puts(\"a\"); case 1: return f(2); case 2: return g(x);
                             case 3: return x << 3; case 4: return puts(\"b\"); case 5: return f(x); }
                return f(x);
            }";
        let folder = tempfile::tempdir().unwrap();
        std::fs::read(build(folder.path(), "c", source, &["-shared", "-fPIC", "-O1", "-nostdlib"])).unwrap()
    })
}

/// Everything that can be asked of a file.
fn examine(bytes: Vec<u8>) {
    let Ok(image) = Image::from_bytes("damaged", bytes) else { return };
    for function in image.functions().iter().take(20) {
        // A size that the file can hold, but that would take seconds to decode many times over.
        if function.size > 1 << 16 {
            continue;
        }
        if let Ok(code) = image.decode(function) {
            for instruction in code.instructions() {
                let _ = code.dependent_loads(instruction.address());
            }
            let _ = (code.loads(), code.jump_tables(), code.indirect_calls().count());
        }
        let _ = reach(&image, function, &[], 64, &|| false);
    }
    let _ = image.function_named("g");
}

proptest! {
    #[test]
    fn cut_short(share in 0.0..1.0f64) {
        let whole = bytes();
        examine(whole[..(share * whole.len() as f64) as usize].to_vec());
    }

    #[test]
    fn bits_flipped(flips in proptest::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..40)) {
        let mut bytes = bytes().to_vec();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        examine(bytes);
    }

    /// The tables that everything else is found by.
    #[test]
    fn headers_overwritten(at in 4..256usize, with in proptest::collection::vec(any::<u8>(), 1..16)) {
        let mut bytes = bytes().to_vec();
        bytes[at..at + with.len()].copy_from_slice(&with);
        examine(bytes);
    }

    #[test]
    fn no_file_at_all(tail in proptest::collection::vec(any::<u8>(), 0..300)) {
        examine([b"\x7fELF".to_vec(), tail].concat());
    }
}

#[test]
fn the_whole_file_is_sound() {
    let image = Image::from_bytes("whole", bytes().to_vec()).unwrap();
    assert!(image.function_named("h").is_ok());
    examine(bytes().to_vec());
}
