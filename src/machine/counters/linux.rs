//! Counters through perf events.

use std::io;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter, Group};

use super::{CounterKind, CounterStatus, Reading, reason, scaled};

/// What is counted. The order is that of the statuses and readings.
#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    kind: CounterKind,
    /// Whether the kernel counts it while in kernel mode: a switch and a migration happen nowhere else, so that
    /// leaving the kernel out would always read zero.
    in_kernel: bool,
    builder: fn() -> Builder<'static>,
}

const fn hardware(name: &'static str, builder: fn() -> Builder<'static>) -> Known {
    Known { name, kind: CounterKind::Hardware, in_kernel: false, builder }
}

const fn software(name: &'static str, in_kernel: bool, builder: fn() -> Builder<'static>) -> Known {
    Known { name, kind: CounterKind::Software, in_kernel, builder }
}

const TASK_CLOCK: &str = "task_clock";

const EVENTS: [Known; super::KNOWN.len()] = [
    hardware("cycles", || Builder::new(Hardware::CPU_CYCLES)),
    hardware("instructions", || Builder::new(Hardware::INSTRUCTIONS)),
    hardware("l1i_misses", || {
        Builder::new(Cache { which: CacheId::L1I, operation: CacheOp::READ, result: CacheResult::MISS })
    }),
    hardware("branch_misses", || Builder::new(Hardware::BRANCH_MISSES)),
    hardware("branches", || Builder::new(Hardware::BRANCH_INSTRUCTIONS)),
    hardware("l1d_misses", || {
        Builder::new(Cache { which: CacheId::L1D, operation: CacheOp::READ, result: CacheResult::MISS })
    }),
    hardware("ll_misses", || {
        Builder::new(Cache { which: CacheId::LL, operation: CacheOp::READ, result: CacheResult::MISS })
    }),
    software("context_switches", true, || Builder::new(Software::CONTEXT_SWITCHES)),
    software("page_faults", false, || Builder::new(Software::PAGE_FAULTS)),
    software("cpu_migrations", true, || Builder::new(Software::CPU_MIGRATIONS)),
    software(TASK_CLOCK, false, || Builder::new(Software::TASK_CLOCK)),
];

impl Known {
    fn builder(&self) -> Builder<'static> {
        let mut builder = (self.builder)();
        builder.exclude_kernel(!self.in_kernel);
        builder
    }
}

pub(super) fn available() -> Vec<CounterStatus> {
    let status = |known: &Known| {
        let reason =
            known.builder().build().err().map(|error| reason::of(&error, known.kind, known.in_kernel));
        CounterStatus { name: known.name, kind: known.kind, available: reason.is_none(), reason }
    };
    EVENTS.iter().map(status).collect()
}

/// Values and times of a group at one moment.
#[derive(Clone)]
struct Snapshot {
    values: Vec<u64>,
    enabled_ns: u64,
    running_ns: u64,
}

/// Counters that are scheduled together.
struct Together {
    group: Group,
    members: Vec<(&'static str, Counter)>,
    /// As of the last `start`. Differences are taken instead of resetting, because a reset leaves the times alone.
    begun: Option<Snapshot>,
}

impl Together {
    fn open(kind: CounterKind, wanted: &dyn Fn(&str) -> bool) -> Option<Together> {
        let mut group = Group::new().ok()?;
        let mut members = Vec::new();
        for known in EVENTS.iter().filter(|known| known.kind == kind && wanted(known.name)) {
            // One that can't be had, or no longer fits into the PMU beside the others, leaves the others alone.
            members.extend(group.add(&known.builder()).ok().map(|counter| (known.name, counter)));
        }
        (!members.is_empty()).then_some(Together { group, members, begun: None })
    }

    fn snapshot(&mut self) -> io::Result<Snapshot> {
        let data = self.group.read()?;
        let missing = || io::Error::other("the kernel left a counter of the group out");
        let enabled_ns = data.time_enabled().ok_or_else(missing)?.as_nanos() as u64;
        let running_ns = data.time_running().ok_or_else(missing)?.as_nanos() as u64;
        let value = |(name, counter): &(&'static str, Counter)| match *name {
            // The event's own count stands still from enabling until the kernel's next tick or switch (seen on Linux
            // 6.18: up to 4 ms missing), while the group's time on the CPU is the same quantity and exact.
            TASK_CLOCK => Some(running_ns),
            _ => data.get(counter).map(|entry| entry.value()),
        };
        let values = self.members.iter().map(value).collect::<Option<_>>().ok_or_else(missing)?;
        Ok(Snapshot { values, enabled_ns, running_ns })
    }

    fn start(&mut self) {
        self.begun = self.snapshot().ok().filter(|_| self.group.enable().is_ok());
    }

    fn stop(&mut self) -> Vec<Reading> {
        let stopped = self.group.disable();
        let ended = stopped.and_then(|()| self.snapshot()).ok();
        let region = self.begun.take().zip(ended);
        let reading = |(i, (name, _)): (usize, &(&'static str, Counter))| {
            let (value, running_share) = region.as_ref().map_or((None, 0.0), |(begun, ended)| {
                scaled(
                    ended.values[i].wrapping_sub(begun.values[i]),
                    ended.enabled_ns.saturating_sub(begun.enabled_ns),
                    ended.running_ns.saturating_sub(begun.running_ns),
                )
            });
            Reading { name, value, running_share }
        };
        self.members.iter().enumerate().map(reading).collect()
    }
}

/// The processor's group and the kernel's, whichever exist.
pub(super) struct Groups(Vec<Together>);

impl Groups {
    pub(super) fn open(wanted: &dyn Fn(&str) -> bool) -> Groups {
        let kinds = [CounterKind::Hardware, CounterKind::Software];
        Groups(kinds.into_iter().filter_map(|kind| Together::open(kind, wanted)).collect())
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.0.iter().flat_map(|group| group.members.iter().map(|(name, _)| *name)).collect()
    }

    pub(super) fn start(&mut self) {
        // The processor's group comes first in the list and is started last, so that it counts less of the others'
        // system calls.
        self.0.iter_mut().rev().for_each(Together::start);
    }

    pub(super) fn stop(&mut self) -> Vec<Reading> {
        self.0.iter_mut().flat_map(Together::stop).collect()
    }
}
