//! How the input is cut into reps: long enough for the clock, short enough for a block.

use std::time::Duration;

use super::block::Bench;
use super::watch::Watch;
use super::{Arm, Window};
use crate::Result;
use crate::machine::Clock;

/// A block lasts about this long, so that building it anew stays a small part.
const BLOCK_NS: f64 = 8e6;
/// No rep is made longer than this for the sake of a faster arm.
const LONGEST_REP_NS: f64 = 5e6;
/// Bound on rounds of each order in a block.
const MOST_ROUNDS_PER_ORDER: f64 = 64.0;

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

/// Finds the window at which the fastest arm's rep lasts long enough.
pub(super) fn size(bench: &mut Bench) -> Result<(Sizing, Vec<usize>)> {
    let operations = bench.plan.source.operations();
    let (mut arms, _placement) = bench.build(u64::MAX)?;
    let mut per_operation = Vec::with_capacity(arms.len());
    for arm in &mut arms {
        per_operation.push(cost(arm, operations, bench)?);
    }
    let fastest = per_operation.iter().copied().fold(f64::INFINITY, f64::min);
    // A quarter more than asked for, since the estimate is rough and the clock frequency may rise.
    let min_rep = bench.plan.min_rep.unwrap_or(bench.options.min_rep);
    let slowest = per_operation.iter().copied().fold(0.0, f64::max);
    // An arm that costs next to nothing (deleted, say) mustn't make the others' reps endless; its own are then too
    // short for the clock, which the tick check tells.
    let needed = (1.25 * min_rep.as_nanos() as f64 / fastest).min(LONGEST_REP_NS / slowest);
    let needed = needed.ceil().max(1.0) as usize;
    let (window, windows, laps) = match bench.plan.rep_operations {
        Some(fixed) => {
            let window = fixed.clamp(1, operations);
            (window, operations / window, 1)
        }
        None => {
            let sized = if needed <= operations {
                let windows = operations / needed;
                (operations / windows, windows, 1)
            } else {
                (operations, 1, needed.div_ceil(operations))
            };
            lengthened(&mut arms, sized, min_rep, operations, bench.watch)?
        }
    };
    let round_ns = per_operation.iter().sum::<f64>() * (window * laps) as f64;
    let block_ns = bench.plan.block.map_or(BLOCK_NS, |block| block.as_nanos() as f64);
    let per_order =
        (block_ns / (round_ns * bench.orders.len() as f64)).round().clamp(1.0, MOST_ROUNDS_PER_ORDER);
    // Whole turns through the code layouts, where there are several.
    let per_order = if per_order > 8.0 { (per_order / 8.0).round() * 8.0 } else { per_order };
    let layouts = arms.iter().map(Arm::layouts).collect();
    Ok((Sizing { window, windows, laps, rounds_per_order: per_order as usize }, layouts))
}

/// A size, checked: where the fastest arm's rep is much shorter than it should be (its estimate was disturbed), as many
/// times longer; no longer than [`LONGEST_REP_NS`] lets the slowest be.
fn lengthened(
    arms: &mut [Arm],
    (window, windows, laps): (usize, usize, usize),
    min_rep: Duration,
    operations: usize,
    watch: &Watch,
) -> Result<(usize, usize, usize)> {
    let clock = Clock::monotonic();
    let mut shortest = f64::INFINITY;
    let mut longest = 0.0f64;
    for arm in arms {
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            watch.check()?;
            let start = clock.now_ns();
            (0..laps).for_each(|_| _ = std::hint::black_box(arm.run(Window { first: 0, count: window })));
            least = least.min((clock.now_ns().saturating_sub(start) as f64).max(1.0));
        }
        shortest = shortest.min(least);
        longest = longest.max(least);
    }
    let factor = (min_rep.as_nanos() as f64 / shortest).min(LONGEST_REP_NS / longest);
    if factor < 1.5 {
        return Ok((window, windows, laps));
    }
    let needed = (factor * (window * laps) as f64).ceil() as usize;
    if needed <= operations {
        let windows = operations / needed;
        return Ok((operations / windows, windows, 1));
    }
    Ok((operations, 1, needed.div_ceil(operations)))
}

/// Rough nanoseconds an operation: doubles the window until it takes a fifth of a millisecond.
fn cost(arm: &mut Arm, operations: usize, bench: &Bench) -> Result<f64> {
    // Always the machine's own clock: a race with a coarse one must still be sized, to show what is wrong with it.
    let clock = Clock::monotonic();
    let mut count = operations.min(64);
    loop {
        bench.watch.check()?;
        let window = Window { first: 0, count };
        // The first call of a size pays for cold caches; the least of three more is the estimate, since an interruption
        // only lengthens.
        arm.run(window);
        let timed = |arm: &mut Arm| {
            let start = clock.now_ns();
            arm.run(window);
            clock.now_ns().saturating_sub(start)
        };
        let ns = (0..3).map(|_| timed(arm)).min().expect("three") as f64;
        if ns >= 2e5 || count == operations {
            // Even a loop that was optimised away takes some time: a thousandth of a nanosecond bounds the window.
            return Ok((ns / count as f64).max(1e-3));
        }
        count = (count * 2).min(operations);
    }
}
