//! Affinity masks on Linux.

use std::io;
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::{Pinning, PinningError};
use crate::machine::linux::sysfs::Tree;

/// The mask to give back.
#[derive(Debug, Clone)]
pub(super) struct Former(CpuSet);

fn mask() -> Result<CpuSet, PinningError> {
    sched_getaffinity(None).map_err(|errno| PinningError::Os {
        // EINVAL here: the kernel's own mask is longer than the 1,024 CPUs of glibc's `cpu_set_t`.
        what: format!("reading this thread's affinity mask (of at most {} CPUs)", CpuSet::MAX_CPU),
        source: errno.into(),
    })
}

fn cpus_of(mask: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).collect()
}

pub(super) fn allowed_cpus() -> Result<Vec<usize>, PinningError> {
    Ok(cpus_of(&mask()?))
}

#[inline]
pub(super) fn current_cpu() -> Option<usize> {
    // `libc` and not `rustix`, whose raw backend makes a system call of it.
    // SAFETY: takes no arguments, touches no memory of ours.
    let cpu = unsafe { libc::sched_getcpu() };
    usize::try_from(cpu).ok()
}

pub(super) fn pin(cpu: usize) -> Result<(Pinning, Former), PinningError> {
    let former = mask()?;
    let allowed = cpus_of(&former);
    if !allowed.contains(&cpu) {
        // Without /sys all that is known is the mask.
        let online = Tree::new(Path::new("/")).cpu_list("sys/devices/system/cpu/online");
        return Err(match online {
            Some(online) if !online.contains(&cpu) => PinningError::NoSuchCpu { cpu, online },
            _ => PinningError::NotAllowed { cpu, allowed },
        });
    }
    // Only ids from the mask get here: `core_affinity` panics on ids past the set.
    if !core_affinity::set_for_current(core_affinity::CoreId { id: cpu }) {
        // It returns a bool, but makes the system call last, so that errno is still there.
        let source = io::Error::last_os_error();
        return Err(PinningError::Os { what: format!("pinning this thread to CPU {cpu}"), source });
    }
    let former = Former(former);
    let (now, ran_on) = match mask() {
        Ok(mask) => (cpus_of(&mask), current_cpu()),
        Err(error) => {
            let _ = restore(former);
            return Err(error);
        }
    };
    if now != [cpu] || ran_on != Some(cpu) {
        let _ = restore(former);
        return Err(PinningError::NotHonoured { cpu, ran_on, allowed: now });
    }
    Ok((Pinning::Honoured { cpu }, former))
}

pub(super) fn restore(former: Former) -> Result<(), PinningError> {
    sched_setaffinity(None, &former.0).map_err(|errno| PinningError::Os {
        what: format!("giving this thread its CPUs {} back", super::format_cpu_list(&cpus_of(&former.0))),
        source: errno.into(),
    })
}
