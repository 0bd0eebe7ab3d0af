//! The card on Linux, from `/proc` and `/sys`.
//!
//! Everything is read relative to a root, so that tests read trees of machines that aren't at hand. Formats: Linux
//! `Documentation/ABI/testing/sysfs-devices-system-cpu`, `proc(5)`, `cgroups(7)`.

mod caches;
mod cores;
mod cpu;
mod group;
pub(super) mod hypervisor;
mod settings;
pub(super) mod sysfs;

use std::path::Path;

use super::card::{Card, NumaNode};
use sysfs::Tree;

/// The card of this machine.
pub(super) fn read() -> Card {
    let mut card = read_from(Path::new("/"));
    // The calling thread's own mask; /proc tells it too, but may be hidden.
    if let Ok(allowed) = super::allowed_cpus() {
        card.allowed_cpus = allowed;
        card.unknown.remove("allowed_cpus");
    }
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if card.caches.is_empty() {
        card.caches = super::cpuid::caches();
        if !card.caches.is_empty() {
            card.unknown.insert(
                "caches",
                "sizes from CPUID: the kernel lists none, so who shares them isn't known".into(),
            );
        }
    }
    card
}

/// The card that the files under `root` tell.
pub(super) fn read_from(root: &Path) -> Card {
    let tree = Tree::new(root);
    let mut card = Card::blank();
    card.online_cpus = online(&tree);
    card.allowed_cpus = status_list(&tree, "Cpus_allowed_list:").unwrap_or_else(|| card.online_cpus.clone());
    card.isolated_cpus = tree.cpu_list("sys/devices/system/cpu/isolated").unwrap_or_default();
    cpu::read(&tree, &mut card);
    cores::read(&tree, &mut card);
    caches::read(&tree, &mut card);
    card.numa_nodes = numa_nodes(&tree);
    if card.numa_nodes.is_empty() {
        card.unknown.insert("numa_nodes", "the kernel lists none (built without NUMA)".into());
    }
    settings::read(&tree, &mut card);
    let seen = hypervisor::detect(&tree);
    card.hypervisor = seen.name;
    if let Some(reason) = seen.doubt {
        card.unknown.insert("hypervisor", reason);
    }
    group::read(&tree, &mut card);
    card
}

fn online(tree: &Tree) -> Vec<usize> {
    let listed = tree.cpu_list("sys/devices/system/cpu/online").filter(|cpus| !cpus.is_empty());
    listed.unwrap_or_else(|| {
        // Without /sys the processors that /proc/cpuinfo lists, and at the least the one that runs this.
        let cpus: Vec<usize> = cpu::processors(tree).collect();
        if cpus.is_empty() { vec![0] } else { cpus }
    })
}

/// A CPU list from the thread's status file.
fn status_list(tree: &Tree, field: &str) -> Option<Vec<usize>> {
    let status = tree.text("proc/thread-self/status").or_else(|| tree.text("proc/self/status"))?;
    let list = status.lines().find_map(|line| line.strip_prefix(field))?;
    super::parse_cpu_list(list).ok().filter(|cpus| !cpus.is_empty())
}

fn numa_nodes(tree: &Tree) -> Vec<NumaNode> {
    let nodes = tree.cpu_list("sys/devices/system/node/online").unwrap_or_default();
    let node = |id| {
        let cpus = tree.cpu_list(&format!("sys/devices/system/node/node{id}/cpulist"))?;
        // Nodes of memory alone (persistent, CXL) aren't places to run.
        (!cpus.is_empty()).then_some(NumaNode { id, cpus })
    };
    nodes.into_iter().filter_map(node).collect()
}

#[cfg(test)]
mod tests;
