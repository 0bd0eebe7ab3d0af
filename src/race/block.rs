//! One block: arms built anew at fresh addresses, settled, then measured in balanced rounds.

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::arm::{Arm, Checksum, Settle, Window};
use super::experiment::{Entry, Plan};
use super::options::Options;
use super::placement::{CODE_COPIES, Placement};
use super::report::Disturbances;
use super::rounds::{Estimate, Extremes, Rounds};
use super::schedule::Order;
use super::sizing::Sizing;
use super::station::Station;

use super::watch::Watch;
use crate::machine::{Clock, ThreadUsage, affinity, canary};
use crate::{Error, Result};

/// Dependent adds in the frequency canary before each round: some 1.5 µs at 3 GHz.
const FREQUENCY_ADDS: u32 = 4096;
/// Independent adds in each look of the width canary between reps: some 1.2 µs on a core that takes four a cycle.
const WIDTH_ADDS: u32 = 16_384;
/// The share of a window that an arm runs, unmeasured, in a new code layout.
const SETTLING_PART: usize = 8;
/// A round is measured again if the core's width changed by more than this within it. A clock's tick of 20 ns is under 2 % of a
/// look; a sibling that starts or stops costs 20 % and more.
const WIDTH_SPREAD: f64 = 0.07;

/// What the side channels say of a round.
enum Round {
    Sound,
    /// Something else ran, memory was mapped, or the thread moved.
    Disturbed,
    /// Another hardware thread of the core started or stopped.
    WidthChanged,
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
pub(super) fn drawn_apart(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<usize> {
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

    /// What reps are timed with.
    pub fn clock(&self) -> Clock {
        self.plan.conditions.clock(self.options)
    }

    fn entry(&self, arm: usize) -> &Entry {
        &self.plan.entries[arm]
    }

    /// Runs one window of one arm and insists on its checksum. Returns nanoseconds.
    pub fn rep(&self, arms: &mut [Arm], at: usize, sizing: &Sizing, index: usize) -> Result<u64> {
        let window = sizing.at(index);
        let expected = self.expected[at][index % sizing.windows];
        arms[at].prepare(window);
        let (ns, got, wrong) = timed(&mut arms[at], window, sizing.laps, expected, self.clock());
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

    /// Measures one block, under the plan's conditions.
    pub fn measure(&mut self, block: u64, sizing: &Sizing) -> Result<Option<Estimate>> {
        if !self.plan.conditions.unpinned {
            return self.measure_here(block, sizing);
        }
        let station = self.station;
        station.unpinned(|| self.measure_here(block, sizing))
    }

    /// Measures one block; `None` if the machine left no order with an undisturbed round.
    fn measure_here(&mut self, block: u64, sizing: &Sizing) -> Result<Option<Estimate>> {
        let (mut arms, mut placement) = self.build(block)?;
        let count = arms.len();
        let index = placement.random().random_range(0..sizing.windows);
        if self.plan.conditions.cold {
            let rounds = self.cold(&mut arms, sizing, index)?;
            let cold: Vec<f64> = rounds.times.iter().map(|times| times[0]).collect();
            let operations = sizing.operations_per_rep() as f64;
            return Ok(rounds.estimate(block, &self.against, &cold, 1, operations));
        }
        let mut cold = vec![0.0; count];
        // In a drawn order: whoever comes first over the freshly placed input pays for all.
        let mut turns: Vec<usize> = (0..count).collect();
        turns.shuffle(placement.random());
        for at in turns {
            let windows = match self.entry(at).recipe.settle() {
                Settle::Window => 1,
                Settle::Pass => sizing.windows,
            };
            for step in 0..windows {
                self.watch.check()?;
                let ns = self.rep(&mut arms, at, sizing, index + step)?;
                if step == 0 {
                    cold[at] = ns as f64;
                }
            }
        }
        let rounds = self.rounds(&mut arms, &mut placement, sizing, index)?;
        self.frequencies.extend(&rounds.frequencies);
        Ok(rounds.estimate(
            block,
            &self.against,
            &cold,
            self.orders.len(),
            sizing.operations_per_rep() as f64,
        ))
    }

    /// A block's rounds, in an order of orders that is drawn anew: a fixed one would let some arm always follow itself
    /// across the seam of two rounds.
    fn rounds(
        &mut self,
        arms: &mut [Arm],
        placement: &mut Placement,
        sizing: &Sizing,
        first_window: usize,
    ) -> Result<Rounds> {
        let mut turns: Vec<usize> = Vec::new();
        for _ in 0..sizing.rounds_per_order {
            let mut each: Vec<usize> = (0..self.orders.len()).collect();
            each.shuffle(placement.random());
            turns.extend(each);
        }
        let mut rounds = Rounds::new(arms.len());
        if self.plan.conditions.order(self.options) == Order::ArmMajor {
            self.arm_major(arms, &turns, sizing, first_window, &mut rounds)?;
            return Ok(rounds);
        }
        let mut redo_left = turns.len().max(8);
        // A sibling that never rests can't be waited for: once this is used up, rounds count whatever the width does.
        let mut narrow_left = turns.len().max(8);
        let mut taken = vec![0.0; arms.len()];
        // Each arm starts at a layout of its own and takes the next one every few rounds, so that within a block all
        // of them are used about equally often and what code placement does cancels instead of widening the interval.
        let first_layout: Vec<usize> = drawn_apart(arms.len(), placement.random());
        let mut layout = None;
        for (round, &order) in turns.iter().enumerate() {
            let step = round * CODE_COPIES / turns.len().max(CODE_COPIES);
            if layout != Some(step) {
                layout = Some(step);
                self.switch_layouts(arms, &first_layout, step, sizing, first_window + round)?;
            }
            loop {
                self.watch.check()?;
                let ghz = canary::frequency_ghz(self.options.clock, FREQUENCY_ADDS);
                match self.round(arms, order, sizing, first_window + round, narrow_left > 0, &mut taken)? {
                    Round::Sound => {
                        rounds.frequencies.extend(ghz);
                        rounds.add(order, &taken);
                        break;
                    }
                    Round::WidthChanged => narrow_left -= 1,
                    Round::Disturbed if redo_left > 0 => redo_left -= 1,
                    Round::Disturbed => {
                        self.seen.rounds_dropped += 1;
                        break;
                    }
                }
                self.seen.rounds_redone += 1;
            }
        }
        Ok(rounds)
    }

    /// Moves every arm to its next layout and lets it run there a little, unmeasured: branch predictors know nothing yet
    /// of code at a new address.
    fn switch_layouts(
        &self,
        arms: &mut [Arm],
        first: &[usize],
        step: usize,
        sizing: &Sizing,
        index: usize,
    ) -> Result<()> {
        let window = sizing.at(index);
        let part = Window { count: (window.count / SETTLING_PART).max(1), ..window };
        for (arm, first) in arms.iter_mut().zip(first) {
            self.watch.check()?;
            arm.use_layout(first + step);
            std::hint::black_box(arm.run(part));
        }
        Ok(())
    }

    /// One rep an arm in one order. If a side channel saw a disturbance the whole round is void.
    ///
    /// A rep's own duration never decides: throwing away slow reps would bias what is left.
    fn round(
        &mut self,
        arms: &mut [Arm],
        order_index: usize,
        sizing: &Sizing,
        index: usize,
        mind_width: bool,
        taken: &mut [f64],
    ) -> Result<Round> {
        let conditions = &self.plan.conditions;
        let (keeps, waits) = (conditions.keeps_disturbed, conditions.waits);
        // Unpinned on purpose, a rep may begin anywhere.
        let cpu = self.station.cpu().filter(|_| !conditions.unpinned);
        let waited_before = self.station.waited_ns();
        let helpers_before = self.station.helpers_disturbed();
        let mut widths = Extremes::of(self.width());
        for position in 0..arms.len() {
            self.watch.check()?;
            let at = self.orders[order_index][position];
            let before = ThreadUsage::now();
            let cpu_before = affinity::current_cpu();
            let ns = self.rep(arms, at, sizing, index)?;
            let cpu_after = affinity::current_cpu();
            let after = ThreadUsage::now();
            // A clock too coarse to see a rep fails its own check; the logarithm of nothing would hide that.
            taken[at] = (ns as f64).max(1.0);
            let since = match (before, after) {
                (Ok(before), Ok(after)) => after.since(&before),
                _ => ThreadUsage::default(),
            };
            let faults = since.minor_faults + since.major_faults;
            let moved =
                cpu_before != cpu_after || cpu.is_some_and(|cpu| cpu_after.is_some_and(|at| at != cpu));
            self.seen.involuntary_switches += since.involuntary_switches;
            self.seen.page_faults += faults;
            self.seen.migrations += u64::from(moved);
            widths.add(self.width());
            if keeps {
                continue;
            }
            if (since.involuntary_switches > 0 && !waits) || faults > 0 || moved {
                return Ok(Round::Disturbed);
            }
            if widths.spread() > WIDTH_SPREAD && mind_width {
                self.seen.width_changes += 1;
                return Ok(Round::WidthChanged);
            }
        }
        let helpers_disturbed = self.station.helpers_disturbed() - helpers_before;
        self.seen.helpers_disturbed += helpers_disturbed as u64;
        if keeps {
            return Ok(Round::Sound);
        }
        if helpers_disturbed > 0 {
            return Ok(Round::Disturbed);
        }
        self.seen.width_ignored += u64::from(widths.spread() > WIDTH_SPREAD);
        if let (Some(before), Some(after)) = (waited_before, self.station.waited_ns()) {
            *self.seen.waited_ns.get_or_insert(0) += after.saturating_sub(before);
            if after > before && !waits {
                return Ok(Round::Disturbed);
            }
        }
        Ok(Round::Sound)
    }

    /// How wide the core is just now; the better of two looks, since an interrupt hits only one of them.
    fn width(&self) -> Option<f64> {
        let look = || canary::width_per_ns(self.options.clock, WIDTH_ADDS);
        Some(look()?.max(look()?))
    }
}
