//! Residual predicates: what is left of `matches` once the key is factored out.

use serde::Serialize;

use crate::traffic::Packet;
use crate::traffic::packet::PAYLOAD_BYTES;
use crate::{Error, Result};

/// What a packet with the right key must satisfy besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Residual {
    /// Nothing: the key decides.
    None,
    /// `payload[offset] & mask == value`.
    Mask {
        /// Which byte of the payload.
        offset: u8,
        /// Which of its bits count.
        mask: u8,
        /// What they must be.
        value: u8,
    },
    /// `low <= payload[offset] <= high`.
    Range {
        /// Which byte of the payload.
        offset: u8,
        /// Least value that matches.
        low: u8,
        /// Greatest value that matches.
        high: u8,
    },
    /// Bit `flow & 63` of `active` is set: state that earlier packets left behind, which no key can express.
    Flow {
        /// One bit a flow class, set where a session is active.
        active: u64,
    },
    /// What only the handler itself can tell, by working on the packet: a plugin's, which declares that there is something
    /// and no more.
    Opaque,
}

impl Residual {
    /// Whether it holds. Out of line: one copy, reached only after the key matched, so that a `matches` of a handler
    /// without residual stays a comparison and a test.
    #[inline(never)]
    pub fn holds(&self, packet: &Packet) -> bool {
        match *self {
            Residual::None => true,
            Residual::Mask { offset, mask, value } => {
                packet.payload.get(usize::from(offset)).is_some_and(|byte| byte & mask == value)
            }
            Residual::Range { offset, low, high } => {
                packet.payload.get(usize::from(offset)).is_some_and(|byte| (low..=high).contains(byte))
            }
            Residual::Flow { active } => active >> (packet.flow & 63) & 1 == 1,
            // Whoever has one decides by itself and never asks here.
            Residual::Opaque => false,
        }
    }

    /// Whether there is anything to test.
    pub const fn is_none(&self) -> bool {
        matches!(self, Residual::None)
    }

    /// The byte of the payload that it reads.
    pub fn offset(&self) -> Option<usize> {
        match *self {
            Residual::Mask { offset, .. } | Residual::Range { offset, .. } => Some(usize::from(offset)),
            Residual::None | Residual::Flow { .. } | Residual::Opaque => None,
        }
    }

    /// Refuses what can never hold by its own form: a byte past the payload, a value outside its mask, an empty range.
    ///
    /// A flow set without an active flow is a state, not a mistake, and is accepted.
    pub fn validate(&self) -> Result<()> {
        let wrong = |wanted: String| Err(Error::invalid("residual", format!("{self:?}"), wanted));
        match *self {
            Residual::Mask { offset, .. } | Residual::Range { offset, .. }
                if usize::from(offset) >= PAYLOAD_BYTES =>
            {
                wrong(format!("offset must be below {PAYLOAD_BYTES}, the bytes of a payload"))
            }
            Residual::Mask { mask, value, .. } if value & !mask != 0 => {
                wrong(format!("value {value:#04x} has bits outside mask {mask:#04x}, so it never holds"))
            }
            Residual::Opaque => wrong(
                "a predicate that can be evaluated; only a plugin's handlers keep theirs to themselves"
                    .into(),
            ),
            Residual::Range { low, high, .. } if low > high => {
                wrong(format!("low {low} exceeds high {high}, so it never holds"))
            }
            _ => Ok(()),
        }
    }
}
