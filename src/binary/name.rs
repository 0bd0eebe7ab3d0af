//! Symbols as people write them.

/// A symbol demangled: Rust's without its hash, C++'s with its parameters; anything else as it stands.
pub(super) fn demangled(symbol: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        return format!("{rust:#}");
    }
    // Only what C++ mangles: the demangler would take a plain `i` for `int`.
    if symbol.starts_with("_Z") {
        let plain = cpp_demangle::Symbol::new(symbol).ok().and_then(|symbol| symbol.demangle().ok());
        if let Some(plain) = plain {
            return plain;
        }
    }
    symbol.to_string()
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn names_read_as_they_were_written() {
        assert_eq!(demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
        assert_eq!(demangled("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangled("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangled("memcpy"), "memcpy");
        assert_eq!(demangled("i"), "i");
        assert_eq!(demangled("_Zbroken"), "_Zbroken");
    }
}
