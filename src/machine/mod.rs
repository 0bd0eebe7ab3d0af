//! The machine: what it is, where a thread runs, what time and noise look like.
//!
//! The lowest layer: knows nothing of races. Platform code lies in leaf files; what a platform doesn't give is `None` or
//! [`Unavailable`], with the reason.

pub mod affinity;
mod build_info;
mod cache;
pub mod canary;
mod card;
mod clock;
pub mod counters;
pub mod cpu_list;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod cpuid;
mod fingerprint;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
pub mod memory;
pub mod noise;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod other;
mod priority;
pub mod timestamp;
mod topology;
mod unavailable;

pub use affinity::{Pin, Pinning, PinningError, allowed_cpus, current_cpu, default_cpu, default_cpus};
pub use build_info::BuildInfo;
pub use cache::{Cache, CacheKind};
pub use canary::{WarmUp, frequency_ghz, warm_up};
pub use card::{Card, Container, Cpu, Memory, NumaNode};
pub use clock::Clock;
pub use counters::{CounterKind, CounterStatus, Counters, Reading};
pub use cpu_list::{CpuListError, format_cpu_list, parse_cpu_list};
pub use noise::{RunDelay, StealClock, ThreadUsage};
pub use priority::Priority;
pub use timestamp::{OperationClock, TimestampCounter};
pub use topology::{Core, CoreType, Topology};
pub use unavailable::Unavailable;
