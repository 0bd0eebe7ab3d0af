//! Cores, SMT siblings and core types.

use super::Tree;
use crate::machine::card::Card;
use crate::machine::{Core, CoreType, Topology};

pub(super) fn read(tree: &Tree, card: &mut Card) {
    let mut cores: Vec<Core> = Vec::new();
    let mut placed = std::collections::HashSet::new();
    let mut untold = false;
    for &cpu in &card.online_cpus {
        if placed.contains(&cpu) {
            continue;
        }
        let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        // The second is the name before Linux 5.4.
        let told = ["core_cpus_list", "thread_siblings_list"]
            .into_iter()
            .find_map(|file| tree.cpu_list(&format!("{topology}/{file}")));
        untold |= told.is_none();
        let mut cpus = told.unwrap_or_default();
        // Siblings that were switched off are listed by some kernels; a file that leaves its own CPU out is wrong.
        cpus.retain(|sibling| card.online_cpus.contains(sibling) && !placed.contains(sibling));
        if !cpus.contains(&cpu) {
            cpus = vec![cpu];
        }
        placed.extend(cpus.iter().copied());
        cores.push(Core {
            core_type: CoreType::Unknown,
            package: tree.number(&format!("{topology}/physical_package_id")),
            capacity: tree.number(&format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity")),
            cpus,
        });
    }
    if untold {
        card.unknown.insert("cores", "no topology files: each CPU is taken for a core".into());
    } else {
        set_types(tree, &mut cores);
    }
    card.topology = Topology { cores };
}

/// Intel's hybrid processors have one PMU a kind of core, whose device lists its CPUs; Arm's have capacities.
fn set_types(tree: &Tree, cores: &mut [Core]) {
    let performance = tree.cpu_list("sys/devices/cpu_core/cpus").unwrap_or_default();
    // `cpu_lowpower` are the cores on the SoC tile (Linux 6.13 and later).
    let efficiency: Vec<usize> = ["sys/devices/cpu_atom/cpus", "sys/devices/cpu_lowpower/cpus"]
        .into_iter()
        .flat_map(|file| tree.cpu_list(file).unwrap_or_default())
        .collect();
    if !performance.is_empty() && !efficiency.is_empty() {
        for core in cores {
            core.core_type = match core.cpus[0] {
                cpu if performance.contains(&cpu) => CoreType::Performance,
                cpu if efficiency.contains(&cpu) => CoreType::Efficiency,
                _ => CoreType::Unknown,
            };
        }
        return;
    }
    let capacities: Option<Vec<usize>> = cores.iter().map(|core| core.capacity).collect();
    let range = capacities.as_ref().and_then(|all| Some((*all.iter().min()?, *all.iter().max()?)));
    match range {
        // No sign of several kinds: only Arm and hybrid x86 publish capacities at all.
        None => cores.iter_mut().for_each(|core| core.core_type = CoreType::Uniform),
        Some((low, high)) if low == high => {
            cores.iter_mut().for_each(|core| core.core_type = CoreType::Uniform)
        }
        // Arm's LITTLE cores lie at 160–460 of 1,024 in the kernel's device trees (A53, A55, A510); its middle cores
        // at 700 and more. Half separates them.
        Some((_, high)) => {
            for core in cores {
                let fast = core.capacity.is_some_and(|capacity| 2 * capacity >= high);
                core.core_type = if fast { CoreType::Performance } else { CoreType::Efficiency };
            }
        }
    }
}
