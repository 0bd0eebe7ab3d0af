use super::*;
use crate::machine::Core;

fn cache(level: u8, kind: CacheKind, kib: usize, cpus: &[usize]) -> Cache {
    Cache { level, kind, bytes: kib << 10, line_bytes: None, ways: None, sets: None, cpus: cpus.to_vec() }
}

/// CPUs 0–1 are one fast core, 2 a slow one; each has its own L1d, and all share the L2.
fn hybrid() -> Card {
    let core =
        |cpus: &[usize], core_type| Core { cpus: cpus.to_vec(), core_type, package: None, capacity: None };
    Card {
        online_cpus: vec![0, 1, 2],
        allowed_cpus: vec![0, 1, 2],
        topology: Topology {
            cores: vec![core(&[0, 1], CoreType::Performance), core(&[2], CoreType::Efficiency)],
        },
        caches: vec![
            cache(1, CacheKind::Data, 48, &[0, 1]),
            cache(1, CacheKind::Data, 32, &[2]),
            cache(2, CacheKind::Unified, 2048, &[0, 1, 2]),
        ],
        ..Card::blank()
    }
}

#[test]
fn this_machine_has_a_card() {
    let card = Card::read();
    assert!(!card.online_cpus.is_empty());
    assert!(card.allowed_cpus.iter().all(|cpu| card.online_cpus.contains(cpu)), "{card:?}");
    assert!(card.page_bytes.is_power_of_two());
    assert!(card.line_bytes().is_power_of_two());
    assert_eq!(card.build, BuildInfo::current());
    assert!(card.build.rustc.starts_with("rustc ") && !card.build.target.is_empty(), "{:?}", card.build);
    let json = serde_json::to_value(&card).unwrap();
    for field in ["cpu", "cores", "caches", "page_bytes", "hypervisor", "memory", "build", "unknown"] {
        assert!(json.get(field).is_some(), "{field} is missing from {json}");
    }
}

#[test]
fn what_is_not_known_has_a_reason() {
    let card = Card::read();
    let json = serde_json::to_value(&card).unwrap();
    for field in ["huge_pages", "governor", "turbo", "kernel", "os", "clocksource"] {
        assert_eq!(json[field].is_null(), card.unknown.contains_key(field), "{field}: {}", json[field]);
    }
    assert!(card.unknown.values().all(|reason| !reason.is_empty()));
}

#[test]
fn sizes_are_those_of_the_core_to_measure_on() {
    let mut card = hybrid();
    assert_eq!(card.l1d_bytes(), Some(48 << 10));
    assert_eq!(card.l2_bytes(), Some(2 << 20), "a unified cache holds data");
    assert_eq!((card.l1i_bytes(), card.l3_bytes()), (None, None));
    card.allowed_cpus = vec![2];
    assert_eq!(card.l1d_bytes(), Some(32 << 10), "confined to the slow core, its cache counts");
    card.caches = vec![cache(1, CacheKind::Data, 16, &[])];
    assert_eq!(card.l1d_bytes(), Some(16 << 10), "sizes without CPUs, as CPUID gives them, still count");
    card.caches[0].cpus = vec![0];
    assert_eq!(card.l1d_bytes(), None, "but not those of another core");
}

#[test]
fn the_line_is_the_caches_or_the_usual() {
    let mut card = hybrid();
    let usual = card.line_bytes();
    card.caches[0].line_bytes = Some(2 * usual);
    assert_eq!(card.line_bytes(), 2 * usual);
}

#[test]
fn who_shares_a_cache() {
    let card = hybrid();
    assert_eq!(card.shares_cache(1, 0, 1), Some(true));
    assert_eq!(card.shares_cache(1, 0, 2), Some(false));
    assert_eq!(card.shares_cache(2, 0, 2), Some(true));
    assert_eq!(card.shares_cache(3, 0, 2), None);
    assert!(card.is_hybrid());
}

#[test]
fn the_machines_name_is_the_machines_alone() {
    let card = hybrid();
    let id = card.id();
    assert!(id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
    assert_eq!(Card::read().id(), Card::read().id());

    let mut same = card.clone();
    same.allowed_cpus = vec![2];
    same.memory.available_bytes = Some(1);
    same.kernel = Some("7.0".into());
    same.governor = Some("performance".into());
    same.build.rustc = "rustc 9.9.9";
    assert_eq!(same.id(), id);
    assert_ne!(same.build_id(), card.build_id());

    let changes: [fn(&mut Card); 6] = [
        |card| card.cpu.model = Some("another".into()),
        |card| card.cpu.signature = Some("family 6".into()),
        |card| card.hypervisor = Some("KVM".into()),
        |card| card.caches[0].bytes *= 2,
        |card| drop(card.topology.cores.pop()),
        |card| card.topology.cores[0].core_type = CoreType::Efficiency,
    ];
    for change in changes {
        let mut other = card.clone();
        change(&mut other);
        assert_ne!(other.id(), id, "{other:?}");
        assert_eq!(other.build_id(), card.build_id());
    }
}

#[test]
fn a_debug_build_is_known_as_one() {
    let mut card = hybrid();
    assert_eq!(card.build.debug_assertions, cfg!(debug_assertions));
    card.build.debug_assertions = true;
    assert!(card.is_debug_build());
    card.build.debug_assertions = false;
    card.build.opt_level = "0";
    assert!(card.is_debug_build(), "unoptimised");
    card.build.opt_level = "3";
    assert!(!card.is_debug_build());
}

#[test]
fn a_virtual_cpu_may_still_be_moved() {
    let mut card = hybrid();
    assert_eq!(card.pinning_caveat(), None);
    card.hypervisor = Some("KVM".into());
    assert!(card.pinning_caveat().unwrap().contains("KVM"));
    card.wsl = true;
    assert!(card.pinning_caveat().unwrap().contains("Windows"));
}
