//! Trees of machines that aren't at hand, written as the kernel writes them.

use super::*;
use crate::machine::{CacheKind, CoreType};

/// A root with files in it, gone when dropped.
struct Fixture(tempfile::TempDir);

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let fixture = Fixture(tempfile::tempdir().expect("a directory for a fixture"));
        files.iter().for_each(|(path, text)| fixture.write(path, text));
        fixture
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }

    fn core(&self, cpu: usize, siblings: &str) {
        let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        self.write(&format!("{topology}/core_cpus_list"), siblings);
        self.write(&format!("{topology}/physical_package_id"), "0");
    }

    fn cache(&self, cpu: usize, index: usize, level: u8, kind: &str, size: &str, shared: &str) {
        let directory = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
        for (file, text) in [
            ("level", level.to_string().as_str()),
            ("type", kind),
            ("size", size),
            ("coherency_line_size", "64"),
            ("ways_of_associativity", "8"),
            ("number_of_sets", "64"),
            ("shared_cpu_list", shared),
        ] {
            self.write(&format!("{directory}/{file}"), text);
        }
    }

    fn card(&self) -> Card {
        read_from(self.0.path())
    }
}

/// Two fast cores with SMT (0–3) and a cluster of two thrifty ones (4–5), on bare metal.
fn hybrid_intel() -> Fixture {
    let fixture = Fixture::new(&[
        (
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 183\n\
             model name\t: 13th Gen Intel(R) Core(TM) i9-13980HX\nstepping\t: 1\nflags\t\t: fpu vme sse2",
        ),
        ("sys/devices/system/cpu/online", "0-5"),
        ("sys/devices/cpu_core/cpus", "0-3"),
        ("sys/devices/cpu_atom/cpus", "4-5"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
        ("proc/sys/kernel/osrelease", "6.8.0-41-generic"),
        ("etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\""),
        (
            "proc/meminfo",
            "MemTotal:       32000000 kB\nMemFree:         1000000 kB\nMemAvailable:   16000000 kB",
        ),
        ("sys/devices/system/node/online", "0-1"),
        ("sys/devices/system/node/node0/cpulist", "0-5"),
        ("sys/devices/system/node/node1/cpulist", ""),
    ]);
    for cpu in 0..6 {
        let own = cpu.to_string();
        let core = if cpu < 4 { ["0-1", "2-3"][cpu / 2] } else { &own };
        fixture.core(cpu, core);
        let (l1d, l1i, l2, l2_shared) =
            if cpu < 4 { ("48K", "32K", "2048K", core) } else { ("32K", "64K", "4096K", "4-5") };
        fixture.cache(cpu, 0, 1, "Data", l1d, core);
        fixture.cache(cpu, 1, 1, "Instruction", l1i, core);
        fixture.cache(cpu, 2, 2, "Unified", l2, l2_shared);
        fixture.cache(cpu, 3, 3, "Unified", "36864K", "0-5");
        let governor = if cpu < 4 { "performance" } else { "powersave" };
        fixture.write(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"), governor);
    }
    fixture
}

#[test]
fn a_hybrid_intel() {
    let card = hybrid_intel().card();
    assert_eq!(card.cpu.model.as_deref(), Some("13th Gen Intel(R) Core(TM) i9-13980HX"));
    assert_eq!(card.cpu.signature.as_deref(), Some("family 6 model 183 stepping 1"));
    assert_eq!(card.topology.physical_cores(), 4);
    assert_eq!(card.topology.siblings(2), [3]);
    assert_eq!([0, 3, 4, 5].map(|cpu| card.topology.core_type(cpu)), {
        use CoreType::{Efficiency as E, Performance as P};
        [P, P, E, E]
    });
    assert_eq!(card.topology.by_preference(&card.allowed_cpus), [2, 3, 1, 0, 4, 5]);
    assert_eq!((card.l1d_bytes(), card.l1i_bytes()), (Some(48 << 10), Some(32 << 10)));
    assert_eq!((card.l2_bytes(), card.l3_bytes()), (Some(2 << 20), Some(36 << 20)));
    assert_eq!(card.cache_of(Some(5), 1, CacheKind::Instruction).map(|cache| cache.bytes), Some(64 << 10));
    let count = |level| card.caches.iter().filter(|cache| cache.level == level).count();
    assert_eq!((count(1), count(2), count(3)), (8, 3, 1), "each instance once");
    assert_eq!(card.governor.as_deref(), Some("performance,powersave"));
    assert_eq!(card.turbo, Some(false));
    assert_eq!(card.huge_pages.as_deref(), Some("always"));
    assert_eq!(card.os.as_deref(), Some("Ubuntu 24.04.1 LTS"));
    assert_eq!(card.memory.total_bytes, Some(32_000_000 * 1024));
    assert_eq!(card.memory.available_bytes, Some(16_000_000 * 1024));
    assert_eq!(
        card.numa_nodes,
        [NumaNode { id: 0, cpus: vec![0, 1, 2, 3, 4, 5] }],
        "memory alone is no place to run"
    );
    assert_eq!(card.hypervisor, None);
    assert!(card.unknown.is_empty(), "{:?}", card.unknown);
}

#[test]
fn siblings_that_are_switched_off_are_no_siblings() {
    let fixture = hybrid_intel();
    fixture.write("sys/devices/system/cpu/online", "0,2-5");
    let card = fixture.card();
    assert!(card.topology.siblings(0).is_empty());
    assert_eq!(card.topology.physical_cores(), 4);
}

#[test]
fn a_big_little_arm() {
    let fixture = Fixture::new(&[
        (
            "proc/cpuinfo",
            "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nprocessor\t: 2\nCPU implementer\t: 0x41\n\
             CPU part\t: 0xd0b",
        ),
        ("sys/devices/system/cpu/online", "0-4"),
    ]);
    for (cpu, capacity) in [(0, "380"), (1, "380"), (2, "871"), (3, "871"), (4, "1024")] {
        fixture.core(cpu, &cpu.to_string());
        fixture.write(&format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), capacity);
    }
    let card = fixture.card();
    let kinds: Vec<_> = (0..5).map(|cpu| card.topology.core_type(cpu)).collect();
    use CoreType::{Efficiency as E, Performance as P};
    assert_eq!(kinds, [E, E, P, P, P]);
    assert_eq!(card.topology.by_preference(&[0, 1, 2, 3, 4])[0], 2);
    assert_eq!(card.topology.cores[4].capacity, Some(1024));
    assert_eq!(card.cpu.vendor.as_deref(), Some("Arm"));
    assert_eq!(card.cpu.model.as_deref(), Some("Arm part 0xd05, 0xd0b"));
    assert!(card.unknown["hypervisor"].contains("no flag"), "silence proves nothing without a flag");
    assert!(card.unknown.contains_key("caches"));
}

#[test]
fn equal_capacities_are_one_kind() {
    let fixture = Fixture::new(&[("sys/devices/system/cpu/online", "0-1")]);
    for cpu in 0..2 {
        fixture.core(cpu, &cpu.to_string());
        fixture.write(&format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), "1024");
    }
    assert!(fixture.card().topology.cores.iter().all(|core| core.core_type == CoreType::Uniform));
}

#[test]
fn a_virtual_machine_that_hides_its_caches() {
    let fixture = Fixture::new(&[
        (
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: QEMU Virtual CPU\nflags\t: fpu hypervisor\n\nprocessor\t: 1",
        ),
        ("sys/class/dmi/id/sys_vendor", "QEMU"),
    ]);
    let card = fixture.card();
    assert_eq!(card.hypervisor.as_deref(), Some("QEMU"));
    assert_eq!(card.online_cpus, [0, 1], "from cpuinfo, without /sys");
    assert_eq!(card.topology.physical_cores(), 2);
    assert!(card.topology.cores.iter().all(|core| core.core_type == CoreType::Unknown));
    assert_eq!((card.l1d_bytes(), card.l3_bytes()), (None, None));
    assert!([64, 128, 256].contains(&card.line_bytes()), "the architecture's usual line");
    for field in
        ["caches", "cores", "governor", "turbo", "huge_pages", "clocksource", "kernel", "os", "memory"]
    {
        assert!(card.unknown.contains_key(field), "{field} has no reason: {:?}", card.unknown);
    }
}

#[test]
fn hypervisors_by_their_marks() {
    const FLAG: (&str, &str) = ("proc/cpuinfo", "flags : fpu hypervisor");
    const NO_FLAG: (&str, &str) = ("proc/cpuinfo", "flags : fpu");
    let product = |name| ("sys/class/dmi/id/product_name", name);
    let vendor = |name| ("sys/class/dmi/id/sys_vendor", name);
    let cases = [
        (vec![FLAG], Some("an unnamed hypervisor")),
        (vec![NO_FLAG], None),
        (vec![("sys/hypervisor/type", "xen")], Some("Xen")),
        (vec![("proc/device-tree/hypervisor/compatible", "linux,kvm\0")], Some("KVM")),
        (vec![product("VirtualBox"), FLAG], Some("VirtualBox")),
        (vec![product("Virtual Machine"), vendor("Microsoft Corporation")], Some("HyperV")),
        (vec![product("Surface"), vendor("Microsoft Corporation"), NO_FLAG], None),
        (vec![product("c5.metal"), vendor("Amazon EC2"), NO_FLAG], None),
    ];
    for (files, name) in cases {
        assert_eq!(Fixture::new(&files).card().hypervisor.as_deref(), name, "{files:?}");
    }
}

#[test]
fn a_container_with_a_cpuset_and_a_quota() {
    let fixture = Fixture::new(&[
        ("proc/self/cgroup", "0::/docker/abc"),
        (".dockerenv", ""),
        ("sys/devices/system/cpu/online", "0-7"),
        ("proc/thread-self/status", "Name:\tx\nCpus_allowed:\t28\nCpus_allowed_list:\t3,5"),
        ("sys/fs/cgroup/cpu.max", "150000 100000"),
        ("sys/fs/cgroup/memory.max", "1048576000"),
        ("sys/fs/cgroup/memory.current", "800000000"),
        ("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 300000000\nactive_file 7"),
        ("proc/meminfo", "MemTotal: 32000000 kB\nMemAvailable: 16000000 kB"),
    ]);
    let card = fixture.card();
    assert_eq!(card.allowed_cpus, [3, 5]);
    assert_eq!(card.online_cpus.len(), 8);
    assert_eq!(card.container.cpu_quota, Some(1.5));
    assert_eq!(card.container.memory_limit_bytes, Some(1_048_576_000));
    assert_eq!(card.memory.available_bytes, Some(548_576_000), "cached files are free for the taking");
    assert_eq!(card.container.hints.len(), 2, "{:?}", card.container.hints);
    assert!(card.container.hints[0].contains(".dockerenv"));
    // The tightest of nested groups counts.
    fixture.write("sys/fs/cgroup/docker/cpu.max", "max 100000");
    fixture.write("sys/fs/cgroup/docker/abc/cpu.max", "50000 100000");
    assert_eq!(fixture.card().container.cpu_quota, Some(0.5));
}

#[test]
fn control_groups_of_the_first_version() {
    let fixture = Fixture::new(&[
        ("proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/a"),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
        ("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB"),
    ]);
    let card = fixture.card();
    assert_eq!(
        (card.container.cpu_quota, card.container.memory_limit_bytes),
        (None, None),
        "neither limits anything"
    );
    fixture.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "25000");
    fixture.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
    fixture.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "102400");
    let card = fixture.card();
    assert_eq!((card.container.cpu_quota, card.memory.available_bytes), (Some(0.25), Some(102_400)));
}

#[test]
fn the_windows_subsystem() {
    let release = "5.15.153.1-microsoft-standard-WSL2";
    assert!(Fixture::new(&[("proc/sys/kernel/osrelease", release)]).card().wsl);
    assert!(!Fixture::new(&[("proc/sys/kernel/osrelease", "6.8.0")]).card().wsl);
}

#[test]
fn an_empty_root_still_has_a_card() {
    let card = Fixture::new(&[]).card();
    assert_eq!(card.online_cpus, [0], "something runs this");
    assert_eq!(card.allowed_cpus, [0]);
    assert_eq!(card.topology.physical_cores(), 1);
    assert!(card.caches.is_empty() && card.numa_nodes.is_empty());
}

#[test]
fn nonsense_in_the_files_is_survived() {
    let fixture = hybrid_intel();
    let nonsense = [
        "sys/devices/system/cpu/cpu0/topology/core_cpus_list",
        "sys/devices/system/cpu/cpu1/topology/core_cpus_list",
        "sys/devices/system/cpu/cpu0/cache/index0/size",
        "sys/devices/system/cpu/cpu1/cache/index0/level",
        "sys/devices/system/cpu/intel_pstate/no_turbo",
        "sys/kernel/mm/transparent_hugepage/enabled",
        "sys/devices/cpu_core/cpus",
        "proc/meminfo",
    ];
    nonsense.iter().for_each(|path| fixture.write(path, "9-1,x"));
    let card = fixture.card();
    assert_eq!((card.turbo, card.huge_pages.as_ref(), card.memory.total_bytes), (None, None, None));
    assert_eq!(card.topology.physical_cores(), 5, "0 and 1 stand alone");
    assert_eq!(card.caches.iter().filter(|cache| cache.level == 1).count(), 7, "one L1d is left out");
}

#[test]
fn this_machines_files_agree_with_its_system_calls() {
    let card = read_from(Path::new("/"));
    assert_eq!(card.allowed_cpus, crate::machine::allowed_cpus().unwrap());
    let threads: usize = card.topology.cores.iter().map(|core| core.cpus.len()).sum();
    assert_eq!(threads, card.online_cpus.len(), "each CPU is in exactly one core");
    let usable = std::thread::available_parallelism().unwrap().get();
    assert!(usable <= card.online_cpus.len());
}
