//! One function decoded: instructions, and where control goes from each.

use iced_x86::{
    Code as Opcode, Decoder, DecoderOptions, FlowControl, Formatter, InstructionInfoFactory, IntelFormatter,
    OpAccess, OpKind, Register,
};

use super::blocks::Blocks;
use super::{DependentLoads, Function, Image, JumpTable, jump_table, loads};

/// Where control goes after an instruction. Addresses are those of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next one.
    Next,
    /// To a known function, and back.
    Call(u64),
    /// To a known address.
    Jump(u64),
    /// To a known address or to the next one.
    Branch(u64),
    /// To whatever a register or memory holds, and back; the address of the memory where it is a constant, as of a
    /// slot that the dynamic linker fills.
    IndirectCall(Option<u64>),
    /// To whatever a register or memory holds; the address of the memory where it is a constant.
    IndirectJump(Option<u64>),
    /// Back to the caller.
    Return,
    /// Nowhere: a trap, or bytes that are no instruction.
    Stop,
}

/// One decoded instruction.
#[derive(Debug, Clone, Copy)]
pub struct Instruction {
    pub(super) inner: iced_x86::Instruction,
    flow: Flow,
}

impl Instruction {
    /// Its address in the file.
    pub fn address(&self) -> u64 {
        self.inner.ip()
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.inner.len()
    }

    /// Where control goes after it.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// In Intel's notation.
    pub fn text(&self) -> String {
        let mut text = String::new();
        IntelFormatter::new().format(&self.inner, &mut text);
        text
    }
}

/// A function's instructions, in the order of their addresses.
#[derive(Debug, Clone)]
pub struct Code {
    function: Function,
    pub(super) instructions: Vec<Instruction>,
    pub(super) blocks: Blocks,
    tables: Vec<JumpTable>,
}

impl Code {
    /// Decodes from first byte to last. Data between instructions, which compilers for x86-64 don't put there, would
    /// read as instructions.
    pub(super) fn decode(image: &Image, function: Function, bytes: &[u8]) -> Code {
        let decoder = Decoder::with_ip(64, bytes, function.address, DecoderOptions::NONE);
        let instructions: Vec<Instruction> =
            decoder.into_iter().map(|inner| Instruction { inner, flow: flow(&inner) }).collect();
        // Twice: what follows a table's jump is known only once the table was read.
        let tables = jump_table::tables(image, &function, &instructions, &Blocks::new(&instructions, &[]));
        let blocks = Blocks::new(&instructions, &tables);
        Code { function, instructions, blocks, tables }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// All instructions.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Instructions that call or jump to a known address outside this function, each with that address.
    pub fn direct_calls(&self) -> impl Iterator<Item = (&Instruction, u64)> {
        let range = self.function.range();
        self.instructions.iter().filter_map(move |instruction| match instruction.flow {
            Flow::Call(target) => Some((instruction, target)),
            Flow::Jump(target) | Flow::Branch(target) if !range.contains(&target) => {
                Some((instruction, target))
            }
            _ => None,
        })
    }

    /// Instructions that call, or leave by a jump, through a register or memory; jumps through a table aren't among
    /// them.
    pub fn indirect_calls(&self) -> impl Iterator<Item = &Instruction> {
        self.instructions.iter().filter(|instruction| match instruction.flow {
            Flow::IndirectCall(_) => true,
            Flow::IndirectJump(_) => self.tables.iter().all(|table| table.jump != instruction.address()),
            _ => false,
        })
    }

    /// The jump tables of this function.
    pub fn jump_tables(&self) -> &[JumpTable] {
        &self.tables
    }

    /// How many instructions read memory, as an operand: the stack's own pushes, pops and returns aren't counted.
    pub fn loads(&self) -> usize {
        let mut factory = InstructionInfoFactory::new();
        let mut loads = |instruction: &&Instruction| {
            let inner = &instruction.inner;
            let memory = |op| inner.op_kind(op) == OpKind::Memory;
            (0..inner.op_count()).any(memory)
                && factory.info(inner).used_memory().iter().any(|memory| {
                    reads(memory.access())
                        && !(inner.is_stack_instruction() && memory.base() == Register::RSP)
                })
        };
        self.instructions.iter().filter(|instruction| loads(instruction)).count()
    }

    /// How many loads, one after the other, the target of the indirect call or jump at `address` waits for. `None` if
    /// there is none at that address. See [`DependentLoads`] for what is counted.
    pub fn dependent_loads(&self, address: u64) -> Option<DependentLoads> {
        let index = self.index_of(address)?;
        match self.instructions[index].flow {
            Flow::IndirectCall(_) | Flow::IndirectJump(_) => Some(loads::dependent_loads(self, index)),
            _ => None,
        }
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, Instruction::address).ok()
    }
}

/// Whether an access reads.
pub(super) fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

/// Whether an access writes, always or sometimes.
pub(super) fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn flow(inner: &iced_x86::Instruction) -> Flow {
    // Memory at a constant address: relative to the instruction, or a displacement alone.
    let slot = || {
        let no_index = inner.memory_index() == Register::None;
        let is_memory = inner.op_count() > 0 && inner.op0_kind() == OpKind::Memory;
        let plain = no_index && (inner.is_ip_rel_memory_operand() || inner.memory_base() == Register::None);
        // A segment of its own (thread-local storage) isn't a constant address.
        let segment = matches!(inner.segment_prefix(), Register::FS | Register::GS);
        (is_memory && plain && !segment).then(|| inner.memory_displacement64())
    };
    match inner.flow_control() {
        FlowControl::Next => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump(inner.near_branch_target()),
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
            // `xend` and `xabort` have no target, and go on.
            if inner.near_branch_target() == 0 {
                Flow::Next
            } else {
                Flow::Branch(inner.near_branch_target())
            }
        }
        FlowControl::Call => match inner.near_branch_target() {
            // `syscall` and its like count as calls and have no target.
            0 => Flow::Next,
            target => Flow::Call(target),
        },
        FlowControl::IndirectCall => Flow::IndirectCall(slot()),
        FlowControl::IndirectBranch => Flow::IndirectJump(slot()),
        FlowControl::Return => Flow::Return,
        FlowControl::Interrupt if inner.code() == Opcode::Int3 => Flow::Stop,
        FlowControl::Interrupt => Flow::Next,
        FlowControl::Exception => Flow::Stop,
    }
}
