//! Facts about the machine code of dispatch arms: sizes, loads, and what became of bodies.

use crate::Result;
use crate::binary::Image;
use crate::dispatch::scheme::PUBLISHED_SHARE;
use crate::dispatch::{
    ArmCode, Body, HandlerSet, MechanismArm, MechanismRecipe, ProposalArm, ProposalRecipe,
};
use crate::machine::Card;
use crate::race::{Cell, Fact, Origin, Outcome, Value, Watch};

use super::mechanism::ABSENT;

/// Why arms aren't in a race, once for each arm and reason.
pub fn absent(cells: &[Cell]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for check in cells.iter().flat_map(|cell| &cell.checks) {
        let Some(arm) = check.name.strip_prefix(ABSENT).and_then(|rest| rest.strip_prefix(':')) else {
            continue;
        };
        debug_assert_eq!(check.outcome, Outcome::NotApplicable);
        let text = format!("{arm} isn't among the arms: {}", check.detail);
        if facts.iter().all(|fact| fact.text != text) {
            let name = format!("{ABSENT}:{arm}");
            facts.push(Fact { name, text, value: None, unit: String::new(), origin: Origin::Required });
        }
    }
    facts
}

/// Sizes, loads and bodies of the mechanisms that were raced.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub fn of_mechanisms(cells: &[Cell], card: &Card, watch: &Watch) -> Result<Vec<Fact>> {
    let mut facts = Vec::new();
    let Some(image) = image(&mut facts) else { return Ok(facts) };
    let mut seen: Vec<ArmCode> = Vec::new();
    for (set, cell) in sets(cells) {
        let first_of_body = seen.iter().all(|code| code.body != set.body());
        for arm in MechanismArm::ALL.into_iter().filter(|arm| cell.arm(arm.name()).is_some()) {
            watch.check()?;
            match MechanismRecipe::new(arm, &set).and_then(|recipe| recipe.code(&image)) {
                Ok(code) => {
                    if first_of_body && arm == MechanismArm::DynTrait {
                        facts.push(handlers(&code, card));
                    }
                    facts.extend(size(&code, &seen));
                    facts.extend(became(arm, &code));
                    seen.push(code);
                }
                Err(error) => facts.push(unknown(format!("code:{arm}"), &error.to_string())),
            }
        }
    }
    facts.extend(loads(&seen));
    Ok(facts)
}

/// What became of the loops of the proposals that were raced.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub fn of_proposals(cells: &[Cell], watch: &Watch) -> Result<Vec<Fact>> {
    let mut facts = Vec::new();
    let Some(image) = image(&mut facts) else { return Ok(facts) };
    // The widest list says most about what a loop became.
    let widest = sets(cells).into_iter().max_by_key(|(set, _)| set.len());
    if let Some((set, cell)) = widest {
        for arm in ProposalArm::ALL.into_iter().filter(|arm| cell.arm(arm.name()).is_some()) {
            watch.check()?;
            match ProposalRecipe::new(arm, &set).and_then(|recipe| recipe.code(&image)) {
                Ok(code) => facts.push(search(arm, &code)),
                Err(error) => facts.push(unknown(format!("code:{arm}"), &error.to_string())),
            }
        }
    }
    Ok(facts)
}

/// This module's own file; where it can't be read, a fact says why.
fn image(facts: &mut Vec<Fact>) -> Option<Image> {
    match Image::of_this_code() {
        Ok(image) => Some(image),
        Err(error) => {
            facts.push(unknown("code".into(), &error.to_string()));
            None
        }
    }
}

fn unknown(name: String, why: &str) -> Fact {
    let text = format!("machine code isn't known here: {why}");
    Fact { name, text, value: None, unit: String::new(), origin: Origin::Counted }
}

/// The sets that cells were raced with, each number of handlers and body once. Code doesn't depend on keys, so the
/// kata's scheme will do.
fn sets(cells: &[Cell]) -> Vec<(HandlerSet, &Cell)> {
    let mut found: Vec<(HandlerSet, &Cell)> = Vec::new();
    for cell in cells {
        let (Some(Value::Int(handlers)), Some(Value::Text(body))) =
            (cell.parameters.get("handlers"), cell.parameters.get("body"))
        else {
            continue;
        };
        let body = body.parse::<Body>();
        let set = body.and_then(|body| HandlerSet::standard(*handlers as usize, body, PUBLISHED_SHARE, 0));
        match set {
            Ok(set) if found.iter().all(|(other, _)| *other != set) => found.push((set, cell)),
            _ => {}
        }
    }
    found
}

fn counted(name: String, text: String, value: usize, unit: &str) -> Fact {
    Fact { name, text, value: Some(value as f64), unit: unit.into(), origin: Origin::Counted }
}

fn kib(bytes: u64) -> String {
    if bytes < 10 * 1024 { format!("{bytes} bytes") } else { format!("{:.0} KiB", bytes as f64 / 1024.0) }
}

/// The handlers' own code, which no mechanism changes.
fn handlers(code: &ArmCode, card: &Card) -> Fact {
    let l1i = card.l1i_bytes().map_or(String::new(), |l1i| format!("; the L1i holds {}", kib(l1i as u64)));
    let text = format!(
        "handlers, set apart from every mechanism: {} {} bodies, {} of code{l1i}",
        code.bodies,
        code.body,
        kib(code.body_bytes)
    );
    counted(format!("size:handlers:{}:{}", code.body, code.handlers), text, code.body_bytes as usize, "bytes")
}

/// What a mechanism adds to the handlers; once where bodies don't change it.
fn size(code: &ArmCode, seen: &[ArmCode]) -> Option<Fact> {
    let same = |other: &&ArmCode| other.arm == code.arm && other.bytes() == code.bytes();
    if seen.iter().any(|other| same(&other)) {
        return None;
    }
    let parts: Vec<String> =
        [(code.loop_bytes, "loop"), (code.outside_bytes, "functions"), (code.table_bytes, "jump tables")]
            .into_iter()
            .filter(|(bytes, _)| *bytes > 0)
            .map(|(bytes, what)| format!("{} {what}", kib(bytes)))
            .collect();
    let bodies = if code.body_bytes == 0 { format!(", {} bodies in it", code.body) } else { String::new() };
    let text = format!("code of {}{bodies}: {}", code.arm, parts.join(", "));
    let name = format!("code:{}:{}:{}", code.arm, code.body, code.handlers);
    Some(counted(name, text, code.bytes() as usize, "bytes"))
}

/// Whether a closed match leads to the shared bodies, and what is left of inlined ones.
fn became(arm: MechanismArm, code: &ArmCode) -> Option<Fact> {
    let text = match arm {
        MechanismArm::EnumMatch | MechanismArm::StaticMatch => format!(
            "{arm}: {} of {} {} handlers have a case of their own that leads to the body that every mechanism calls \
             ({} jump table{})",
            code.bodies,
            code.handlers,
            code.body,
            code.jump_tables,
            if code.jump_tables == 1 { "" } else { "s" }
        ),
        MechanismArm::StaticInlined => format!(
            "{arm}: of {} {} bodies that the compiler might have merged, the multiplications of {} are left",
            code.handlers, code.body, code.bodies
        ),
        _ => return None,
    };
    Some(counted(format!("bodies:{arm}:{}:{}", code.body, code.handlers), text, code.bodies, "bodies"))
}

/// One sentence on all mechanisms: what must be loaded before the body is known.
fn loads(seen: &[ArmCode]) -> Option<Fact> {
    let mut loads: Vec<(usize, &str)> = Vec::new();
    for (arm, count) in seen.iter().filter_map(|code| Some((code.arm, code.loads?))) {
        if loads.iter().all(|(_, other)| *other != arm) {
            loads.push((count, arm));
        }
    }
    loads.sort_by_key(|(count, _)| *count);
    let of = |arm: &str| loads.iter().find(|(_, name)| *name == arm).map(|(count, _)| *count);
    let list: Vec<String> = loads.iter().map(|(count, arm)| format!("{arm} {count}")).collect();
    let (thin, fat, erased) = (of("thin")?, of("dyn_trait")?, of("erased")?);
    let text = format!(
        "loads one after the other from the packet's key to the body's address, by disassembly: {}. A vtable in the \
         object (thin) costs {} after the slot, one beside it (dyn) {}, the function itself in the slot {}",
        list.join(", "),
        thin.saturating_sub(erased),
        fat.saturating_sub(erased),
        0
    );
    Some(Fact { name: "loads".into(), text, value: None, unit: "loads".into(), origin: Origin::Counted })
}

/// What is left of a proposal's search in its machine code.
fn search(arm: ProposalArm, code: &ArmCode) -> Fact {
    let tables = |count: usize| format!("{count} jump table{}", if count == 1 { "" } else { "s" });
    let how = match (code.indirect_calls, code.loop_jump_tables, arm) {
        (1.., _, _) => "handlers are asked by an indirect call each".to_string(),
        (0, 1.., ProposalArm::StaticKeys) => format!(
            "the compiler gathered the comparisons into {}: little is left of the search",
            tables(code.loop_jump_tables)
        ),
        (0, 1.., ProposalArm::EnumInlined) => {
            "what asks was inlined but not merged: an indirect jump each, without call and return".into()
        }
        (0, 0, ProposalArm::EnumInlined) => {
            "what asks was merged into one: neither call nor indirect jump is left".into()
        }
        (0, 0, ProposalArm::Enum) if code.jump_tables > 0 => {
            "handlers are asked by a call and an indirect jump each".into()
        }
        (0, 0, _) => "handlers are asked by comparisons in line, without call or table".into(),
        (0, count, _) => format!("handlers are asked through {}", tables(count)),
    };
    let text =
        format!("{arm}, {} handlers: {how}; {} of code beside the bodies", code.handlers, kib(code.bytes()));
    counted(format!("code:{arm}:{}:{}", code.body, code.handlers), text, code.bytes() as usize, "bytes")
}
