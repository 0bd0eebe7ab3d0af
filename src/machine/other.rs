//! The card on systems that aren't examined further.

use super::card::Card;

/// What the standard library and the processor itself tell.
pub(super) fn read() -> Card {
    let mut card = Card::blank();
    card.os = Some(std::env::consts::OS.into());
    card.online_cpus = (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    card.allowed_cpus = card.online_cpus.clone();
    let reason = || format!("not read on {}", std::env::consts::OS);
    for field in ["cores", "numa_nodes", "huge_pages", "governor", "turbo", "kernel", "clocksource", "memory"]
    {
        card.unknown.insert(field, reason());
    }
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        card.cpu.model = super::cpuid::model();
        card.cpu.vendor = super::cpuid::vendor();
        card.caches = super::cpuid::caches();
        card.hypervisor = super::cpuid::hypervisor();
    }
    if card.caches.is_empty() {
        card.unknown.insert("caches", reason());
    }
    card
}
