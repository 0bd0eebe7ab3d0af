//! Why a counter can't be opened, in one line that begins with the error's name.

use std::io;
use std::path::Path;

use super::CounterKind;
use crate::machine::linux::hypervisor;
use crate::machine::linux::sysfs::Tree;

/// What the reason depends on besides the error.
struct Circumstances {
    paranoid: Option<i64>,
    virtual_machine: bool,
}

/// The reason for an error of `perf_event_open` (its man page lists them).
pub(super) fn of(error: &io::Error, kind: CounterKind, in_kernel: bool) -> String {
    let root = Tree::new(Path::new("/"));
    let circumstances = Circumstances {
        paranoid: root.number("proc/sys/kernel/perf_event_paranoid"),
        virtual_machine: hypervisor::detect(&root).name.is_some(),
    };
    explain(error, kind, in_kernel, &circumstances)
}

fn explain(error: &io::Error, kind: CounterKind, in_kernel: bool, at: &Circumstances) -> String {
    let Some(code) = error.raw_os_error() else { return error.to_string() };
    let no_event = || match (kind, at.virtual_machine) {
        (CounterKind::Hardware, true) => "no hardware PMU in this virtual machine".to_owned(),
        (CounterKind::Hardware, false) => {
            "this processor has no such event, or the kernel no driver for it".to_owned()
        }
        (CounterKind::Software, _) => "this kernel has no such event".to_owned(),
    };
    // The level from which on an unprivileged process is refused: 2 for what happens in the kernel, and 3, a
    // distribution's addition, for everything (Linux `Documentation/admin-guide/sysctl/kernel.rst`; Debian's patch).
    let refused_from = if in_kernel { 2 } else { 3 };
    let refused = || match at.paranoid {
        Some(level) if level >= refused_from => format!(
            "perf_event_paranoid is {level} (counting this takes {} or less, or CAP_PERFMON)",
            refused_from - 1
        ),
        Some(level) => format!(
            "refused although perf_event_paranoid is {level} (a container's seccomp filter or a security module)"
        ),
        None => "refused (a container's seccomp filter or a security module)".to_owned(),
    };
    match code {
        libc::ENOENT => format!("ENOENT: {}", no_event()),
        libc::ENODEV => format!("ENODEV: {}", no_event()),
        libc::EOPNOTSUPP => format!("EOPNOTSUPP: {}", no_event()),
        libc::EACCES => format!("EACCES: {}", refused()),
        libc::EPERM => format!("EPERM: {}", refused()),
        libc::ENOSYS => "ENOSYS: this kernel or a seccomp filter has no perf_event_open".to_owned(),
        libc::EBUSY => "EBUSY: another program has the PMU to itself".to_owned(),
        libc::EMFILE => "EMFILE: too many open files".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(
        code: i32,
        kind: CounterKind,
        in_kernel: bool,
        paranoid: Option<i64>,
        virtual_machine: bool,
    ) -> String {
        let at = Circumstances { paranoid, virtual_machine };
        explain(&io::Error::from_raw_os_error(code), kind, in_kernel, &at)
    }

    #[test]
    fn each_error_has_its_reason() {
        use CounterKind::{Hardware, Software};
        let vm = "ENOENT: no hardware PMU in this virtual machine";
        assert_eq!(reason(libc::ENOENT, Hardware, false, Some(2), true), vm);
        assert!(reason(libc::ENOENT, Hardware, false, Some(2), false).contains("this processor"));
        assert!(
            reason(libc::EACCES, Hardware, false, Some(3), false)
                .starts_with("EACCES: perf_event_paranoid is 3")
        );
        assert!(reason(libc::EACCES, Software, true, Some(2), false).contains("takes 1 or less"));
        let seccomp = reason(libc::EPERM, Software, false, Some(2), false);
        assert!(seccomp.starts_with("EPERM: refused although") && seccomp.contains("seccomp"), "{seccomp}");
        assert!(reason(libc::ENOSYS, Software, false, None, false).starts_with("ENOSYS:"));
        assert!(reason(libc::EINTR, Software, false, None, false).contains(&libc::EINTR.to_string()));
    }
}
