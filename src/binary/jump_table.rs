//! Jump tables: an indirect jump whose targets lie in the same function, read from the table.

use std::collections::BTreeMap;

use iced_x86::{InstructionInfoFactory, Mnemonic, OpKind, Register};

use super::blocks::Blocks;
use super::code::writes;
use super::{Flow, Function, Image, Instruction, Slot};

/// A jump through a table, as compilers make of a `match` or `switch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JumpTable {
    /// Address of the jump.
    pub jump: u64,
    /// Address of the table.
    pub table: u64,
    /// Bytes of an entry: 4 (relative to the table) or 8 (an address).
    pub entry_bytes: u8,
    /// Where its entries lead, in order: as many as lead back into the function and lie before its next table.
    pub targets: Vec<u64>,
}

/// Most entries that are read of one table.
const MOST_ENTRIES: usize = 4096;

/// The tables of a function.
pub(super) fn tables(
    image: &Image,
    function: &Function,
    instructions: &[Instruction],
    blocks: &Blocks,
) -> Vec<JumpTable> {
    let jumps: Vec<usize> = (0..instructions.len())
        .filter(|&index| matches!(instructions[index].flow(), Flow::IndirectJump(None)))
        .collect();
    if jumps.is_empty() {
        return Vec::new();
    }
    let constants = Constants::new(instructions, blocks);
    let found: Vec<(u64, u64, u8)> = jumps
        .into_iter()
        .filter_map(|index| {
            let first = blocks.blocks[blocks.of(index)].first;
            let (table, entry_bytes) = table_of(instructions, &constants, first, index)?;
            Some((instructions[index].address(), table, entry_bytes))
        })
        .collect();
    let starts: Vec<u64> = found.iter().map(|&(_, table, _)| table).collect();
    let read = |(jump, table, entry_bytes): (u64, u64, u8)| {
        let next = starts.iter().copied().filter(|&start| start > table).min().unwrap_or(u64::MAX);
        let targets: Vec<u64> = (0..MOST_ENTRIES as u64)
            .map_while(|entry| table.checked_add(entry * u64::from(entry_bytes)))
            .take_while(|&at| at < next)
            .map_while(|at| target(image, table, at, entry_bytes))
            .take_while(|target| function.range().contains(target))
            .collect();
        (!targets.is_empty()).then_some(JumpTable { jump, table, entry_bytes, targets })
    };
    found.into_iter().filter_map(read).collect()
}

fn target(image: &Image, table: u64, at: u64, entry_bytes: u8) -> Option<u64> {
    let bytes = image.data(at, u64::from(entry_bytes))?;
    match entry_bytes {
        4 => Some(table.wrapping_add_signed(i64::from(i32::from_le_bytes(bytes.try_into().ok()?)))),
        _ => match image.slot(at) {
            Some(Slot::Here(address)) => Some(*address),
            Some(Slot::Import(_)) => None,
            None => Some(u64::from_le_bytes(bytes.try_into().ok()?)),
        },
    }
}

/// Address of the table that a jump takes its target from, and bytes of an entry. Two shapes are known: an address from
/// `[table + index*8]`, in the jump itself or loaded before, and an offset from `[table + index*4]` to which the table's
/// address is added.
fn table_of(
    instructions: &[Instruction],
    constants: &Constants,
    first: usize,
    jump: usize,
) -> Option<(u64, u8)> {
    let inner = &instructions[jump].inner;
    if inner.op0_kind() == OpKind::Memory {
        return indexed(inner, constants, jump, 8);
    }
    let defines = |register: Register, before: usize| {
        (first..before).rev().find(|&index| written(&instructions[index]).contains(&register))
    };
    let register = inner.op0_register().full_register();
    let definition = defines(register, jump)?;
    let inner = &instructions[definition].inner;
    if inner.mnemonic() == Mnemonic::Mov && inner.op1_kind() == OpKind::Memory {
        return indexed(inner, constants, definition, 8);
    }
    let is_sum = inner.mnemonic() == Mnemonic::Add && inner.op1_kind() == OpKind::Register;
    if !is_sum {
        return None;
    }
    // Either of the two is the offset, the other the table.
    [inner.op0_register(), inner.op1_register()].into_iter().find_map(|register| {
        let load = defines(register.full_register(), definition)?;
        let inner = &instructions[load].inner;
        let is_offset = inner.mnemonic() == Mnemonic::Movsxd && inner.op1_kind() == OpKind::Memory;
        is_offset.then(|| indexed(inner, constants, load, 4))?
    })
}

/// The constant part of `[base + index*scale + displacement]`.
fn indexed(inner: &iced_x86::Instruction, constants: &Constants, at: usize, scale: u8) -> Option<(u64, u8)> {
    if inner.memory_index() == Register::None || inner.memory_index_scale() != u32::from(scale) {
        return None;
    }
    let base = match inner.memory_base() {
        Register::None => 0,
        base => constants.before(at, base)?,
    };
    Some((base.wrapping_add(inner.memory_displacement64()), scale))
}

/// Full registers that an instruction may write.
fn written(instruction: &Instruction) -> Vec<Register> {
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(&instruction.inner);
    let used = info.used_registers().iter().filter(|used| writes(used.access()));
    used.map(|used| used.register().full_register()).collect()
}

/// Registers that a call may change (System V ABI for x86-64, section 3.2.1).
pub(super) const CALLER_SAVED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

type Known = BTreeMap<Register, u64>;

/// Which registers hold which constant address, before each instruction: `lea` of an address and copies of it, whatever
/// path was taken.
struct Constants {
    before: Vec<Known>,
}

impl Constants {
    fn new(instructions: &[Instruction], blocks: &Blocks) -> Constants {
        // What is known as each block begins; `None` until a path to it was followed.
        let mut entry: Vec<Option<Known>> = vec![None; blocks.blocks.len()];
        let mut work: Vec<usize> = Vec::new();
        if let Some(first) = entry.first_mut() {
            *first = Some(Known::new());
            work.push(0);
        }
        // Before tables are read nothing seems to lead to their cases. Some jump through a table does, so what every such
        // jump keeps holds there; in registers that calls keep, since after a call that unwinds no others hold.
        let orphans: Vec<usize> =
            (1..blocks.blocks.len()).filter(|&number| blocks.blocks[number].previous.is_empty()).collect();
        let mut before = vec![Known::new(); instructions.len()];
        while let Some(number) = work.pop() {
            let block = &blocks.blocks[number];
            let mut known = entry[number].clone().unwrap_or_default();
            for index in block.first..block.end {
                before[index].clone_from(&known);
                step(&instructions[index], &mut known);
            }
            let last = block.end - 1;
            let is_open =
                block.next.is_empty() && matches!(instructions[last].flow(), Flow::IndirectJump(None));
            let next = if is_open {
                known.retain(|register, _| !CALLER_SAVED.contains(register));
                &orphans
            } else {
                &block.next
            };
            for &next in next {
                let met = match &entry[next] {
                    None => known.clone(),
                    Some(there) => there
                        .iter()
                        .filter(|(key, value)| known.get(key) == Some(value))
                        .map(|(k, v)| (*k, *v))
                        .collect(),
                };
                if entry[next].as_ref() != Some(&met) {
                    entry[next] = Some(met);
                    work.push(next);
                }
            }
        }
        Constants { before }
    }

    fn before(&self, instruction: usize, register: Register) -> Option<u64> {
        self.before[instruction].get(&register.full_register()).copied()
    }
}

fn step(instruction: &Instruction, known: &mut Known) {
    let inner = &instruction.inner;
    if matches!(instruction.flow(), Flow::Call(_) | Flow::IndirectCall(_)) {
        known.retain(|register, _| !CALLER_SAVED.contains(register));
        return;
    }
    let value = match inner.mnemonic() {
        Mnemonic::Lea if inner.is_ip_rel_memory_operand() => Some(inner.ip_rel_memory_address()),
        Mnemonic::Mov if inner.op1_kind() == OpKind::Register => known
            .get(&inner.op1_register().full_register())
            .copied()
            .filter(|_| inner.op1_register().is_gpr64()),
        // Executables at a fixed address name a table by a 32-bit constant.
        Mnemonic::Mov if inner.op1_kind() == OpKind::Immediate32 => Some(u64::from(inner.immediate32())),
        _ => None,
    };
    for register in written(instruction) {
        known.remove(&register);
    }
    let destination = inner.op_count() > 0 && inner.op0_kind() == OpKind::Register;
    if let Some(value) = value.filter(|_| destination && inner.op0_register().is_gpr()) {
        known.insert(inner.op0_register().full_register(), value);
    }
}
