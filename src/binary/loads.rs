//! How many loads, one after the other, an indirect branch's target waits for.

use std::collections::BTreeMap;

use iced_x86::{InstructionInfoFactory, Register};
use serde::Serialize;

use super::code::{reads, writes};
use super::jump_table::CALLER_SAVED;
use super::{Code, Flow, Instruction};

/// Loads that must finish one after the other before the processor can know (not predict) where an indirect call or
/// jump goes.
///
/// Counted along data dependences only, backwards from the target over registers and flags, within one pass of the
/// smallest loop around the branch (inner loops passed once), or of the whole function where no loop is around it:
/// - A value that was there when the pass began counts 0 loads, as does what a call returns.
/// - A load counts one more than the longest chain among its address registers.
/// - Stack slots (`[rsp + n]`, and `[rbp + n]` where `rbp` is the frame pointer) are no loads: they pass on what was
///   stored to them, and count 0 where that was before the pass.
/// - A conditional move waits for both its sources and its condition; a conditional jump is predicted, and hides what
///   it tests.
///
/// Paths differ, so there are two figures. For a call through an object in a list: `mov rax, [list + i*8]`,
/// `mov rcx, [rax]`, `call [rcx + 8]` are 3 loads; with the vtable's address in the list itself, 2. The load of the key
/// that the index comes from, where it lies in the same pass, is one more for every way of calling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DependentLoads {
    /// Loads on the path that needs fewest.
    pub shortest: usize,
    /// Loads on the path that needs most.
    pub longest: usize,
    /// Where those are, first to last, for `longest`.
    pub chain: Vec<u64>,
    /// What was looked at.
    pub region: Region,
}

/// Over what [`DependentLoads`] were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// One pass of the smallest loop around the branch, which begins at this address.
    Loop(u64),
    /// One call of the function.
    Function,
}

/// A value's history: loads on the shortest and on the longest path, and the last load of the longest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Chain {
    shortest: usize,
    longest: usize,
    last: Option<usize>,
}

impl Chain {
    /// Waits for both.
    fn and(self, other: Chain) -> Chain {
        let longer = if other.longest > self.longest { other } else { self };
        Chain { shortest: self.shortest.max(other.shortest), ..longer }
    }

    /// Is one or the other.
    fn or(self, other: Chain) -> Chain {
        let longer = if other.longest > self.longest { other } else { self };
        Chain { shortest: self.shortest.min(other.shortest), ..longer }
    }
}

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Register(Register),
    Flags,
    Stack(Register, u64),
}

type State = BTreeMap<Place, Chain>;

/// Follows values forward through one pass.
struct Trace<'a> {
    instructions: &'a [Instruction],
    factory: InstructionInfoFactory,
    frame_pointer: bool,
    /// Each load that was met: its instruction, and the load before it in its chain.
    loads: Vec<(usize, Option<usize>)>,
}

/// For the indirect branch at `index`.
pub(super) fn dependent_loads(code: &Code, index: usize) -> DependentLoads {
    let blocks = &code.blocks;
    let own = blocks.of(index);
    let around = blocks.loop_around(own);
    let region = match &around {
        Some((header, _)) => Region::Loop(code.instructions[blocks.blocks[*header].first].address()),
        None => Region::Function,
    };
    let within = |block: usize| around.as_ref().is_none_or(|(_, members)| members.contains(&block));
    let header = around.as_ref().map_or(0, |(header, _)| *header);
    let mut trace = Trace {
        instructions: &code.instructions,
        factory: InstructionInfoFactory::new(),
        frame_pointer: sets_frame_pointer(&code.instructions),
        loads: Vec::new(),
    };
    let mut after: BTreeMap<usize, State> = BTreeMap::new();
    // The branch's own block last, if nothing leads to it: then nothing is known of what came before.
    let known = blocks.order.iter().copied().filter(|&block| within(block));
    for block in known.chain([own]) {
        let mut state = State::new();
        if block != header {
            let before = blocks.blocks[block].previous.iter();
            let before = before.filter(|&&from| within(from) && !blocks.is_backward(from, block));
            let states: Vec<&State> = before.filter_map(|from| after.get(from)).collect();
            state = joined(&states);
        }
        let (first, end) = (blocks.blocks[block].first, blocks.blocks[block].end);
        if block == own {
            (first..index).for_each(|at| trace.step(at, &mut state));
            return trace.target(index, &state, region);
        }
        (first..end).for_each(|at| trace.step(at, &mut state));
        after.insert(block, state);
    }
    unreachable!("the branch's own block ends the walk")
}

/// What holds where several paths meet; a place that a path doesn't know counts nothing there.
fn joined(states: &[&State]) -> State {
    let Some((first, rest)) = states.split_first() else { return State::new() };
    rest.iter().fold((*first).clone(), |mut sum, state| {
        for (place, chain) in &mut sum {
            *chain = chain.or(state.get(place).copied().unwrap_or_default());
        }
        for (place, chain) in state.iter() {
            sum.entry(*place).or_insert_with(|| chain.or(Chain::default()));
        }
        sum
    })
}

/// Whether the function keeps a frame pointer: `mov rbp, rsp` somewhere.
fn sets_frame_pointer(instructions: &[Instruction]) -> bool {
    instructions.iter().any(|instruction| {
        let inner = &instruction.inner;
        inner.mnemonic() == iced_x86::Mnemonic::Mov
            && inner.op0_register() == Register::RBP
            && inner.op1_register() == Register::RSP
    })
}

impl Trace<'_> {
    /// What the branch waits for.
    fn target(mut self, index: usize, state: &State, region: Region) -> DependentLoads {
        let inner = &self.instructions[index].inner;
        let chain = match inner.op0_kind() {
            iced_x86::OpKind::Register => get(state, Place::Register(inner.op0_register().full_register())),
            _ => {
                let (base, shift) = (inner.memory_base(), inner.memory_displacement64());
                self.read(index, (base, inner.memory_index(), shift), state)
            }
        };
        let mut at = chain.last;
        let mut loads = Vec::new();
        while let Some(load) = at {
            let (instruction, before) = self.loads[load];
            loads.push(self.instructions[instruction].address());
            at = before;
        }
        loads.reverse();
        DependentLoads { shortest: chain.shortest, longest: chain.longest, chain: loads, region }
    }

    /// What a read of memory gives: one load more than its address, or what lies in the stack's slot.
    fn read(
        &mut self,
        at: usize,
        (base, index, displacement): (Register, Register, u64),
        state: &State,
    ) -> Chain {
        if let Some(slot) = self.stack_slot(base, index, displacement) {
            return get(state, slot);
        }
        let of = |register: Register| match register {
            Register::None | Register::RIP => Chain::default(),
            register => get(state, Place::Register(register.full_register())),
        };
        let address = of(base).and(of(index));
        self.loads.push((at, address.last));
        Chain {
            shortest: address.shortest + 1,
            longest: address.longest + 1,
            last: Some(self.loads.len() - 1),
        }
    }

    fn stack_slot(&self, base: Register, index: Register, displacement: u64) -> Option<Place> {
        let is_stack = base == Register::RSP || (base == Register::RBP && self.frame_pointer);
        (is_stack && index == Register::None).then_some(Place::Stack(base, displacement))
    }

    /// One instruction: what it writes waits for what it reads.
    fn step(&mut self, at: usize, state: &mut State) {
        let instruction = &self.instructions[at];
        let inner = instruction.inner;
        if matches!(instruction.flow(), Flow::Call(_) | Flow::IndirectCall(_)) {
            state.remove(&Place::Flags);
            CALLER_SAVED.iter().for_each(|&register| {
                state.remove(&Place::Register(register));
            });
            return;
        }
        let info = self.factory.info(&inner);
        let (registers, memory) = (info.used_registers().to_vec(), info.used_memory().to_vec());
        let mut value = Chain::default();
        for used in registers.iter().filter(|used| reads(used.access())) {
            value = value.and(get(state, Place::Register(used.register().full_register())));
        }
        if inner.rflags_read() != 0 {
            value = value.and(get(state, Place::Flags));
        }
        for used in memory.iter().filter(|used| reads(used.access())) {
            value = value.and(self.read(at, (used.base(), used.index(), used.displacement()), state));
        }
        for used in registers.iter().filter(|used| writes(used.access())) {
            let place = Place::Register(used.register().full_register());
            // A byte or a word written leaves the rest of its register in place.
            let whole = used.access() != iced_x86::OpAccess::CondWrite && used.register().size() >= 4;
            let new = if whole { value } else { value.and(get(state, place)) };
            put(state, place, new);
        }
        if registers.iter().any(|used| used.register() == Register::RSP && writes(used.access())) {
            // Slots are named by their distance from a stack pointer that has just moved.
            state.retain(|place, _| !matches!(place, Place::Stack(Register::RSP, _)));
        } else {
            for used in memory.iter().filter(|used| writes(used.access())) {
                if let Some(slot) = self.stack_slot(used.base(), used.index(), used.displacement()) {
                    put(state, slot, value);
                }
            }
        }
        if inner.rflags_modified() != 0 {
            put(state, Place::Flags, value);
        }
    }
}

fn get(state: &State, place: Place) -> Chain {
    state.get(&place).copied().unwrap_or_default()
}

fn put(state: &mut State, place: Place, chain: Chain) {
    if chain == Chain::default() {
        state.remove(&place);
    } else {
        state.insert(place, chain);
    }
}
