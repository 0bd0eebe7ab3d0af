//! What the dynamic linker puts into a file's slots: the targets of calls that go through memory.

use std::collections::BTreeMap;

use object::elf::{R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE};
use object::{Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget};

/// What a slot holds once the file is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// An address in the same file.
    Here(u64),
    /// A symbol that another file brings.
    Import(String),
}

/// Every slot that the dynamic linker fills with one address, by its own address (psABI x86-64, table 4.9). Empty for
/// other architectures, whose relocations have other numbers.
pub(super) fn slots(file: &object::File<'_>) -> BTreeMap<u64, Slot> {
    let mut slots = BTreeMap::new();
    if file.architecture() != object::Architecture::X86_64 {
        return slots;
    }
    let symbols = file.dynamic_symbol_table();
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        let slot = match relocation.target() {
            RelocationTarget::Absolute if r_type == R_X86_64_RELATIVE => {
                Some(Slot::Here(relocation.addend() as u64))
            }
            RelocationTarget::Symbol(index)
                if [R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT].contains(&r_type) =>
            {
                symbols.as_ref().and_then(|symbols| symbols.symbol_by_index(index).ok()).and_then(|symbol| {
                    // A definition of this file's own may be interposed by another's; that is the exception.
                    match symbol.is_definition() {
                        true => Some(Slot::Here(symbol.address().wrapping_add(relocation.addend() as u64))),
                        false => symbol.name().ok().map(|name| Slot::Import(super::name::demangled(name))),
                    }
                })
            }
            _ => None,
        };
        if let Some(slot) = slot {
            slots.insert(at, slot);
        }
    }
    slots
}
