//! A stable 64-bit name for a set of facts.

/// Hashes facts in order; equal facts give equal names on every platform and in every version.
///
/// FNV-1a, 64 bits (Fowler, Noll and Vo): tiny, and unlike the standard library's hasher fixed for good. Names machines
/// and builds; guards against nothing.
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    pub(super) fn new() -> Self {
        Fingerprint(Self::BASIS)
    }

    /// Takes in one fact, with a terminator, so that `ab`, `c` and `a`, `bc` differ.
    pub(super) fn fact(&mut self, fact: impl std::fmt::Display) -> &mut Self {
        // 0xff occurs in no UTF-8 text.
        for byte in fact.to_string().bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(Self::PRIME);
        }
        self
    }

    /// Sixteen hexadecimal digits.
    pub(super) fn name(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_between_facts_count() {
        let name = |facts: &[&str]| {
            facts
                .iter()
                .fold(Fingerprint::new(), |mut f, x| {
                    f.fact(x);
                    f
                })
                .name()
        };
        assert_ne!(name(&["ab", "c"]), name(&["a", "bc"]));
        assert_ne!(name(&["a"]), name(&["a", ""]));
        // FNV-1a of "a" followed by the byte 0xff, computed independently of this code from the published definition.
        assert_eq!(
            name(&["a"]),
            format!("{:016x}", ((0xaf63_dc4c_8601_ec8cu64) ^ 0xff).wrapping_mul(0x100_0000_01b3))
        );
    }
}
