//! What nanokata's tiny handlers compute, for plugins that want to be held against them: two rounds over a payload of 24
//! bytes, with constants of the handler's own that the compiler works out from its number.

/// SplitMix64's output function (Steele, Lea and Flood, OOPSLA 2014).
const fn mix(state: u64) -> u64 {
    let z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const fn addend(number: u64, round: u64) -> u64 {
    mix(1 << 40 | number << 16 | round << 1 | 1)
}

const fn factor(number: u64, round: u64) -> u64 {
    mix(1 << 40 | number << 16 | round << 1 | 1 << 32) | 1
}

#[inline(always)]
fn round<const NUMBER: u64, const ROUND: u64>(word: u64, next: u64) -> u64 {
    let (addend, factor) = const { (addend(NUMBER, ROUND), factor(NUMBER, ROUND)) };
    word.wrapping_add(addend).wrapping_mul(factor).rotate_left(27).wrapping_add(next)
}

/// What the tiny handler of that number makes of a payload.
#[inline(always)]
pub fn tiny<const NUMBER: u64>(payload: &[u8; 24]) -> u64 {
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&payload[8 * at..8 * at + 8]);
        u64::from_le_bytes(word)
    };
    let (a, b, c) = (word(0), word(1), word(2));
    round::<NUMBER, 0>(a, b) ^ round::<NUMBER, 1>(b, c).rotate_left(16)
}
