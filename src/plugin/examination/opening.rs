//! From a file to a plugin's claims: what can be seen without running it, and then its first few calls.

use std::path::Path;
use std::sync::Arc;

use super::pages::Guarded;
use super::report::{Event, Reporter};
use super::{Stage, Subject};
use crate::plugin::abi::{self, CLAIM_RESIDUAL, Claim, ClaimedKeys, EntryPoint};
use crate::plugin::gate::{self, Functions};
use crate::plugin::{Examined, Library, Rejected, claims};

fn said(rejected: Rejected) -> String {
    let Rejected { field, value, wanted, .. } = rejected;
    format!("{field} = {value}; wanted {wanted}")
}

/// Reads the file and what it exports.
pub fn read(path: &Path, reporter: &mut Reporter<'_>) -> Option<Examined> {
    let examined = reporter.stage(Stage::File, || {
        let examined = Examined::read(path).map_err(said)?;
        let (bytes, code) = (examined.bytes.len(), examined.object.architecture());
        Ok((examined, format!("a shared object of {bytes} bytes, {code}")))
    })?;
    let exports = examined.object.exports().to_vec();
    reporter.say(&Event::Library { sha256: examined.sha256(), exports });
    let mut usable = false;
    reporter.check(Stage::Exports, || {
        examined.require(abi::SYMBOL).map_err(said)?;
        usable = true;
        alone(&examined)
    });
    usable.then_some(examined)
}

/// Whether nothing else is exported: what is may be replaced by another library's, or replace it. What compilers emit in
/// every library that needs it (weak) is named, but no fault of the plugin's.
fn alone(examined: &Examined) -> super::report::Finding {
    let others = || examined.object.exports().iter().filter(|export| export.name != abi::SYMBOL);
    let names = |weak: bool| -> Vec<&str> {
        others().filter(|export| export.weak == weak).map(|export| export.name.as_str()).collect()
    };
    let shown = |names: &[&str]| {
        let more = names.len().saturating_sub(3);
        let tail = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{}{tail}", names[..names.len() - more].join(", "))
    };
    let (strong, weak) = (names(false), names(true));
    if !strong.is_empty() {
        return Err(format!(
            "{} besides {}; wanted that one alone: build with -fvisibility=hidden",
            shown(&strong),
            abi::SYMBOL
        ));
    }
    if weak.is_empty() {
        return Ok(format!("{} alone", abi::SYMBOL));
    }
    Ok(format!("{}, and {} weak ones of its language's library: {}", abi::SYMBOL, weak.len(), shown(&weak)))
}

/// Opens it and takes its functions.
///
/// # Safety
/// Its code runs in this process.
pub unsafe fn functions(
    examined: &Examined,
    reporter: &mut Reporter<'_>,
) -> Option<(Arc<Library>, EntryPoint, Functions)> {
    let library = reporter.stage(Stage::Dlopen, || {
        // SAFETY: the caller vouches for what runs.
        let library = unsafe { Library::open(examined) }.map_err(said)?;
        Ok((library, "opened with RTLD_NOW | RTLD_LOCAL; its constructors returned".into()))
    })?;
    let path = library.path();
    reporter.say(&Event::Begin { stage: Stage::Entry });
    // SAFETY: a function of that name has that type by contract, and is called while `library` is held.
    let entry: Result<EntryPoint, Rejected> = unsafe { library.function(abi::SYMBOL) };
    let gated = entry.and_then(|entry| {
        // SAFETY: the caller vouches for what runs; what is returned is read no further than it says it reaches.
        unsafe { gate::functions(path, entry()) }.map(|functions| (entry, functions))
    });
    // All gates stand behind one call: what it says tells which of them were passed.
    let failed = match gated.as_ref().map_err(|rejected| rejected.field) {
        Ok(_) => None,
        Err("symbol" | "nanokata_plugin()") => Some(Stage::Entry),
        Err("struct_size") => Some(Stage::StructSize),
        Err("abi_version") => Some(Stage::AbiVersion),
        Err(_) => Some(Stage::Functions),
    };
    let fault = gated.as_ref().err().cloned().map(said).unwrap_or_default();
    let functions = gated.as_ref().ok().map(|(_, functions)| functions);
    for stage in [Stage::Entry, Stage::StructSize, Stage::AbiVersion, Stage::Functions] {
        if failed == Some(stage) {
            reporter.end(stage, Err(fault));
            return None;
        }
        reporter.end(stage, Ok(passed(stage, functions)));
    }
    gated.ok().map(|(entry, functions)| (library, entry, functions))
}

fn passed(stage: Stage, functions: Option<&Functions>) -> String {
    match (stage, functions) {
        (Stage::Entry, _) => "the address of a struct, aligned".into(),
        (Stage::StructSize, Some(functions)) => format!("{} bytes", functions.struct_size),
        (Stage::AbiVersion, _) => format!("{}", abi::ABI_VERSION),
        (Stage::Functions, Some(Functions { process_batch: Some(_), .. })) => {
            "all there, process_batch too".into()
        }
        (Stage::Functions, _) => "all there; no process_batch".into(),
        _ => "as it has to be".into(),
    }
}

/// Asks for its claims: as the host does, with nothing behind the room, with less room, and once more.
///
/// # Safety
/// Its code runs in this process.
pub unsafe fn claims(
    library: &Library,
    functions: Functions,
    reporter: &mut Reporter<'_>,
) -> Option<Subject> {
    let path = library.path();
    reporter.stage(Stage::ClaimedKeys, || {
        // SAFETY: the plugin's own function, while its library is open.
        let claims = unsafe { claims::ask(path, functions.claimed_keys) }.map_err(said)?;
        for capacity in [claims.len(), 1, claims.len()] {
            // SAFETY: as above.
            unsafe { repeat(functions.claimed_keys, &claims, capacity) }?;
        }
        let residual = claims.iter().filter(|claim| claim.flags & CLAIM_RESIDUAL != 0).count();
        let keys: Vec<String> = claims.iter().take(8).map(|claim| claim.key.to_string()).collect();
        let more = if claims.len() > 8 { ", …" } else { "" };
        let detail = format!("{} keys, {residual} of them residual: {}{more}", claims.len(), keys.join(", "));
        Ok((Subject { functions, claims }, detail))
    })
}

/// # Safety
/// `claimed_keys` must be a function of that type; one that writes past `capacity` ends the process.
unsafe fn repeat(claimed_keys: ClaimedKeys, known: &[Claim], capacity: usize) -> Result<(), String> {
    let room = Guarded::with_room(capacity * size_of::<Claim>())?;
    let claims: *mut Claim = room.last(capacity);
    // SAFETY: room for `capacity` claims.
    let count = unsafe { claimed_keys(claims, capacity as u32) };
    if count as usize != known.len() {
        let (said, known) = (count, known.len());
        return Err(format!(
            "{known} keys, then {said} with room for {capacity}; wanted the same number each time"
        ));
    }
    // SAFETY: zero where the plugin hasn't written.
    let written = unsafe { std::slice::from_raw_parts(claims, capacity) };
    match (0..capacity).find(|&place| written[place] != known[place]) {
        None => Ok(()),
        Some(place) => {
            let (was, is) = (known[place].key, written[place].key);
            Err(format!("key {was} at place {place}, then {is}; wanted the same claims each time"))
        }
    }
}
