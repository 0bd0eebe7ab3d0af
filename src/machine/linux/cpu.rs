//! The processor's names, from `/proc/cpuinfo`.

use std::collections::BTreeSet;

use super::Tree;
use crate::machine::card::Card;

pub(super) fn read(tree: &Tree, card: &mut Card) {
    let Some(info) = tree.text("proc/cpuinfo") else {
        card.unknown.insert("cpu", "/proc/cpuinfo can't be read".into());
        return;
    };
    let first = |name: &str| fields(&info, name).next().map(str::to_owned);
    card.cpu.vendor = first("vendor_id");
    card.cpu.model = first("model name").filter(|name| name != "unknown").or_else(|| first("uarch"));
    if let (Some(family), Some(model), Some(stepping)) =
        (first("cpu family"), first("model"), first("stepping"))
    {
        card.cpu.signature = Some(format!("family {family} model {model} stepping {stepping}"));
    }
    if let Some(implementer) = first("CPU implementer") {
        read_arm(&info, &implementer, card);
    }
    if card.cpu.model.is_none() {
        card.unknown.insert("cpu", "/proc/cpuinfo names no model".into());
    }
}

/// Arm gives numbers, one part a kind of core.
fn read_arm(info: &str, implementer: &str, card: &mut Card) {
    // Linux `arch/arm64/include/asm/cputype.h`, `ARM_CPU_IMP_*`.
    let vendor = match implementer.to_ascii_lowercase().as_str() {
        "0x41" => "Arm",
        "0x42" => "Broadcom",
        "0x43" => "Cavium",
        "0x46" => "Fujitsu",
        "0x48" => "HiSilicon",
        "0x4e" => "NVIDIA",
        "0x51" => "Qualcomm",
        "0x53" => "Samsung",
        "0x61" => "Apple",
        "0x6d" => "Microsoft",
        "0xc0" => "Ampere",
        _ => implementer,
    };
    let parts: BTreeSet<&str> = fields(info, "CPU part").collect();
    let parts = parts.into_iter().collect::<Vec<_>>().join(", ");
    card.cpu.vendor.get_or_insert_with(|| vendor.to_owned());
    card.cpu.model.get_or_insert_with(|| format!("{vendor} part {parts}"));
    card.cpu.signature.get_or_insert_with(|| format!("implementer {implementer} part {parts}"));
}

/// The values of a field, one a processor that has it.
fn fields<'a>(info: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    info.lines().filter_map(move |line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

/// The processors that are listed.
pub(super) fn processors(tree: &Tree) -> impl Iterator<Item = usize> {
    let info = tree.text("proc/cpuinfo").unwrap_or_default();
    let cpus: Vec<usize> = fields(&info, "processor").filter_map(|cpu| cpu.parse().ok()).collect();
    cpus.into_iter()
}

/// Whether the processor says that it is virtual (x86 flag `hypervisor`); `None` without flags.
pub(super) fn has_hypervisor_flag(tree: &Tree) -> Option<bool> {
    let info = tree.text("proc/cpuinfo")?;
    fields(&info, "flags").next().map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}
