//! Code that is statically reachable from a function: what could have to fit an instruction cache.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Decoder, DecoderOptions};
use serde::Serialize;

use super::{BinaryError, Flow, Function, Image, Slot};

/// Functions that direct calls and jumps lead to from one function, itself included. Each counts with its whole size,
/// cold paths and all, so the sum is an upper bound for what was found; what indirect calls lead to isn't in it.
#[derive(Debug, Clone, Serialize)]
pub struct Reach {
    /// The file.
    pub path: String,
    /// The function that it starts from.
    pub root: String,
    /// Bytes of code, all functions together.
    pub bytes: u64,
    /// Cache lines that these bytes touch.
    pub lines: u64,
    /// Bytes of a cache line.
    pub line_bytes: u64,
    /// The functions, greatest first.
    pub functions: Vec<Reached>,
    /// Indirect calls and jumps whose target the file doesn't tell.
    pub unknown: Vec<Unknown>,
    /// Functions of other files that are called by name; their code isn't counted.
    pub imports: Vec<String>,
    /// Functions that weren't entered because they were excluded by name.
    pub excluded: Vec<String>,
    /// Targets without a sized symbol, as hand-written assembly: called, not counted.
    pub unsized_targets: Vec<String>,
}

/// One reached function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// Its name.
    pub name: String,
    /// Its address in the file.
    pub address: u64,
    /// Bytes of code.
    pub bytes: u64,
}

/// An indirect call or jump.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// The function that it is in.
    pub function: String,
    /// Its address in the file.
    pub address: u64,
    /// The instruction.
    pub text: String,
}

/// Where a known address leads.
enum Target<'a> {
    Function(&'a Function),
    Import(String),
    Nameless(u64),
}

/// Follows every direct call and jump from `root`, through jump tables, the procedure linkage table and slots that the
/// file itself fills. Functions whose name holds one of `without` aren't entered. `stop` is asked before each function.
///
/// # Errors
/// [`BinaryError::Architecture`] unless the file is for x86-64; [`BinaryError::NoCode`] if `root` has none. `None` if
/// `stop` said so.
pub fn reach(
    image: &Image,
    root: &Function,
    without: &[String],
    line_bytes: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Reach>, BinaryError> {
    image.decode(root)?;
    let mut found = Found::default();
    let mut seen = BTreeSet::from([root.address]);
    let mut work = vec![root];
    while let Some(function) = work.pop() {
        if stop() {
            return Ok(None);
        }
        let Ok(code) = image.decode(function) else {
            found.unsized_targets.insert(function.name.clone());
            continue;
        };
        found.functions.push(function.clone());
        for target in targets(image, &code, &mut found.unknown) {
            match target {
                Target::Import(name) => {
                    found.imports.insert(name);
                }
                Target::Nameless(address) => {
                    found.unsized_targets.insert(format!("{address:#x}"));
                }
                Target::Function(function) if without.iter().any(|text| function.name.contains(text)) => {
                    found.excluded.insert(function.name.clone());
                }
                Target::Function(function) => {
                    if seen.insert(function.address) {
                        work.push(function);
                    }
                }
            }
        }
    }
    Ok(Some(found.into_reach(image, root, line_bytes.max(1) as u64)))
}

/// Where a function's calls and jumps lead.
fn targets<'a>(image: &'a Image, code: &super::Code, unknown: &mut Vec<Unknown>) -> Vec<Target<'a>> {
    let mut targets: Vec<Target<'a>> =
        code.direct_calls().map(|(_, target)| resolve(image, target, true)).collect();
    for instruction in code.indirect_calls() {
        let slot = match instruction.flow() {
            Flow::IndirectCall(slot) | Flow::IndirectJump(slot) => slot.and_then(|slot| held(image, slot)),
            _ => None,
        };
        match slot {
            Some(target) => targets.push(target),
            None => unknown.push(Unknown {
                function: code.function().name.clone(),
                address: instruction.address(),
                text: instruction.text(),
            }),
        }
    }
    targets
}

/// What a slot leads to, where the file tells.
fn held(image: &Image, slot: u64) -> Option<Target<'_>> {
    match image.slot(slot)? {
        Slot::Import(name) => Some(Target::Import(name.clone())),
        Slot::Here(address) => Some(resolve(image, *address, false)),
    }
}

/// What lies at an address: a function, or a stub of the procedure linkage table, which jumps on through a slot.
fn resolve(image: &Image, address: u64, may_be_stub: bool) -> Target<'_> {
    if let Some(function) = image.function_at(address) {
        return Target::Function(function);
    }
    let stub = may_be_stub.then(|| stub_slot(image, address)).flatten();
    stub.and_then(|slot| held(image, slot)).unwrap_or(Target::Nameless(address))
}

/// The slot that a stub jumps through: `jmp [slot]`, after `endbr64` where branches are tracked.
fn stub_slot(image: &Image, address: u64) -> Option<u64> {
    const STUB_BYTES: u64 = 16;
    if !image.is_executable(address) {
        return None;
    }
    let bytes = (1..=STUB_BYTES).rev().find_map(|bytes| image.data(address, bytes))?;
    let decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    decoder.into_iter().take(2).find_map(|inner| {
        let is_jump = inner.flow_control() == iced_x86::FlowControl::IndirectBranch;
        (is_jump && inner.is_ip_rel_memory_operand()).then(|| inner.ip_rel_memory_address())
    })
}

#[derive(Default)]
struct Found {
    functions: Vec<Function>,
    unknown: Vec<Unknown>,
    imports: BTreeSet<String>,
    excluded: BTreeSet<String>,
    unsized_targets: BTreeSet<String>,
}

impl Found {
    fn into_reach(self, image: &Image, root: &Function, line_bytes: u64) -> Reach {
        // Symbols may overlap, and neighbours share lines: each byte and each line counts once.
        let (bytes, lines) = (covered(&self.functions, 1), covered(&self.functions, line_bytes));
        let mut functions: Vec<Reached> = self
            .functions
            .into_iter()
            .map(|function| Reached { name: function.name, address: function.address, bytes: function.size })
            .collect();
        functions.sort_by(|a, b| (b.bytes, a.address).cmp(&(a.bytes, b.address)));
        let mut unknown = self.unknown;
        unknown.sort_by_key(|unknown| unknown.address);
        Reach {
            path: image.path().display().to_string(),
            root: root.name.clone(),
            bytes,
            lines,
            line_bytes,
            functions,
            unknown,
            imports: self.imports.into_iter().collect(),
            excluded: self.excluded.into_iter().collect(),
            unsized_targets: self.unsized_targets.into_iter().collect(),
        }
    }
}

/// How many units of `unit` bytes the functions touch, each once.
fn covered(functions: &[Function], unit: u64) -> u64 {
    // First unit → past the last, merged as they come in order.
    let mut ranges: BTreeMap<u64, u64> = BTreeMap::new();
    for function in functions {
        let range = function.range();
        let end = range.end.div_ceil(unit);
        let known = ranges.entry(range.start / unit).or_default();
        *known = end.max(*known);
    }
    let (mut sum, mut reached) = (0, 0);
    for (start, end) in ranges {
        let start = start.max(reached);
        sum += end.saturating_sub(start);
        reached = reached.max(end);
    }
    sum
}
