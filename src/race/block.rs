//! One block: arms built anew at fresh addresses, settled, then measured in balanced rounds.

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::arm::{Arm, Checksum, Settle, Window};
use super::experiment::{Entry, Plan};
use super::options::Options;
use super::placement::{CODE_COPIES, Placement};
use super::report::Disturbances;
use super::schedule::Order;
use super::station::Station;
use super::statistics::median;
use super::watch::Watch;
use crate::machine::{Clock, ThreadUsage, affinity, canary};
use crate::{Error, Result};

/// Dependent adds in a canary around each round: some 1.5 µs at 3 GHz.
const CANARY_ADDS: u32 = 4096;

/// How the input is cut into reps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizing {
    /// Operations in a window.
    pub window: usize,
    /// Windows in the input.
    pub windows: usize,
    /// How often a rep replays its window; more than once only where the input is shorter than a rep.
    pub laps: usize,
    /// Rounds of each order in a block.
    pub rounds_per_order: usize,
}

impl Sizing {
    pub fn operations_per_rep(&self) -> usize {
        self.window * self.laps
    }

    pub fn at(&self, index: usize) -> Window {
        Window { first: index % self.windows * self.window, count: self.window }
    }
}

/// What a block gives, one entry an arm.
pub(super) struct Estimate {
    /// Nanoseconds an operation: mean over orders of the median in that order.
    pub ns: Vec<f64>,
    /// Log of the time ratio to the arm that each is compared with; 0 for the baseline.
    pub log_ratio: Vec<f64>,
    /// Least nanoseconds an operation of any rep.
    pub min_ns: Vec<f64>,
    /// First window after the build over the median, as a ratio of times.
    pub cold: Vec<f64>,
    /// Median canary frequency in GHz, where there is a canary.
    pub ghz: Option<f64>,
    /// Rounds that count.
    pub rounds: usize,
    /// Shortest rep, in nanoseconds.
    pub shortest_ns: f64,
}

/// Measures blocks of one plan on the current, pinned, thread.
pub(super) struct Bench<'a> {
    pub plan: &'a Plan,
    pub options: &'a Options,
    pub watch: &'a Watch,
    pub station: &'a Station,
    pub orders: Vec<Vec<usize>>,
    /// For each arm, the arm that its ratio is to.
    pub against: Vec<usize>,
    /// For each arm, the checksum of each window.
    pub expected: Vec<Vec<Checksum>>,
    pub seen: Disturbances,
    pub frequencies: Vec<f64>,
}

/// Layouts for `count` arms, drawn so that no two share one as long as there are enough.
fn drawn_apart(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let mut layouts: Vec<usize> =
        (0..count.next_multiple_of(CODE_COPIES)).map(|at| at % CODE_COPIES).collect();
    for eight in layouts.chunks_mut(CODE_COPIES) {
        eight.shuffle(random);
    }
    layouts.truncate(count);
    layouts
}

/// The timed region: the same machine code for every arm, nothing in it but the clock and the call.
#[inline(never)]
fn timed(
    arm: &mut Arm,
    window: Window,
    laps: usize,
    expected: Checksum,
    clock: Clock,
) -> (u64, Checksum, u64) {
    let mut last = Checksum::EMPTY;
    let mut wrong = 0;
    let start = clock.now_ns();
    for _ in 0..laps {
        last = arm.run(window);
        wrong |= last.0 ^ expected.0;
    }
    let end = clock.now_ns();
    (end.saturating_sub(start), last, wrong)
}

impl Bench<'_> {
    /// Builds all arms in a drawn order, so that no arm always gets the first address.
    pub fn build(&self, block: u64) -> Result<(Vec<Arm>, Placement)> {
        // SplitMix64's increment spreads consecutive blocks over the seed space.
        let seed = self.options.seed ^ block.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut placement = Placement::new(seed).with_crew(self.station.crew());
        let input = self.plan.source.place(&mut placement)?;
        let mut order: Vec<usize> = (0..self.plan.entries.len()).collect();
        order.shuffle(placement.random());
        let mut arms: Vec<Option<Arm>> = self.plan.entries.iter().map(|_| None).collect();
        for at in order {
            arms[at] = Some(self.plan.entries[at].recipe.build(&input, &mut placement)?);
        }
        Ok((arms.into_iter().map(|arm| arm.expect("each was built")).collect(), placement))
    }

    fn entry(&self, arm: usize) -> &Entry {
        &self.plan.entries[arm]
    }

    /// Runs one window of one arm and insists on its checksum. Returns nanoseconds.
    fn rep(&self, arms: &mut [Arm], at: usize, sizing: &Sizing, index: usize) -> Result<u64> {
        let window = sizing.at(index);
        let expected = self.expected[at][index % sizing.windows];
        let (ns, got, wrong) = timed(&mut arms[at], window, sizing.laps, expected, self.options.clock);
        if wrong != 0 {
            return Err(Error::ChecksumMismatch {
                arm: self.entry(at).name.clone(),
                got: got.0,
                expected: expected.0,
                expected_by: "the reference".into(),
                first: window.first,
                count: window.count,
            });
        }
        Ok(ns)
    }

    /// Measures one block; `None` if the machine left no order with an undisturbed round.
    pub fn measure(&mut self, block: u64, sizing: &Sizing) -> Result<Option<Estimate>> {
        let (mut arms, mut placement) = self.build(block)?;
        let count = arms.len();
        let mut index = placement.random().random_range(0..sizing.windows);
        let mut cold = vec![0.0; count];
        for (at, first) in cold.iter_mut().enumerate() {
            let windows = match self.entry(at).recipe.settle() {
                Settle::Window => 1,
                Settle::Pass => sizing.windows,
            };
            for step in 0..windows {
                let ns = self.rep(&mut arms, at, sizing, index + step)?;
                if step == 0 {
                    *first = ns as f64;
                }
                if step % 16 == 0 {
                    self.watch.check()?;
                }
            }
        }
        let rounds = self.orders.len() * sizing.rounds_per_order;
        // times[arm][order]: nanoseconds of each round that counts.
        let mut times = vec![vec![Vec::with_capacity(sizing.rounds_per_order); self.orders.len()]; count];
        let mut frequencies = Vec::with_capacity(rounds);
        let mut redo_left = rounds.max(4);
        let mut counted = 0;
        let mut shortest_ns = f64::INFINITY;
        let mut taken = vec![0; count];
        // Each arm starts at a layout of its own and takes the next one every few rounds, so that within a block all
        // of them are used about equally often and what code placement does cancels instead of widening the interval.
        let first_layout: Vec<usize> = drawn_apart(count, placement.random());
        for round in 0..rounds {
            let order_index = round % self.orders.len();
            let step = round * CODE_COPIES / rounds.max(CODE_COPIES);
            for (arm, first) in arms.iter_mut().zip(&first_layout) {
                arm.use_layout(first + step);
            }
            loop {
                self.watch.check()?;
                let ghz = canary::frequency_ghz(self.options.clock, CANARY_ADDS);
                let undisturbed = match self.options.order {
                    Order::Balanced => self.round(&mut arms, order_index, sizing, index, &mut taken)?,
                    Order::ArmMajor => true,
                };
                if undisturbed {
                    frequencies.extend(ghz);
                    break;
                }
                if redo_left == 0 {
                    self.seen.rounds_dropped += 1;
                    taken.fill(0);
                    break;
                }
                redo_left -= 1;
                self.seen.rounds_redone += 1;
            }
            index += 1;
            if self.options.order == Order::Balanced && taken[0] > 0 {
                counted += 1;
                for (at, &ns) in taken.iter().enumerate() {
                    times[at][order_index].push(ns as f64);
                    shortest_ns = shortest_ns.min(ns as f64);
                }
            }
        }
        if self.options.order == Order::ArmMajor {
            counted = rounds;
            for (at, of_arm) in times.iter_mut().enumerate() {
                for round in 0..rounds {
                    self.watch.check()?;
                    let ns = self.rep(&mut arms, at, sizing, index + round)? as f64;
                    of_arm[round % self.orders.len()].push(ns);
                    shortest_ns = shortest_ns.min(ns);
                }
            }
        }
        self.frequencies.extend(&frequencies);
        if times[0].iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let operations = sizing.operations_per_rep() as f64;
        let orders = self.orders.len() as f64;
        let mean_of_medians = |per_order: &mut dyn Iterator<Item = Vec<f64>>| {
            per_order.map(|mut values| median(&mut values)).sum::<f64>() / orders
        };
        let ns: Vec<f64> =
            times.iter().map(|arm| mean_of_medians(&mut arm.iter().cloned()) / operations).collect();
        let log_ratio = (0..count)
            .map(|at| {
                let base = &times[self.against[at]];
                let logs = times[at].iter().zip(base);
                mean_of_medians(&mut logs.map(|(own, other)| {
                    own.iter().zip(other).map(|(own, other)| (own / other).ln()).collect()
                }))
            })
            .collect();
        let min_ns =
            times.iter().map(|arm| arm.iter().flatten().copied().fold(f64::INFINITY, f64::min) / operations);
        Ok(Some(Estimate {
            min_ns: min_ns.collect(),
            cold: cold.iter().zip(&ns).map(|(cold, ns)| cold / (ns * operations)).collect(),
            ns,
            log_ratio,
            ghz: (!frequencies.is_empty()).then(|| median(&mut frequencies)),
            rounds: counted,
            shortest_ns,
        }))
    }

    /// One rep an arm in one order. False if a side channel saw a disturbance: then the whole round is void.
    ///
    /// A rep's own duration never decides: throwing away slow reps would bias what is left.
    fn round(
        &mut self,
        arms: &mut [Arm],
        order_index: usize,
        sizing: &Sizing,
        index: usize,
        taken: &mut [u64],
    ) -> Result<bool> {
        let cpu = self.station.cpu();
        let waited_before = self.station.waited_ns();
        let mut undisturbed = true;
        for position in 0..arms.len() {
            let at = self.orders[order_index][position];
            let before = ThreadUsage::now();
            let cpu_before = affinity::current_cpu();
            let ns = self.rep(arms, at, sizing, index)?;
            let cpu_after = affinity::current_cpu();
            let after = ThreadUsage::now();
            // A zero would read as "not taken"; a clock that coarse fails its own check anyway.
            taken[at] = ns.max(1);
            if let (Ok(before), Ok(after)) = (before, after) {
                let since = after.since(&before);
                let switches = since.involuntary_switches;
                let faults = since.minor_faults + since.major_faults;
                self.seen.involuntary_switches += switches;
                self.seen.page_faults += faults;
                undisturbed &= switches == 0 && faults == 0;
            }
            let moved =
                cpu_before != cpu_after || cpu.is_some_and(|cpu| cpu_after.is_some_and(|at| at != cpu));
            self.seen.migrations += u64::from(moved);
            undisturbed &= !moved;
        }
        if let (Some(before), Some(after)) = (waited_before, self.station.waited_ns()) {
            self.seen.waited_ns += after.saturating_sub(before);
            undisturbed &= after <= before;
        }
        Ok(undisturbed)
    }
}
