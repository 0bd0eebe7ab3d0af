//! Bodies: what a handler computes, and how much machine code it takes to do it.

use std::fmt;
use std::str::FromStr;

use seq_macro::seq;
use serde::Serialize;

use crate::traffic::packet::PAYLOAD_BYTES;
use crate::{Error, Result};

/// How much code each handler's `process` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// [`FAT_ROUNDS`] unrolled rounds with constants of the handler's own: about 1.8 KiB on x86-64.
    Fat,
    /// [`TINY_ROUNDS`] rounds with constants of the handler's own.
    Tiny,
    /// Every handler runs fat body 0. Not a body to measure with: it is what identical-code folding would leave, and
    /// an audit has to notice it.
    Identical,
}

impl Body {
    /// All of them.
    pub const ALL: [Body; 3] = [Body::Fat, Body::Tiny, Body::Identical];

    /// Its name, as parameters spell it.
    pub fn name(self) -> &'static str {
        match self {
            Body::Fat => "fat",
            Body::Tiny => "tiny",
            Body::Identical => "identical",
        }
    }

    /// How many rounds a body of this kind takes.
    pub fn rounds(self) -> usize {
        match self {
            Body::Fat | Body::Identical => FAT_ROUNDS,
            Body::Tiny => TINY_ROUNDS,
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Body {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Body::ALL
            .into_iter()
            .find(|body| body.name() == text)
            .ok_or_else(|| Error::invalid("body", text, "one of fat, tiny, identical"))
    }
}

/// Rounds of a fat body (the public kata's figure).
pub const FAT_ROUNDS: usize = 48;
/// Rounds of a tiny body (the public kata's figure).
pub const TINY_ROUNDS: usize = 2;
/// Independent chains that the rounds are dealt to. One serial multiply chain is so slow that fetching code hides
/// behind it; four leave the front end as the bottleneck.
pub const CHAINS: usize = 4;

/// Keeps [`Program`] to the two that are compiled.
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Fat {}
    impl Sealed for super::Tiny {}
}

/// A body's code, as a type: gives each handler a `process` of its own.
///
/// Sealed: what is compiled here is all there is. The static match and the closed sum are made of it alone, so a type of
/// somebody else's joins neither; it could only through a pointer.
/// ```compile_fail,E0277
/// use nanokata::dispatch::body::Program;
/// #[derive(Clone, Copy)]
/// struct Plugin;
/// impl Program for Plugin {
///     const INDEX: usize = 2;
///     fn value<const N: usize>(payload: &[u8; 24]) -> u64 {
///         u64::from(payload[0])
///     }
/// }
/// ```
/// ```compile_fail,E0277
/// struct Plugin;
/// fn takes_part<P: nanokata::dispatch::body::Program>() {}
/// takes_part::<Plugin>();
/// ```
/// The two that are compiled do:
/// ```
/// fn takes_part<P: nanokata::dispatch::body::Program>() {}
/// takes_part::<nanokata::dispatch::body::Fat>();
/// ```
pub trait Program: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Sets this program's constants apart from the other's.
    const INDEX: usize;
    /// What the handler of number `N` computes from a payload.
    fn value<const N: usize>(payload: &[u8; PAYLOAD_BYTES]) -> u64;
}

/// The program of [`Body::Fat`].
#[derive(Debug, Clone, Copy)]
pub struct Fat;

/// The program of [`Body::Tiny`].
#[derive(Debug, Clone, Copy)]
pub struct Tiny;

/// SplitMix64's output function (Steele, Lea and Flood, OOPSLA 2014): sixty-four well-mixed bits from a small number.
pub const fn mix(state: u64) -> u64 {
    let z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What round `round` of handler `n` adds to a word of the payload.
pub const fn addend(program: usize, n: usize, round: usize) -> u64 {
    mix(((program as u64) << 40) | ((n as u64) << 16) | ((round as u64) << 1) | 1)
}

/// What it multiplies its chain by: odd, so that no information is lost.
pub const fn factor(program: usize, n: usize, round: usize) -> u64 {
    mix(((program as u64) << 40) | ((n as u64) << 16) | ((round as u64) << 1) | (1 << 32)) | 1
}

/// Bits that a chain is rotated by after each round: carries the multiply's good high bits down.
pub const ROTATION: u32 = 27;

#[inline(always)]
fn round(chain: u64, word: u64, next: u64, addend: u64, factor: u64) -> u64 {
    (chain ^ word.wrapping_add(addend)).wrapping_mul(factor).rotate_left(ROTATION).wrapping_add(next)
}

#[inline(always)]
fn words(payload: &[u8; PAYLOAD_BYTES]) -> [u64; 3] {
    let word = |at: usize| {
        let bytes = *payload[8 * at..].first_chunk::<8>().expect("three words of eight bytes");
        u64::from_le_bytes(bytes)
    };
    [word(0), word(1), word(2)]
}

#[inline(always)]
fn combine(chains: [u64; CHAINS]) -> u64 {
    let [a, b, c, d] = chains;
    a ^ b.rotate_left(16) ^ c.rotate_left(32) ^ d.rotate_left(48)
}

/// The rounds written out one after another: a loop might stay a loop, and its code would be a few bytes.
macro_rules! unrolled {
    ($rounds:literal, $payload:ident) => {{
        let words = words($payload);
        let mut chains = [0; CHAINS];
        seq!(R in 0..$rounds {
            #[allow(clippy::identity_op, clippy::erasing_op, reason = "the first rounds, written out")]
            {
                chains[R % CHAINS] = round(
                    chains[R % CHAINS],
                    words[R % 3],
                    words[(R + 1) % 3],
                    const { addend(Self::INDEX, N, R) },
                    const { factor(Self::INDEX, N, R) },
                );
            }
        });
        combine(chains)
    }};
}

impl Program for Fat {
    const INDEX: usize = 0;

    #[inline(always)]
    fn value<const N: usize>(payload: &[u8; PAYLOAD_BYTES]) -> u64 {
        unrolled!(48, payload)
    }
}

impl Program for Tiny {
    const INDEX: usize = 1;

    #[inline(always)]
    fn value<const N: usize>(payload: &[u8; PAYLOAD_BYTES]) -> u64 {
        unrolled!(2, payload)
    }
}
