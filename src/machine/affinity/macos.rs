//! macOS has no affinity: a quality-of-service class is all that can be asked for.

use super::{Pinning, PinningError};

/// The class to give back.
#[derive(Debug, Clone)]
pub(super) struct Former(Option<libc::qos_class_t>);

fn online() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(super) fn allowed_cpus() -> Result<Vec<usize>, PinningError> {
    Ok((0..online()).collect())
}

#[inline]
pub(super) fn current_cpu() -> Option<usize> {
    None
}

pub(super) fn pin(cpu: usize) -> Result<(Pinning, Former), PinningError> {
    if cpu >= online() {
        return Err(PinningError::NoSuchCpu { cpu, online: (0..online()).collect() });
    }
    const WHY: &str = "macOS doesn't pin threads to CPUs";
    let mut former = libc::qos_class_t::QOS_CLASS_UNSPECIFIED;
    let mut relative = 0;
    // SAFETY: asks about the calling thread; both pointers are to live variables of the right types.
    let known =
        unsafe { libc::pthread_get_qos_class_np(libc::pthread_self(), &mut former, &mut relative) } == 0;
    // SAFETY: sets a class of the calling thread alone.
    let set =
        unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_USER_INTERACTIVE, 0) } == 0;
    let (reason, former) = if set {
        let reason =
            format!("{WHY}; its quality-of-service class is user-interactive, which prefers fast cores");
        (reason, known.then_some(former))
    } else {
        (format!("{WHY}, and it refused a quality-of-service class"), None)
    };
    Ok((Pinning::NotApplicable { reason }, Former(former)))
}

pub(super) fn restore(former: Former) -> Result<(), PinningError> {
    let Some(class) = former.0 else { return Ok(()) };
    // A thread can't be set to "unspecified" again: the default class is what that means.
    let class = match class {
        libc::qos_class_t::QOS_CLASS_UNSPECIFIED => libc::qos_class_t::QOS_CLASS_DEFAULT,
        class => class,
    };
    // SAFETY: sets a class of the calling thread alone.
    match unsafe { libc::pthread_set_qos_class_self_np(class, 0) } {
        0 => Ok(()),
        errno => Err(PinningError::Os {
            what: "giving this thread its quality-of-service class back".into(),
            source: std::io::Error::from_raw_os_error(errno),
        }),
    }
}
