//! Systems for which pinning isn't implemented.

use super::{Pinning, PinningError};

/// Nothing to give back.
#[derive(Debug, Clone)]
pub(super) struct Former;

fn online() -> Vec<usize> {
    (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
}

pub(super) fn allowed_cpus() -> Result<Vec<usize>, PinningError> {
    Ok(online())
}

#[inline]
pub(super) fn current_cpu() -> Option<usize> {
    None
}

pub(super) fn pin(cpu: usize) -> Result<(Pinning, Former), PinningError> {
    if !online().contains(&cpu) {
        return Err(PinningError::NoSuchCpu { cpu, online: online() });
    }
    // A pin that can't be read back isn't made: `core_affinity` could set it here, but nothing would verify it.
    let reason = format!("a pin can't be verified on {}", std::env::consts::OS);
    Ok((Pinning::NotApplicable { reason }, Former))
}

pub(super) fn restore(_: Former) -> Result<(), PinningError> {
    Ok(())
}
