//! Memory, and what a control group or container takes of the machine.

use super::Tree;
use crate::machine::card::Card;

pub(super) fn read(tree: &Tree, card: &mut Card) {
    let directories = Directories::of(tree);
    let container = &mut card.container;
    container.hints = hints(tree);
    container.cpu_quota = directories.cpu_quota(tree);
    let limit = directories.memory(tree);
    let total = meminfo(tree, "MemTotal:");
    // A limit past the memory limits nothing: version 1 writes a huge number where there is none.
    let limit = limit.filter(|(limit, _)| total.is_none_or(|total| *limit < total));
    container.memory_limit_bytes = limit.map(|(limit, _)| limit);
    let left = limit.map(|(limit, used)| limit.saturating_sub(used));
    card.memory.total_bytes = total;
    card.memory.available_bytes = match (meminfo(tree, "MemAvailable:"), left) {
        (Some(free), Some(left)) => Some(free.min(left)),
        (free, left) => free.or(left),
    };
    if card.memory.total_bytes.is_none() {
        card.unknown.insert("memory", "/proc/meminfo can't be read".into());
    }
}

/// A line of `/proc/meminfo`, in bytes.
fn meminfo(tree: &Tree, field: &str) -> Option<u64> {
    let text = tree.text("proc/meminfo")?;
    let value = text.lines().find_map(|line| line.strip_prefix(field))?;
    // Always kB, and meaning KiB (proc_meminfo(5)).
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn hints(tree: &Tree) -> Vec<String> {
    let mut hints = Vec::new();
    for (file, runtime) in [(".dockerenv", "Docker"), ("run/.containerenv", "Podman")] {
        if tree.exists(file) {
            hints.push(format!("{runtime}: /{file} exists"));
        }
    }
    let groups = tree.text("proc/self/cgroup").unwrap_or_default();
    for runtime in ["docker", "containerd", "kubepods", "libpod", "lxc"] {
        if groups.contains(runtime) {
            hints.push(format!("the control group's path contains {runtime}"));
        }
    }
    hints
}

/// Where the process's limits lie: its group's directories, from itself up to the root, since each may limit.
struct Directories {
    unified: Vec<String>,
    cpu: Vec<String>,
    memory: Vec<String>,
}

impl Directories {
    /// From `/proc/self/cgroup`, whose lines are `id:controllers:path` (cgroups(7)).
    fn of(tree: &Tree) -> Directories {
        let text = tree.text("proc/self/cgroup").unwrap_or_default();
        let path_of = |wanted: &str| {
            text.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':');
                let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
                controllers.split(',').any(|controller| controller == wanted).then(|| path.to_owned())
            })
        };
        let ancestors = |mount: &str, path: Option<String>| {
            let path = path.unwrap_or_default();
            // In a container the path may be the host's, and only the root of the mount its own.
            let mut all = vec![mount.to_owned()];
            let mut here = mount.to_owned();
            for part in path.split('/').filter(|part| !part.is_empty() && *part != "..") {
                here = format!("{here}/{part}");
                all.push(here.clone());
            }
            all
        };
        Directories {
            unified: ancestors("sys/fs/cgroup", path_of("")),
            cpu: ancestors("sys/fs/cgroup/cpu", path_of("cpu")),
            memory: ancestors("sys/fs/cgroup/memory", path_of("memory")),
        }
    }

    /// The tightest quota, in CPUs.
    fn cpu_quota(&self, tree: &Tree) -> Option<f64> {
        // `max 100000` or `150000 100000`.
        let second = self.unified.iter().filter_map(|directory| {
            let text = tree.text(&format!("{directory}/cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            Some((quota.parse().ok()?, period.parse().ok()?))
        });
        // −1 where there is none.
        let first = self.cpu.iter().filter_map(|directory| {
            let number = |file: &str| tree.number::<f64>(&format!("{directory}/{file}"));
            Some((number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?))
        });
        let quotas = second.chain(first).filter(|&(quota, period): &(f64, f64)| quota > 0.0 && period > 0.0);
        quotas.map(|(quota, period)| quota / period).min_by(f64::total_cmp)
    }

    /// The limit that leaves the least, and what is used of it.
    fn memory(&self, tree: &Tree) -> Option<(u64, u64)> {
        let pair = |directory: &String, limit: &str, used: &str| {
            let number = |file: &str| tree.number::<u64>(&format!("{directory}/{file}"));
            // `max` is no number, and no limit.
            let used = number(used).unwrap_or(0);
            Some((number(limit)?, used.saturating_sub(reclaimable(tree, directory))))
        };
        let second = self.unified.iter().filter_map(|d| pair(d, "memory.max", "memory.current"));
        let first =
            self.memory.iter().filter_map(|d| pair(d, "memory.limit_in_bytes", "memory.usage_in_bytes"));
        second.chain(first).min_by_key(|(limit, used)| limit.saturating_sub(*used))
    }
}

/// Cached files that the kernel drops before it refuses memory: counted as used, but free for the taking.
fn reclaimable(tree: &Tree, directory: &str) -> u64 {
    let stat = tree.text(&format!("{directory}/memory.stat")).unwrap_or_default();
    // Version 1 counts a group's own and, with the prefix, its children's too.
    let field = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    field("total_inactive_file ").or_else(|| field("inactive_file ")).unwrap_or(0)
}
