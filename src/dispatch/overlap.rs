//! Which handlers can match one packet both: there, registration order is behaviour.

use std::collections::BTreeMap;

use super::{HandlerSpec, Residual};

/// A set of byte values.
type Bytes = [u64; 4];

/// Pairs of specs, by position, whose predicates can hold together.
pub(super) fn pairs(specs: &[HandlerSpec]) -> Vec<(usize, usize)> {
    let mut by_key = BTreeMap::<u16, Vec<usize>>::new();
    for (at, spec) in specs.iter().enumerate() {
        by_key.entry(spec.key).or_default().push(at);
    }
    let mut pairs = Vec::new();
    for group in by_key.values() {
        for (at, &a) in group.iter().enumerate() {
            let later = group[at + 1..].iter().map(|&b| (a, b));
            pairs.extend(later.filter(|&(a, b)| both_can_hold(specs[a].residual, specs[b].residual)));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Whether some packet satisfies both. Different bytes and the flow are independent of each other, so only two
/// predicates on the same thing can exclude each other.
fn both_can_hold(a: Residual, b: Residual) -> bool {
    match (a, b) {
        (Residual::Flow { active: a }, Residual::Flow { active: b }) => a & b != 0,
        _ if a.offset().is_some() && a.offset() == b.offset() => {
            let (a, b) = (accepted(a), accepted(b));
            a.iter().zip(b).any(|(a, b)| a & b != 0)
        }
        _ => can_hold(a) && can_hold(b),
    }
}

fn can_hold(residual: Residual) -> bool {
    match residual {
        Residual::None | Residual::Opaque => true,
        Residual::Flow { active } => active != 0,
        Residual::Mask { .. } | Residual::Range { .. } => accepted(residual) != [0; 4],
    }
}

/// The values of its byte that a predicate accepts; all of them if it reads none.
fn accepted(residual: Residual) -> Bytes {
    let mut bytes = [0; 4];
    for byte in 0..=u8::MAX {
        let accepts = match residual {
            Residual::Mask { mask, value, .. } => byte & mask == value,
            Residual::Range { low, high, .. } => low <= byte && byte <= high,
            Residual::None | Residual::Flow { .. } | Residual::Opaque => true,
        };
        bytes[usize::from(byte) / 64] |= u64::from(accepts) << (byte % 64);
    }
    bytes
}
