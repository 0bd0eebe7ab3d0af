//! How much memory this process may still take.
//!
//! Linux grants what it doesn't have and kills whoever touches it (`vm.overcommit_memory`, proc_sys_vm(5)), so large
//! buffers are compared with what is available before they are made.

use crate::{Error, Result};

/// Bytes available, as the kernel estimates them, or fewer where a control group or a limit on the address space
/// allows fewer; `None` where this system doesn't say.
pub fn available_bytes() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return linux::available_bytes();
    #[cfg(not(target_os = "linux"))]
    None
}

/// Up to this many bytes are taken without asking how much memory there is: asking takes 0.2 ms, and what is as small as
/// this fits or fails at once.
const NOT_ASKED_BYTES: usize = 1 << 20;

/// Refuses `count` items of `item_bytes` that wouldn't fit into what is available now.
///
/// # Errors
/// [`Error::OutOfMemory`], naming `what`.
pub fn room_for(what: &str, count: usize, item_bytes: usize) -> Result<()> {
    let small = count.saturating_mul(item_bytes) <= NOT_ASKED_BYTES;
    check(what, count, item_bytes, if small { None } else { available_bytes() })
}

/// An empty vector with room for `count` items, refused before anything is allocated where they wouldn't fit.
///
/// # Errors
/// [`Error::OutOfMemory`], naming `what`.
pub fn reserve<T>(what: &str, count: usize) -> Result<Vec<T>> {
    room_for(what, count, size_of::<T>())?;
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| refusal(what, count * size_of::<T>()))?;
    Ok(items)
}

/// What to say where the system refused `bytes` bytes; tells how many there are.
pub fn refusal(what: &str, bytes: usize) -> Error {
    Error::OutOfMemory {
        what: what.to_owned(),
        needed_bytes: bytes as u64,
        available_bytes: available_bytes().unwrap_or(0),
    }
}

/// Refuses `count` items of `item_bytes` where `available` bytes aren't enough for them; where that isn't known, only
/// what no address space could hold.
///
/// # Errors
/// [`Error::OutOfMemory`], naming `what`.
pub fn check(what: &str, count: usize, item_bytes: usize, available: Option<u64>) -> Result<()> {
    let needed_bytes = u64::try_from(count as u128 * item_bytes as u128).unwrap_or(u64::MAX);
    // Beyond isize::MAX no allocation can exist, whatever the system says.
    let available_bytes = available.unwrap_or(u64::MAX).min(isize::MAX as u64);
    if needed_bytes <= available_bytes {
        return Ok(());
    }
    Err(Error::OutOfMemory { what: what.to_owned(), needed_bytes, available_bytes })
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::read_to_string;
    use std::path::{Path, PathBuf};

    pub(super) fn available_bytes() -> Option<u64> {
        let meminfo = read_to_string("/proc/meminfo").ok().and_then(|text| mem_available(&text));
        let groups = read_to_string("/proc/self/cgroup").ok();
        let allowed = groups.and_then(|text| group_available(&text, Path::new("/sys/fs/cgroup")));
        [meminfo, allowed, address_space_left()].into_iter().flatten().min()
    }

    /// What `ulimit -v` leaves, where it is set.
    fn address_space_left() -> Option<u64> {
        let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
        let pages: u64 = read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
        Some(limit.saturating_sub(pages * rustix::param::page_size() as u64))
    }

    /// `MemAvailable` in bytes; proc(5): "an estimate of how much memory is available for starting new
    /// applications, without swapping".
    pub(super) fn mem_available(meminfo: &str) -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    }

    /// The least that any control group above this process still allows (version 2, and version 1's memory
    /// controller). Inside a container the group's own path may not be mounted; its ancestors are then what counts.
    pub(super) fn group_available(groups: &str, root: &Path) -> Option<u64> {
        let mut least: Option<u64> = None;
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let (top, limit, used) = if controllers.is_empty() {
                (root.to_path_buf(), "memory.max", "memory.current")
            } else if controllers.split(',').any(|name| name == "memory") {
                (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            } else {
                continue;
            };
            let mut group: PathBuf = top.join(path.trim_start_matches('/'));
            while group.starts_with(&top) {
                least = least.into_iter().chain(left_in(&group, limit, used)).min();
                if !group.pop() {
                    break;
                }
            }
        }
        least
    }

    /// Limit less use, where file pages that the kernel would drop first don't count as used. `max` is no limit.
    fn left_in(group: &Path, limit: &str, used: &str) -> Option<u64> {
        let number = |name: &str| read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
        let limit = number(limit)?;
        let droppable = read_to_string(group.join("memory.stat")).ok().and_then(|text| {
            let value = text.lines().find_map(|line| line.strip_prefix("inactive_file "))?;
            value.trim().parse::<u64>().ok()
        });
        let used = number(used)?.saturating_sub(droppable.unwrap_or(0));
        Some(limit.saturating_sub(used))
    }

    #[cfg(test)]
    mod tests {
        use std::fs::{create_dir_all, write};

        use super::*;

        #[test]
        fn reads_meminfo() {
            let text = "MemTotal:  8000 kB\nMemFree:  10 kB\nMemAvailable:    4000 kB\n";
            assert_eq!(mem_available(text), Some(4_096_000));
            assert_eq!(mem_available("MemTotal: 8000 kB\n"), None);
            assert_eq!(mem_available("MemAvailable: many kB\n"), None);
        }

        #[test]
        fn the_tightest_group_counts() {
            let root = std::env::temp_dir().join(format!("nanokata-groups-{}", std::process::id()));
            let inner = root.join("a/b");
            create_dir_all(&inner).unwrap();
            write(inner.join("memory.max"), "max\n").unwrap();
            write(inner.join("memory.current"), "10\n").unwrap();
            write(root.join("a/memory.max"), "1000\n").unwrap();
            write(root.join("a/memory.current"), "700\n").unwrap();
            write(root.join("a/memory.stat"), "active_file 5\ninactive_file 100\n").unwrap();
            assert_eq!(group_available("0::/a/b\n", &root), Some(400));
            assert_eq!(group_available("0::/elsewhere\n", &root), None);
            assert_eq!(group_available("not a group line\n", &root), None);
            std::fs::remove_dir_all(&root).unwrap();
        }

        #[test]
        fn this_system_says() {
            assert!(available_bytes().is_some_and(|bytes| bytes > 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn just_enough_is_enough() {
        assert!(check("packets", 10, 32, Some(320)).is_ok());
        let refused = check("packets", 10, 32, Some(319)).unwrap_err().to_string();
        assert!(refused.contains("320") && refused.contains("319"), "{refused}");
    }

    #[test]
    fn room_is_refused_before_it_is_taken() {
        let reserved: Vec<u32> = reserve("numbers", 100_000_000 / 4096).unwrap();
        assert!(reserved.is_empty() && reserved.capacity() >= 100_000_000 / 4096);
        for refused in
            [room_for("numbers", 1 << 50, 32).unwrap_err(), reserve::<u64>("numbers", 1 << 55).unwrap_err()]
        {
            assert!(matches!(refused, Error::OutOfMemory { ref what, .. } if what == "numbers"), "{refused}");
        }
    }

    #[test]
    fn counts_past_any_address_space_are_refused_even_where_nothing_is_known() {
        assert!(matches!(
            check("packets", usize::MAX, 32, None),
            Err(Error::OutOfMemory { needed_bytes: u64::MAX, .. })
        ));
    }
}
