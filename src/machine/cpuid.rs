//! What an x86 processor says about itself, for what the system doesn't tell.

use raw_cpuid::{CacheType, CpuId, Hypervisor};

use super::{Cache, CacheKind};

/// The marketing name (leaf 0x80000002).
#[cfg_attr(target_os = "linux", allow(dead_code))]
pub(super) fn model() -> Option<String> {
    let name = CpuId::new().get_processor_brand_string()?.as_str().trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// The maker (leaf 0).
#[cfg_attr(target_os = "linux", allow(dead_code))]
pub(super) fn vendor() -> Option<String> {
    Some(CpuId::new().get_vendor_info()?.as_str().to_owned())
}

/// The caches of the core that runs this (leaf 4, or 0x8000001D on AMD); which CPUs share them isn't told reliably
/// under hypervisors, and is left empty.
pub(super) fn caches() -> Vec<Cache> {
    let parameters = CpuId::new().get_cache_parameters();
    let cache = |leaf: raw_cpuid::CacheParameter| {
        let kind = match leaf.cache_type() {
            CacheType::Data => CacheKind::Data,
            CacheType::Instruction => CacheKind::Instruction,
            CacheType::Unified => CacheKind::Unified,
            CacheType::Null | CacheType::Reserved => return None,
        };
        let (ways, line, sets) = (leaf.associativity(), leaf.coherency_line_size(), leaf.sets());
        let bytes = ways * leaf.physical_line_partitions() * line * sets;
        Some(Cache {
            level: leaf.level(),
            kind,
            bytes,
            line_bytes: Some(line),
            ways: Some(ways),
            sets: Some(sets),
            cpus: Vec::new(),
        })
    };
    parameters.into_iter().flatten().filter_map(cache).collect()
}

/// Whether the timestamp counter runs at one rate in every power state (leaf 0x80000007).
pub(super) fn invariant_tsc() -> bool {
    CpuId::new().get_advanced_power_mgmt_info().is_some_and(|info| info.has_invariant_tsc())
}

/// Whether there is an RDTSCP (leaf 0x80000001).
pub(super) fn has_rdtscp() -> bool {
    CpuId::new().get_extended_processor_and_feature_identifiers().is_some_and(|info| info.has_rdtscp())
}

/// The hypervisor's name (leaf 0x40000000), if the processor says that there is one.
pub(super) fn hypervisor() -> Option<String> {
    let cpuid = CpuId::new();
    let Some(info) = cpuid.get_hypervisor_info() else {
        let virtual_machine = cpuid.get_feature_info().is_some_and(|features| features.has_hypervisor());
        return virtual_machine.then(|| "an unnamed hypervisor".to_owned());
    };
    Some(match info.identify() {
        Hypervisor::Unknown(ebx, ecx, edx) => {
            let bytes = [ebx, ecx, edx].map(u32::to_le_bytes).concat();
            let name = String::from_utf8_lossy(&bytes);
            name.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned()
        }
        known => format!("{known:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_level_is_there_and_adds_up() {
        for cache in caches() {
            let product = cache.ways.unwrap() * cache.line_bytes.unwrap() * cache.sets.unwrap();
            assert!(cache.bytes > 0 && cache.bytes % product == 0, "{cache:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_agrees_with_the_kernel() {
        use crate::machine::Card;
        let card = Card::read();
        for own in caches() {
            let same = |cache: &&Cache| (cache.level, cache.kind) == (own.level, own.kind);
            if let Some(kernels) = card.caches.iter().find(same).filter(|_| !card.is_hybrid()) {
                assert_eq!(
                    (own.bytes, own.line_bytes, own.ways),
                    (kernels.bytes, kernels.line_bytes, kernels.ways)
                );
            }
        }
        assert_eq!(hypervisor(), card.hypervisor);
    }
}
