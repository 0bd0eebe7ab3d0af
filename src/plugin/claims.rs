//! What a plugin says it handles, asked twice and held to it.

use std::path::Path;

use super::Rejected;
use super::abi::{CLAIM_RESIDUAL, Claim, ClaimedKeys};
use crate::dispatch::{MAX_HANDLERS, NO_HANDLER};

/// Room behind what the plugin is told of, in claims: tells a write past the end before it has hit anything else.
const GUARD: usize = 64;
/// What the guard holds; no claim looks like it, since flag bits are set that mean nothing.
const UNTOUCHED: Claim = Claim { key: 0xA5A5, flags: 0x5A5A };

/// Asks a plugin which keys it handles.
///
/// # Errors
/// [`Rejected`]: none, more than a set of handlers holds, another number the second time, a write past the end, a claim
/// left unwritten, a key twice, a key that nobody may claim, a flag that means nothing.
///
/// # Safety
/// `claimed_keys` must be a function of that type. What it does to memory that it wasn't given is beyond help.
pub unsafe fn ask(path: &Path, claimed_keys: ClaimedKeys) -> Result<Vec<Claim>, Rejected> {
    let wrong = |value: String, wanted: String| Err(Rejected::new(path, "claimed_keys", value, wanted));
    // SAFETY: by contract a null pointer with no capacity asks for the number alone.
    let said = unsafe { claimed_keys(std::ptr::null_mut(), 0) };
    let count = said as usize;
    if count == 0 {
        return wrong("0 keys".into(), "at least one, or it never gets a packet".into());
    }
    if count > MAX_HANDLERS {
        return wrong(
            format!("{said} keys"),
            format!("at most {MAX_HANDLERS}, what a set of handlers holds"),
        );
    }
    let mut room = vec![UNTOUCHED; count + GUARD];
    // SAFETY: there is room for `count` claims, and then some.
    let again = unsafe { claimed_keys(room.as_mut_ptr(), said) };
    if again != said {
        return wrong(
            format!("{said} keys, then {again}"),
            "the same number each time, since the host has made room for what it was told".into(),
        );
    }
    if let Some(past) = room[count..].iter().position(|claim| *claim != UNTOUCHED) {
        return wrong(
            format!("a claim written at place {}", count + past),
            format!("at most {count} claims written, the capacity that it was given"),
        );
    }
    room.truncate(count);
    check(path, &room)?;
    Ok(room)
}

/// Whether these claims can be kept.
///
/// # Errors
/// As [`ask`].
pub fn check(path: &Path, claims: &[Claim]) -> Result<(), Rejected> {
    let mut places = std::collections::BTreeMap::new();
    for (place, claim) in claims.iter().enumerate() {
        let wrong = |value: String, wanted: String| Err(Rejected::new(path, "claimed_keys", value, wanted));
        if *claim == UNTOUCHED {
            return wrong(
                format!("place {place} left unwritten"),
                "each of the claims that it counts".into(),
            );
        }
        if claim.flags & !CLAIM_RESIDUAL != 0 {
            return wrong(
                format!("flags {:#06x} at place {place}", claim.flags),
                format!("0, or {CLAIM_RESIDUAL} for a residual claim; other bits mean nothing yet"),
            );
        }
        if claim.key == NO_HANDLER {
            return wrong(
                format!("key {} at place {place}", claim.key),
                "below 65535, which stands for a packet that nobody handles".into(),
            );
        }
        if let Some(first) = places.insert(claim.key, place) {
            return wrong(
                format!("key {} at places {first} and {place}", claim.key),
                "each key once: a packet has one handler".into(),
            );
        }
    }
    Ok(())
}
