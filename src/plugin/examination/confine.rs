//! Bounds for a process that is about to run code that nobody vouches for.

/// The most private memory, in bytes: enough for any plugin, and not all that the machine has.
#[cfg(target_os = "linux")]
const MOST_MEMORY: u64 = 4 << 30;

/// No core files, no more than so much memory, and no longer life than the parent's. What the system doesn't grant is done
/// without: the time limit is the parent's to keep.
#[cfg(target_os = "linux")]
pub fn confine() {
    use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = setrlimit(Resource::Data, Rlimit { current: Some(MOST_MEMORY), maximum: Some(MOST_MEMORY) });
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// As above: here only the parent's time limit.
#[cfg(not(target_os = "linux"))]
pub fn confine() {}
