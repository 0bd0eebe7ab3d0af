//! What somebody has set: frequency, pages, clock; and what system it is.

use std::collections::BTreeSet;

use super::Tree;
use crate::machine::card::Card;

const CPU: &str = "sys/devices/system/cpu";

pub(super) fn read(tree: &Tree, card: &mut Card) {
    card.governor = governor(tree, &card.online_cpus);
    card.turbo = turbo(tree);
    card.huge_pages = tree.text("sys/kernel/mm/transparent_hugepage/enabled").as_deref().and_then(chosen);
    card.clocksource = tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource");
    card.kernel = tree.text("proc/sys/kernel/osrelease");
    card.os = os(tree);
    card.wsl = card.kernel.as_ref().is_some_and(|release| release.to_ascii_lowercase().contains("microsoft"));
    let mut explain = |missing: bool, field, reason: &str| {
        if missing {
            card.unknown.insert(field, reason.to_owned());
        }
    };
    explain(
        card.governor.is_none(),
        "governor",
        "no cpufreq driver: the host or the firmware sets the frequency",
    );
    explain(card.turbo.is_none(), "turbo", "no cpufreq driver that tells");
    explain(card.huge_pages.is_none(), "huge_pages", "the kernel is built without transparent huge pages");
    explain(card.clocksource.is_none(), "clocksource", "/sys doesn't tell");
    explain(card.kernel.is_none(), "kernel", "/proc/sys/kernel/osrelease can't be read");
    explain(card.os.is_none(), "os", "there is no os-release file");
}

fn governor(tree: &Tree, cpus: &[usize]) -> Option<String> {
    let file = |cpu: &usize| tree.text(&format!("{CPU}/cpu{cpu}/cpufreq/scaling_governor"));
    let governors: BTreeSet<String> = cpus.iter().filter_map(file).collect();
    (!governors.is_empty()).then(|| governors.into_iter().collect::<Vec<_>>().join(","))
}

/// Intel's driver says whether it is forbidden, the others whether it is allowed.
fn turbo(tree: &Tree) -> Option<bool> {
    match tree.number::<u8>(&format!("{CPU}/intel_pstate/no_turbo")) {
        Some(forbidden) => Some(forbidden == 0),
        None => tree.number::<u8>(&format!("{CPU}/cpufreq/boost")).map(|allowed| allowed != 0),
    }
}

/// The bracketed word of `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn os(tree: &Tree) -> Option<String> {
    // The second is where distributions put it; the first is usually a link there (os-release(5)).
    let text = tree.text("etc/os-release").or_else(|| tree.text("usr/lib/os-release"))?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = name.trim_matches(|c| c == '"' || c == '\'').to_owned();
    (!name.is_empty()).then_some(name)
}
