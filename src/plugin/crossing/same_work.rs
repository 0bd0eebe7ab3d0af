//! Which plugins do this work: a race's arms must, so another plugin is refused before anything is timed.

use super::service::{HANDLERS, RESIDUAL_BITS};
use crate::Result;
use crate::dispatch::{Body, HandlerSet, HandlerSpec, Residual};
use crate::plugin::abi::{CLAIM_RESIDUAL, Claim};
use crate::plugin::{Plugin, Rejected};

/// The first handler's key where no plugin says another: the shipped `v2`'s.
pub const FIRST_KEY: u16 = 2010;

/// The first key of a plugin that claims what the example plugins do: four keys in a row, the last one residual. What it
/// computes of them only a race's checksum tells.
///
/// # Errors
/// [`Rejected`] for other claims.
pub fn same_work(plugin: &Plugin) -> Result<u16, Rejected> {
    let claims = plugin.claims();
    let first = claims.first().map_or(0, |claim| claim.key);
    let wanted = (0..HANDLERS).map(|at| Claim {
        key: first.wrapping_add(at as u16),
        flags: if at + 1 == HANDLERS { CLAIM_RESIDUAL } else { 0 },
    });
    if claims.iter().copied().eq(wanted) {
        return Ok(first);
    }
    let seen: Vec<String> = claims
        .iter()
        .map(|claim| match claim.flags & CLAIM_RESIDUAL {
            0 => claim.key.to_string(),
            _ => format!("{} residual", claim.key),
        })
        .collect();
    let wanted = "four keys in a row, the last one residual, as the example plugins claim: all arms of this race do \
                  their work; build one from katas/plugin-dispatch/plugins";
    Err(Rejected::new(plugin.path(), "claimed_keys", seen.join(", "), wanted))
}

/// The same handlers as the dispatch arms know them, for traffic and for the plain reference.
///
/// # Errors
/// None that four handlers can have.
pub fn handler_set(first: u16) -> Result<HandlerSet> {
    let specs = (0..HANDLERS as u16).map(|at| HandlerSpec {
        key: first.wrapping_add(at),
        residual: if usize::from(at) + 1 == HANDLERS {
            Residual::Mask { offset: 0, mask: RESIDUAL_BITS, value: RESIDUAL_BITS }
        } else {
            Residual::None
        },
    });
    HandlerSet::from_specs(specs.collect(), Body::Tiny)
}
