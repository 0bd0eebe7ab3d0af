//! A function, as a symbol tells of it.

use serde::Serialize;

/// A function of an [`Image`](super::Image).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its name, demangled (Rust and C++), without the hash.
    pub name: String,
    /// Its name as the linker knows it.
    pub symbol: String,
    /// Other symbols of the same place: aliases, and functions that were folded into one.
    pub aliases: Vec<String>,
    /// Address in the file; [`Image::load_bias`](super::Image::load_bias) more at run time.
    pub address: u64,
    /// Bytes of code by the symbol; 0 where hand-written assembly didn't say.
    pub size: u64,
    /// Name of its section.
    pub section: String,
}

impl Function {
    /// The addresses that it covers.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.address..self.address.saturating_add(self.size)
    }

    /// Whether `text` is its name in any form: demangled, as a symbol, or an alias.
    pub fn is_called(&self, text: &str) -> bool {
        self.name == text || self.symbol == text || self.aliases.iter().any(|alias| alias == text)
    }
}
