//! Functions of this very build as machine code: how many bytes each is, and which calls it makes.

use std::sync::OnceLock;

use crate::binary::{BinaryError, Function, Image};

/// The file that this code was loaded from, read once: a wheel's is some megabytes.
fn image() -> Result<&'static Image, &'static BinaryError> {
    static IMAGE: OnceLock<Result<Image, BinaryError>> = OnceLock::new();
    IMAGE.get_or_init(Image::of_this_code).as_ref()
}

/// What a function's machine code consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MachineCode {
    /// Bytes by its symbol.
    pub bytes: usize,
    /// Where direct calls lead, in the order of their own addresses: addresses in the file.
    pub calls: Vec<u64>,
    /// Calls and jumps whose target is read from a register or from memory.
    pub indirect: usize,
}

/// Bytes of the function at a run-time address, by its symbol.
///
/// # Errors
/// The reason why it can't be told here: no ELF file, no symbols.
pub(super) fn bytes(address: usize) -> Result<usize, String> {
    Ok(function(address)?.1.size as usize)
}

/// Bytes of the function at an address in the file.
///
/// # Errors
/// As [`bytes`].
pub(super) fn bytes_in_file(address: u64) -> Result<usize, String> {
    let image = image().map_err(BinaryError::to_string)?;
    let function = image.function_at(address).ok_or_else(|| without_symbol(address as usize))?;
    Ok(function.size as usize)
}

/// The function at a run-time address, decoded.
///
/// # Errors
/// As [`bytes`], or that it isn't x86-64 code.
pub(super) fn decode(address: usize) -> Result<MachineCode, String> {
    let (image, function) = function(address)?;
    let code = image.decode(function).map_err(|error| error.to_string())?;
    Ok(MachineCode {
        bytes: function.size as usize,
        calls: code.direct_calls().map(|(_, target)| target).collect(),
        indirect: code.indirect_calls().count(),
    })
}

fn function(address: usize) -> Result<(&'static Image, &'static Function), String> {
    let image = image().map_err(BinaryError::to_string)?;
    let function = image.to_file(address as u64).and_then(|at| image.function_at(at));
    function.map(|function| (image, function)).ok_or_else(|| without_symbol(address))
}

fn without_symbol(address: usize) -> String {
    format!("no symbol covers the function at {address:#x}: was the file stripped?")
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[inline(never)]
    fn called(word: u64) -> u64 {
        std::hint::black_box(word) ^ 5
    }

    #[inline(never)]
    fn calls_twice(word: u64) -> u64 {
        called(called(word)).rotate_left(9) | 1
    }

    #[inline(never)]
    fn calls_through_a_pointer(function: fn(u64) -> u64) -> u64 {
        function(3).rotate_left(9) | 1
    }

    #[test]
    fn direct_and_indirect_calls_are_told_apart() {
        std::hint::black_box((calls_twice(1), calls_through_a_pointer(std::hint::black_box(called))));
        let of = |function: *const ()| decode(function as usize).expect("symbols are there");
        let direct = of(calls_twice as *const ());
        assert_eq!((direct.calls.len(), direct.indirect), (2, 0));
        assert_eq!(direct.calls[0], direct.calls[1]);
        assert_eq!(bytes_in_file(direct.calls[0]), bytes(called as *const () as usize));
        let indirect = of(calls_through_a_pointer as *const ());
        assert_eq!((indirect.calls.len(), indirect.indirect), (0, 1));
    }

    #[test]
    fn what_is_no_function_says_so() {
        let data = Box::new(5u64);
        let reason = bytes(std::ptr::from_ref(&*data) as usize).expect_err("the heap is no code");
        assert!(reason.contains("no symbol"), "{reason}");
    }
}
