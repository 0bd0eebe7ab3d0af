//! Client requests: how a program talks to the valgrind that runs it.
//!
//! The sequences are those of `valgrind/valgrind.h` (3.19, `VALGRIND_DO_CLIENT_REQUEST_EXPR` for amd64 and arm64), and
//! the numbers those of `valgrind/callgrind.h`; both headers are part of valgrind's stable interface and under a BSD
//! licence so that programs may carry them. They are written out here because the crates that wrap them read the
//! headers at build time, and a wheel built where there are none would carry requests that do nothing or panic.
//! Outside valgrind the instructions change nothing and the request returns its default.

use std::ffi::CStr;

/// `VG_USERREQ__RUNNING_ON_VALGRIND`.
const RUNNING_ON_VALGRIND: usize = 0x1001;
/// `VG_USERREQ_TOOL_BASE('C', 'T')`.
const CALLGRIND: usize = (b'C' as usize) << 24 | (b'T' as usize) << 16;
const ZERO_STATS: usize = CALLGRIND + 1;
const DUMP_STATS_AT: usize = CALLGRIND + 3;
const START_INSTRUMENTATION: usize = CALLGRIND + 4;
const STOP_INSTRUMENTATION: usize = CALLGRIND + 5;

/// Asks valgrind; `default` comes back where nobody listens.
#[inline(always)]
fn request(default: usize, number: usize, argument: usize) -> usize {
    let arguments = [number, argument, 0, 0, 0, 0];
    let mut result = default;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: natively four rotations by 128 bits in all, which leave rdi as it was, and an exchange of a register with
    // itself. Under valgrind the request reads `arguments`, which live until after it, and writes rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inout("rdx") result, in("rax") arguments.as_ptr(), options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above: rotations of x12 by 128 bits in all, and an `or` of a register with itself; x3 is the result.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
            inout("x3") result, in("x4") arguments.as_ptr(), options(nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (arguments, &mut result);
    result
}

/// Whether the program runs under valgrind, whichever its tool.
pub fn running_on_valgrind() -> bool {
    request(0, RUNNING_ON_VALGRIND, 0) != 0
}

/// Begins to simulate and count, with empty caches.
#[inline(always)]
pub(super) fn start_instrumentation() {
    request(0, START_INSTRUMENTATION, 0);
}

/// Goes on without simulating.
#[inline(always)]
pub(super) fn stop_instrumentation() {
    request(0, STOP_INSTRUMENTATION, 0);
}

/// Sets every count to zero; the caches and predictors keep what they hold.
#[inline(always)]
pub(super) fn zero_stats() {
    request(0, ZERO_STATS, 0);
}

/// Writes what was counted since the last dump or zero to a file of its own, which names `trigger`.
#[inline(always)]
pub(super) fn dump_stats_at(trigger: &CStr) {
    request(0, DUMP_STATS_AT, trigger.as_ptr().addr());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_valgrind_a_request_gives_its_default() {
        if running_on_valgrind() {
            return;
        }
        assert_eq!(request(42, RUNNING_ON_VALGRIND, 7), 42);
        start_instrumentation();
        zero_stats();
        dump_stats_at(c"nobody listens");
        stop_instrumentation();
    }
}
