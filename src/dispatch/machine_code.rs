//! What a function's machine code consists of, decoded where it lies in this process: how many bytes, which calls.
//!
//! Symbol sizes would need the file, and a file that wasn't stripped; decoding needs neither, and tells a direct call
//! from an indirect one in the very copy that is timed.

/// A function, as far as its own code can be followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MachineCode {
    /// Bytes of every instruction that can be reached from the entry without a call or an indirect jump.
    pub bytes: usize,
    /// Where direct calls lead, in the order of the calls' own addresses.
    pub calls: Vec<usize>,
    /// Calls and jumps whose target is read from a register or from memory.
    pub indirect: usize,
}

/// Decodes the function at `entry`; `None` where this build can't decode, or where what lies there isn't code.
///
/// # Safety
/// `entry` must be the address of a function of this process that has no path behind a call that doesn't return (such
/// as a panic): what lies behind it would be taken for code.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn decode(entry: usize) -> Option<MachineCode> {
    use std::collections::{BTreeMap, BTreeSet};

    use iced_x86::FlowControl;

    let mut bytes = 0;
    let mut calls = BTreeMap::new();
    let mut indirect = 0;
    let mut seen = BTreeSet::new();
    let mut open = vec![entry];
    while let Some(mut at) = open.pop() {
        while seen.insert(at) {
            if seen.len() > MOST_INSTRUCTIONS {
                return None;
            }
            // SAFETY: the caller vouches that `entry` is a function, and `at` was reached from it by its own control flow.
            let instruction = unsafe { instruction(at) }?;
            bytes += instruction.len();
            let target = usize::try_from(instruction.near_branch_target()).ok()?;
            match instruction.flow_control() {
                FlowControl::Next => {}
                FlowControl::Call => _ = calls.insert(at, target),
                FlowControl::IndirectCall => indirect += 1,
                FlowControl::ConditionalBranch => open.push(target),
                FlowControl::UnconditionalBranch => {
                    at = target;
                    continue;
                }
                FlowControl::IndirectBranch => {
                    indirect += 1;
                    break;
                }
                FlowControl::Return => break,
                FlowControl::Interrupt | FlowControl::XbeginXabortXend | FlowControl::Exception => {
                    return None;
                }
            }
            at += instruction.len();
        }
    }
    Some(MachineCode { bytes, calls: calls.into_values().collect(), indirect })
}

/// Bounds a walk that has gone astray: far more instructions than any function here has.
#[cfg(target_arch = "x86_64")]
const MOST_INSTRUCTIONS: usize = 1 << 16;

/// One instruction.
///
/// # Safety
/// `at` must be the address of an instruction of this process.
#[cfg(target_arch = "x86_64")]
unsafe fn instruction(at: usize) -> Option<iced_x86::Instruction> {
    /// No instruction is longer: Intel's Software Developer's Manual, volume 2, section 2.3.11.
    const LONGEST: usize = 15;
    // Pages are mapped or not as a whole, so the rest of this one may be read. The next is needed only by an
    // instruction that crosses into it, and then it is mapped too.
    let to_page_end = rustix::param::page_size() - at % rustix::param::page_size();
    for length in [LONGEST.min(to_page_end), LONGEST] {
        // SAFETY: the bytes lie in the page of an instruction, or in the next one if the instruction needs it. Code isn't
        // written while the process runs.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, length) };
        let mut decoder = iced_x86::Decoder::with_ip(64, bytes, at as u64, iced_x86::DecoderOptions::NONE);
        let instruction = decoder.decode();
        if !instruction.is_invalid() {
            return Some(instruction);
        }
        if decoder.last_error() != iced_x86::DecoderError::NoMoreBytes {
            return None;
        }
    }
    None
}

/// Decodes nothing: only x86-64 code is understood.
///
/// # Safety
/// None needed here.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn decode(_entry: usize) -> Option<MachineCode> {
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[inline(never)]
    fn called(word: u64) -> u64 {
        std::hint::black_box(word) ^ 5
    }

    #[inline(never)]
    fn calls_twice(word: u64) -> u64 {
        called(called(word)).rotate_left(9) | 1
    }

    #[inline(never)]
    fn calls_through_a_pointer(function: fn(u64) -> u64) -> u64 {
        function(3).rotate_left(9) | 1
    }

    #[inline(never)]
    fn loops(words: &[u64]) -> u64 {
        words.iter().fold(1, |sum, word| called(sum ^ word))
    }

    fn of(entry: *const ()) -> MachineCode {
        // SAFETY: functions of this module, none of which panics.
        unsafe { decode(entry as usize) }.expect("code")
    }

    #[test]
    fn direct_and_indirect_calls_are_told_apart() {
        std::hint::black_box((calls_twice(1), calls_through_a_pointer(called), loops(&[1, 2])));
        let direct = of(calls_twice as *const ());
        assert_eq!(
            (direct.calls.as_slice(), direct.indirect),
            ([called as *const () as usize; 2].as_slice(), 0)
        );
        let indirect = of(calls_through_a_pointer as *const ());
        assert_eq!((indirect.calls.len(), indirect.indirect), (0, 1));
        assert!((10..60).contains(&direct.bytes), "{direct:?}");
    }

    #[test]
    fn a_loop_ends() {
        let code = of(loops as *const ());
        assert!(
            !code.calls.is_empty() && code.calls.iter().all(|&at| at == called as *const () as usize),
            "{code:?}"
        );
    }

    #[test]
    fn instructions_across_two_pages_are_read_whole() {
        let page = rustix::param::page_size();
        let mut memory = vec![0x90_u8; 3 * page];
        let end = memory.as_ptr() as usize % page;
        let boundary = 2 * page - end;
        // mov rax, imm64: ten bytes, of which four lie before the boundary.
        memory[boundary - 4..boundary + 6].copy_from_slice(&[0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8]);
        memory[boundary + 6] = 0xc3;
        let entry = memory.as_ptr() as usize + boundary - 4;
        // SAFETY: decoded, never run; both pages are ours.
        assert_eq!(unsafe { decode(entry) }.map(|code| code.bytes), Some(11));
    }
}
