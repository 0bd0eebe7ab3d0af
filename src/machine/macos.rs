//! The card on macOS, through `sysctlbyname(3)`.

use std::ffi::CString;

use super::card::Card;
use super::{Cache, CacheKind, Core, CoreType, Topology};

/// Names are those of `sysctl -a`; `hw.perflevel0` is the fastest kind of core (Apple, "Determining system
/// capabilities").
pub(super) fn read() -> Card {
    let mut card = Card::blank();
    let cpus = number("hw.logicalcpu").unwrap_or(1) as usize;
    card.cpu.model = text("machdep.cpu.brand_string");
    card.cpu.vendor = text("machdep.cpu.vendor").or_else(|| Some("Apple".into()));
    card.online_cpus = (0..cpus).collect();
    card.allowed_cpus = card.online_cpus.clone();
    card.topology = topology(cpus);
    card.caches = caches();
    card.kernel = text("kern.osrelease");
    card.os = text("kern.osproductversion").map(|version| format!("macOS {version}"));
    card.hypervisor = number("kern.hv_vmm_present").filter(|&present| present != 0).map(|_| "Apple's".into());
    card.memory.total_bytes = number("hw.memsize");
    for field in ["numa_nodes", "huge_pages", "governor", "turbo", "clocksource", "available_bytes"] {
        card.unknown.insert(field, "macOS doesn't tell".into());
    }
    if card.caches.is_empty() {
        card.unknown.insert("caches", "no hw.*cachesize".into());
    }
    card
}

/// Which CPU number is which core isn't told: the counts are right, the numbers are in the order of the levels, slowest
/// first, as the kernel numbers clusters on Apple's processors.
fn topology(cpus: usize) -> Topology {
    let levels = number("hw.nperflevels").unwrap_or(1).max(1);
    let threads_a_core = match number("hw.physicalcpu") {
        Some(cores) if cores > 0 => cpus.div_ceil(cores as usize),
        _ => 1,
    };
    let mut kinds = Vec::new();
    for level in (0..levels).rev() {
        let core_type = match level {
            _ if levels == 1 => CoreType::Uniform,
            0 => CoreType::Performance,
            _ => CoreType::Efficiency,
        };
        let count = number(&format!("hw.perflevel{level}.logicalcpu")).unwrap_or(cpus as u64) as usize;
        kinds.extend(std::iter::repeat_n(core_type, count));
    }
    let mut cores = Vec::new();
    for first in (0..cpus).step_by(threads_a_core) {
        cores.push(Core {
            cpus: (first..cpus.min(first + threads_a_core)).collect(),
            core_type: kinds.get(first).copied().unwrap_or(CoreType::Unknown),
            package: None,
            capacity: None,
        });
    }
    Topology { cores }
}

/// Those of the fastest kind of core, and the machine's where there is one kind.
fn caches() -> Vec<Cache> {
    let line_bytes = number("hw.cachelinesize").map(|bytes| bytes as usize);
    let cache = |(level, kind, name): (u8, CacheKind, &str)| {
        let bytes = number(&format!("hw.perflevel0.{name}")).or_else(|| number(&format!("hw.{name}")))?;
        let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0)?;
        Some(Cache { level, kind, bytes, line_bytes, ways: None, sets: None, cpus: Vec::new() })
    };
    [
        (1, CacheKind::Data, "l1dcachesize"),
        (1, CacheKind::Instruction, "l1icachesize"),
        (2, CacheKind::Unified, "l2cachesize"),
        (3, CacheKind::Unified, "l3cachesize"),
    ]
    .into_iter()
    .filter_map(cache)
    .collect()
}

/// The raw bytes of a value.
fn value(name: &str) -> Option<Vec<u8>> {
    let name = CString::new(name).ok()?;
    // Longer than any value that is asked for here.
    let mut bytes = vec![0u8; 256];
    let mut length = bytes.len();
    // SAFETY: the name is NUL-terminated; the buffer is as long as `length` says; nothing is written to the kernel.
    let status = unsafe {
        libc::sysctlbyname(name.as_ptr(), bytes.as_mut_ptr().cast(), &mut length, std::ptr::null_mut(), 0)
    };
    bytes.truncate(length);
    (status == 0).then_some(bytes)
}

fn text(name: &str) -> Option<String> {
    let bytes = value(name)?;
    let text = String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Values are 4 or 8 bytes long, depending on the name.
fn number(name: &str) -> Option<u64> {
    let bytes = value(name)?;
    match bytes.len() {
        4 => Some(u64::from(u32::from_ne_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}
