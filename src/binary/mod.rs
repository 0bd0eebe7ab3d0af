//! Binaries as evidence: symbols and sizes of ELF files, and their machine code decoded.
//!
//! [`Image`] is one file: its functions by symbol, their bytes, and what the dynamic linker puts into its slots.
//! [`Code`] is one function decoded (x86-64 files only, on any machine): where it calls and jumps, through what, and
//! how many loads an indirect target waits for ([`Code::dependent_loads`]). [`reach`](mod@reach) follows direct calls.
//!
//! Sizes are those of symbols: what a linker's own totals call text also holds constants and unwind tables.

mod blocks;
mod code;
mod error;
mod function;
mod image;
mod jump_table;
mod loads;
mod name;
mod origin;
pub mod reach;
mod shared;
mod slots;
// Built and decoded here: elsewhere the tools make other files.
#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests;

pub use code::{Code, Flow, Instruction};
pub use error::BinaryError;
pub use function::Function;
pub use image::Image;
pub use jump_table::JumpTable;
pub use loads::{DependentLoads, Region};
pub use reach::{Reach, reach};
pub use shared::{Export, ExportKind, SharedObject};
pub use slots::Slot;
