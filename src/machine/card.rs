//! The machine card: what a result has to say about where it was measured.

use std::collections::BTreeMap;

use serde::Serialize;

use super::fingerprint::Fingerprint;
use super::{BuildInfo, Cache, CacheKind, CoreType, Topology};

#[cfg(target_os = "linux")]
use super::linux as platform;
#[cfg(target_os = "macos")]
use super::macos as platform;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use super::other as platform;

/// The processor's names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// Its marketing name, or on Arm the parts that it is made of.
    pub model: Option<String>,
    /// Who made it: `AuthenticAMD`, `GenuineIntel`, `Arm`, …
    pub vendor: Option<String>,
    /// The instruction set that this code was compiled for: `x86_64`, `aarch64`, …
    pub architecture: &'static str,
    /// Family, model and stepping, or the Arm part numbers: what the marketing name hides in a virtual machine.
    pub signature: Option<String>,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NumaNode {
    /// Its number.
    pub id: usize,
    /// Its CPUs, ascending.
    pub cpus: Vec<usize>,
}

/// Main memory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Installed, or given to the virtual machine.
    pub total_bytes: Option<u64>,
    /// What a program could still take without swapping or hitting its control group's limit.
    pub available_bytes: Option<u64>,
}

/// Signs that the process is confined.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Container {
    /// What was seen: a marker file, a runtime's name in the control group's path.
    pub hints: Vec<String>,
    /// CPUs' worth of time a period that the control group may use; past it every thread is stopped until the next.
    pub cpu_quota: Option<f64>,
    /// The control group's memory limit.
    pub memory_limit_bytes: Option<u64>,
}

/// Everything about the machine, its system and this build that a figure may depend on.
///
/// A field that can't be read is `None` or empty, and [`Card::unknown`] says why.
#[derive(Debug, Clone, Serialize)]
pub struct Card {
    /// The processor.
    pub cpu: Cpu,
    /// Logical CPUs that are online, ascending.
    pub online_cpus: Vec<usize>,
    /// Those that the calling thread may run on when the card is read.
    pub allowed_cpus: Vec<usize>,
    /// Those that the scheduler leaves alone (`isolcpus`).
    pub isolated_cpus: Vec<usize>,
    /// The physical cores.
    #[serde(rename = "cores")]
    pub topology: Topology,
    /// The caches, each instance once.
    pub caches: Vec<Cache>,
    /// The NUMA nodes that have CPUs.
    pub numa_nodes: Vec<NumaNode>,
    /// The size of a page.
    pub page_bytes: usize,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Option<String>,
    /// The frequency governor; several with commas if CPUs differ.
    pub governor: Option<String>,
    /// Whether the processor may run above its base frequency.
    pub turbo: Option<bool>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The operating system's name.
    pub os: Option<String>,
    /// The hypervisor's name; `None` if there is no sign of one.
    pub hypervisor: Option<String>,
    /// Signs of a container.
    pub container: Container,
    /// Whether this is the Windows Subsystem for Linux.
    pub wsl: bool,
    /// What the kernel's clock is made from.
    pub clocksource: Option<String>,
    /// Main memory.
    pub memory: Memory,
    /// The build that is running.
    pub build: BuildInfo,
    /// Why a field above is `None` or empty, by the field's name.
    pub unknown: BTreeMap<&'static str, String>,
}

impl Card {
    /// Reads the card of this machine. Never fails, and takes a few milliseconds.
    pub fn read() -> Card {
        platform::read()
    }

    /// A card on which nothing is known yet.
    pub(crate) fn blank() -> Card {
        Card {
            cpu: Cpu { architecture: std::env::consts::ARCH, ..Cpu::default() },
            online_cpus: Vec::new(),
            allowed_cpus: Vec::new(),
            isolated_cpus: Vec::new(),
            topology: Topology::default(),
            caches: Vec::new(),
            numa_nodes: Vec::new(),
            page_bytes: page_bytes(),
            huge_pages: None,
            governor: None,
            turbo: None,
            kernel: None,
            os: None,
            hypervisor: None,
            container: Container::default(),
            wsl: false,
            clocksource: None,
            memory: Memory::default(),
            build: BuildInfo::current(),
            unknown: BTreeMap::new(),
        }
    }

    /// The machine's name: sixteen hexadecimal digits over the processor, cores, caches, memory nodes and hypervisor.
    /// The same for every build, after a reboot and under any affinity mask; not a serial number: machines of one make
    /// share it. Holds no host name.
    pub fn id(&self) -> String {
        let mut name = Fingerprint::new();
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        name.fact(text(&self.cpu.model)).fact(text(&self.cpu.vendor)).fact(text(&self.cpu.signature));
        name.fact(self.cpu.architecture).fact(text(&self.hypervisor)).fact(self.numa_nodes.len());
        for core in &self.topology.cores {
            name.fact(core.cpus.len()).fact(format_args!("{:?}", core.core_type));
        }
        for cache in &self.caches {
            name.fact(cache.level)
                .fact(format_args!("{:?}", cache.kind))
                .fact(cache.bytes)
                .fact(cache.cpus.len());
        }
        name.name()
    }

    /// The build's name: changes with the compiler, profile, target, version and commit, never with the machine.
    pub fn build_id(&self) -> String {
        let build = &self.build;
        let mut name = Fingerprint::new();
        for fact in [build.version, build.rustc, build.profile, build.opt_level, build.target, build.git] {
            name.fact(fact);
        }
        name.fact(build.debug_assertions).name()
    }

    /// The L1 instruction cache of the core to measure on (see [`Card::cache`]).
    pub fn l1i_bytes(&self) -> Option<usize> {
        self.cache(1, CacheKind::Instruction).map(|cache| cache.bytes)
    }

    /// Its L1 data cache.
    pub fn l1d_bytes(&self) -> Option<usize> {
        self.cache(1, CacheKind::Data).map(|cache| cache.bytes)
    }

    /// Its L2.
    pub fn l2_bytes(&self) -> Option<usize> {
        self.cache(2, CacheKind::Data).map(|cache| cache.bytes)
    }

    /// Its L3.
    pub fn l3_bytes(&self) -> Option<usize> {
        self.cache(3, CacheKind::Data).map(|cache| cache.bytes)
    }

    /// The cache of a level that holds `kind` (unified caches hold both), of the CPU that would be measured on: the best
    /// of the allowed ones, whose caches aren't those of a hybrid machine's other cores.
    pub fn cache(&self, level: u8, kind: CacheKind) -> Option<&Cache> {
        let cpu = self.topology.by_preference(&self.allowed_cpus).first().copied();
        self.cache_of(cpu, level, kind)
    }

    /// The same for a CPU of choice; any instance of that level if it isn't known which CPUs use which, or `cpu` is `None`.
    pub fn cache_of(&self, cpu: Option<usize>, level: u8, kind: CacheKind) -> Option<&Cache> {
        let candidates =
            || self.caches.iter().filter(move |cache| cache.level == level && cache.serves(kind));
        let placed = |cache: &&Cache| cpu.is_some_and(|cpu| cache.cpus.contains(&cpu));
        let unplaced = |cache: &&Cache| cpu.is_none() || cache.cpus.is_empty();
        candidates().find(placed).or_else(|| candidates().find(unplaced))
    }

    /// The L1 data cache's line, and where that isn't known the architecture's usual one.
    pub fn line_bytes(&self) -> usize {
        // crossbeam-utils 0.8, `CachePadded`: Apple's and other AArch64 cores have lines of up to 128 bytes, s390x of
        // 256; 64 on x86 (there padded to 128 for the adjacent-line prefetcher, which isn't the line).
        const USUAL: usize = match () {
            () if cfg!(all(target_arch = "aarch64", target_vendor = "apple")) => 128,
            () if cfg!(any(target_arch = "powerpc64")) => 128,
            () if cfg!(target_arch = "s390x") => 256,
            () => 64,
        };
        self.cache(1, CacheKind::Data).and_then(|cache| cache.line_bytes).unwrap_or(USUAL)
    }

    /// Whether two CPUs share a cache of that level; `None` where the system doesn't tell.
    pub fn shares_cache(&self, level: u8, a: usize, b: usize) -> Option<bool> {
        let cache = self
            .caches
            .iter()
            .find(|cache| cache.level == level && cache.serves(CacheKind::Data) && cache.cpus.contains(&a))?;
        Some(cache.cpus.contains(&b))
    }

    /// Whether this build has debug assertions or wasn't optimised: its figures aren't published.
    pub fn is_debug_build(&self) -> bool {
        self.build.debug_assertions || self.build.opt_level == "0"
    }

    /// Why an honoured pin isn't the whole story here, if so: under a hypervisor the host may still move the virtual CPU.
    pub fn pinning_caveat(&self) -> Option<String> {
        if self.wsl {
            return Some("under WSL the Windows host may still move the virtual CPU".into());
        }
        let host = self.hypervisor.as_ref()?;
        Some(format!("under {host} the host may still move the virtual CPU"))
    }

    /// Whether the machine has cores of several kinds.
    pub fn is_hybrid(&self) -> bool {
        self.topology.cores.iter().any(|core| core.core_type == CoreType::Efficiency)
    }
}

#[cfg(unix)]
fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Windows has 4 KiB pages on x86-64 and Arm64 (Microsoft, `SYSTEM_INFO`).
#[cfg(not(unix))]
fn page_bytes() -> usize {
    4096
}

#[cfg(test)]
mod tests;
