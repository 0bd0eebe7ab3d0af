//! How much of a table a burst touches: its lines, from keys alone.

use std::collections::HashSet;

/// Bytes of a line that are assumed; half as many lines on machines with 128.
pub const LINE_BYTES: usize = 64;

/// Lines of a table with `slots` slots (a power of two) of `slot_bytes`, its beginning on a line, that `keys` lead to.
pub fn touched(keys: impl Iterator<Item = u16>, slots: usize, slot_bytes: usize) -> usize {
    let lines: HashSet<usize> = keys
        .flat_map(|key| {
            let begin = (usize::from(key) & (slots - 1)) * slot_bytes;
            begin / LINE_BYTES..=(begin + slot_bytes - 1) / LINE_BYTES
        })
        .collect();
    lines.len()
}

/// Slots of a compact table, from all its bytes: the largest power of two that fits, since what else it has (candidates of
/// shared keys) is less than its slots.
pub fn slots_within(bytes: usize, slot_bytes: usize) -> usize {
    1 << (bytes / slot_bytes).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn never_more_than_the_table_or_the_keys_need(
            keys in proptest::collection::vec(any::<u16>(), 0..500), bits in 6u32..=16, slot_bytes in 1usize..=64,
        ) {
            let slots = 1usize << bits;
            let lines = touched(keys.iter().copied(), slots, slot_bytes);
            prop_assert!(lines <= (slots * slot_bytes).div_ceil(LINE_BYTES));
            prop_assert!(lines <= 2 * keys.len());
            prop_assert_eq!(lines == 0, keys.is_empty());
        }
    }

    #[test]
    fn all_keys_touch_all_lines() {
        assert_eq!(touched(0..=u16::MAX, 1 << 16, 16), 1 << 14);
        assert_eq!(touched(0..=u16::MAX, 1024, 24), 384);
        assert_eq!(touched([0, 1, 2, 3, 4].into_iter(), 1 << 16, 16), 2);
        // A slot that lies across two lines touches both.
        assert_eq!(touched([2].into_iter(), 1024, 24), 2);
    }

    #[test]
    fn slots_are_read_from_the_size() {
        assert_eq!(slots_within(1024 * 24 + 160, 24), 1024);
        assert_eq!(slots_within(4096 * 24, 24), 4096);
    }
}
