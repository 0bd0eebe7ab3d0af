//! What the compiler made of an arm: bytes, bodies, and the loads before the call, read from this very module's file.
//!
//! Symbols give sizes, decoded instructions the rest ([`binary`](crate::binary)); nothing is taken for granted about
//! what a `match` became.

use std::collections::BTreeSet;

use serde::Serialize;

use super::generated::Code as HandlerCode;
use super::{Body, HandlerSet};
use crate::binary::{BinaryError, Code, Flow, Image};

/// An arm's machine code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArmCode {
    /// The arm's name.
    pub arm: &'static str,
    /// How many handlers the arm was looked at with.
    pub handlers: usize,
    /// Their bodies.
    pub body: Body,
    /// Bytes of one copy of its loop, the one with the least padding.
    pub loop_bytes: u64,
    /// Copies of the loop.
    pub loop_copies: usize,
    /// Bytes of its functions outside the loop (one copy each), handlers' own apart.
    pub outside_bytes: u64,
    /// Bytes of the jump tables of loop and functions.
    pub table_bytes: u64,
    /// Jump tables of loop and functions.
    pub jump_tables: usize,
    /// Those of them that lie in the loop.
    pub loop_jump_tables: usize,
    /// Indirect calls in the loop: through a vtable or a function pointer.
    pub indirect_calls: usize,
    /// Different handler bodies that it can reach. Inlined ones are counted by their multiplications, so merged ones
    /// count once.
    pub bodies: usize,
    /// Bytes of those bodies, set apart; 0 where they lie inside the arm's own functions.
    pub body_bytes: u64,
    /// Loads, one after the other, from the packet's key to the address of the body: what a processor must wait for where
    /// it guessed wrong. The key's own load isn't counted. `None` where the arm asks several handlers.
    pub loads: Option<usize>,
}

impl ArmCode {
    /// Loop, functions and jump tables: what this way of dispatching adds to the handlers.
    pub fn bytes(&self) -> u64 {
        self.loop_bytes + self.outside_bytes + self.table_bytes
    }
}

/// How an arm gets from a packet to a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// One fixed body by its name.
    Fixed,
    /// A pointer that the loop calls.
    Pointer,
    /// A jump table, indexed by the object's tag, in a function that is called with the object.
    Tag,
    /// A jump table in the loop, indexed by the packet's key.
    Key,
    /// The same, in a function that holds the bodies.
    Inlined,
    /// Several handlers are asked, by pointers.
    ScanPointers,
    /// Several handlers are asked, by whatever the compiler made of it.
    Scan,
}

/// Where an arm's code lies at run time.
pub(super) struct Places {
    /// Copies of its loop.
    pub loops: Vec<usize>,
    /// Its functions outside, the first copy of each.
    pub outside: Vec<usize>,
}

/// Looks at an arm over `set`.
///
/// # Errors
/// Whatever keeps a function from being found or decoded: no symbols, or an architecture that isn't decoded.
pub(super) fn examine(
    arm: &'static str,
    set: &HandlerSet,
    route: Route,
    places: &Places,
    image: &Image,
) -> Result<ArmCode, BinaryError> {
    let loops = decoded(image, &places.loops)?;
    let first = &loops[0];
    let mut outside = decoded(image, &places.outside)?;
    let numbers: Vec<usize> = (0..set.len()).map(|n| HandlerCode::of(set.body(), n).number()).collect();
    let own = |n: &usize| HandlerCode::of(set.body(), *n).process_address();
    let bodies: BTreeSet<u64> = numbers.iter().filter_map(|n| image.to_file(own(n) as u64)).collect();
    if route == Route::Key {
        outside.extend(leading_to(&bodies, first, image)?);
    }
    let reached = match route {
        Route::Fixed => bodies.iter().take(1).copied().collect(),
        Route::Pointer | Route::ScanPointers => bodies,
        Route::Tag => numbers.iter().filter_map(|&n| case(outside.last()?, n)).collect(),
        Route::Key | Route::Scan => {
            let called = |code: &Code| code.direct_calls().map(|(_, to)| to).collect::<Vec<_>>();
            let tables = outside.iter().flat_map(|code| numbers.iter().filter_map(|&n| case(code, n)));
            let calls = std::iter::once(first).chain(&outside).flat_map(called);
            calls.chain(tables).filter(|to| bodies.contains(to)).collect()
        }
        Route::Inlined => BTreeSet::new(),
    };
    let count = match route {
        Route::Inlined => inlined_bodies(&outside, own(&numbers[0]), image)?,
        _ => reached.len(),
    };
    let all = || std::iter::once(first).chain(&outside);
    let tables = all().flat_map(Code::jump_tables);
    let (jump_tables, table_bytes) = tables.fold((0, 0), |(count, bytes), table| {
        (count + 1, bytes + table.targets.len() as u64 * u64::from(table.entry_bytes))
    });
    Ok(ArmCode {
        arm,
        handlers: set.len(),
        body: set.body(),
        loop_bytes: loops.iter().map(|code| code.function().size).min().unwrap_or(0),
        loop_copies: loops.len(),
        outside_bytes: outside.iter().map(|code| code.function().size).sum(),
        table_bytes,
        jump_tables,
        loop_jump_tables: first.jump_tables().len(),
        indirect_calls: pointers(first).count(),
        bodies: count,
        body_bytes: reached.iter().filter_map(|&at| image.function_at(at)).map(|body| body.size).sum(),
        loads: loads(route, first, &outside),
    })
}

/// The functions at these addresses, as they lie at run time.
fn decoded(image: &Image, places: &[usize]) -> Result<Vec<Code>, BinaryError> {
    places.iter().map(|&at| decode_at(image, at)).collect()
}

fn decode_at(image: &Image, run_time: usize) -> Result<Code, BinaryError> {
    let at = image.to_file(run_time as u64);
    let function = at.and_then(|at| image.function_at(at)).ok_or_else(|| match image.functions() {
        [] => BinaryError::Stripped { path: image.path().to_path_buf() },
        _ => BinaryError::NoSuchFunction {
            path: image.path().to_path_buf(),
            name: format!("at {run_time:#x}"),
            hint: "no symbol covers the address".into(),
        },
    })?;
    image.decode(function)
}

/// Calls through a register or an object's memory; those through a slot that the dynamic linker fills aren't ours.
fn pointers(code: &Code) -> impl Iterator<Item = u64> {
    code.indirect_calls().filter(|call| call.flow() == Flow::IndirectCall(None)).map(|call| call.address())
}

/// How many calls through a register or an object's memory the function at this run-time address makes.
///
/// # Errors
/// As [`examine`].
pub(crate) fn indirect_calls(image: &Image, run_time: usize) -> Result<usize, BinaryError> {
    Ok(pointers(&decode_at(image, run_time)?).count())
}

/// Functions that the loop calls and that call one of `bodies` themselves: residual tests of shared keys.
fn leading_to(bodies: &BTreeSet<u64>, code: &Code, image: &Image) -> Result<Vec<Code>, BinaryError> {
    let called: BTreeSet<u64> = code.direct_calls().map(|(_, to)| to).collect();
    let mut found = Vec::new();
    for to in called.difference(bodies) {
        let Some(function) = image.function_at(*to) else { continue };
        let code = image.decode(function)?;
        if code.direct_calls().any(|(_, to)| bodies.contains(&to)) {
            found.push(code);
        }
    }
    Ok(found)
}

/// The function outside that a jump table's case `number` calls or ends in.
fn case(code: &Code, number: usize) -> Option<u64> {
    let mut at = *code.jump_tables().first()?.targets.get(number)?;
    let instructions = code.instructions();
    for _ in 0..MOST_STEPS {
        let index = instructions.binary_search_by_key(&at, |instruction| instruction.address()).ok()?;
        match instructions[index].flow() {
            Flow::Call(to) => return Some(to),
            Flow::Jump(to) if code.function().range().contains(&to) => at = to,
            Flow::Jump(to) => return Some(to),
            Flow::Next => at = instructions.get(index + 1)?.address(),
            _ => return None,
        }
    }
    None
}

/// Instructions that a case is followed for: it sets arguments and calls.
const MOST_STEPS: usize = 32;

/// How many bodies' multiplications are left in the arm's own functions: each body that keeps code of its own keeps its
/// own, and merged ones share them.
fn inlined_bodies(outside: &[Code], body: usize, image: &Image) -> Result<usize, BinaryError> {
    let one = multiplications(&decode_at(image, body)?);
    let all: usize = outside.iter().map(multiplications).sum();
    Ok((all as f64 / one.max(1) as f64).round() as usize)
}

fn multiplications(code: &Code) -> usize {
    let multiplies = |text: &str| ["imul", "mulx", "mul "].iter().any(|name| text.starts_with(name));
    code.instructions().iter().filter(|instruction| multiplies(&instruction.text())).count()
}

fn loads(route: Route, first: &Code, outside: &[Code]) -> Option<usize> {
    let shortest = |code: &Code, at: u64| Some(code.dependent_loads(at)?.shortest);
    let table = |code: &Code| Some(code.jump_tables().first()?.jump);
    match route {
        Route::Fixed => Some(0),
        // The key's own load lies in the same pass of the loop.
        Route::Pointer => shortest(first, pointers(first).next()?)?.checked_sub(1),
        Route::Key => shortest(first, table(first)?)?.checked_sub(1),
        Route::Inlined => shortest(outside.first()?, table(outside.first()?)?)?.checked_sub(1),
        // The function begins with the object's address, which the slot holds: one load more, the slot's.
        Route::Tag => Some(shortest(outside.last()?, table(outside.last()?)?)? + 1),
        Route::ScanPointers | Route::Scan => None,
    }
}
