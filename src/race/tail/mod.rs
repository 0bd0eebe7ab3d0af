//! Per-operation timing: each operation of the input by itself, into a histogram an arm.
//!
//! A race's reps time thousands of operations together, which is precise and hides the rare slow one. Here every
//! operation is a window of one, called through the arm's own pointer between two fenced readings of the timestamp
//! counter ([`crate::machine::timestamp`]). Fences keep it from overlapping its neighbours, so this is latency in
//! isolation, not throughput, and what the timer and the call cost is in every figure. That floor is measured in the same
//! way, by an arm that does nothing, and never subtracted.
//!
//! Arms take turns of some thousand operations in balanced order, so that drift and interruptions hit all alike, each at
//! another place of the stream, so that none warms up what the next one needs; the operations before each turn are run
//! once more, untold, to bring back what the others drove out of caches and predictors. Nothing is removed by its own duration: the upper percentiles hold the machine's interruptions, and beside
//! them stands each operation's least over all replays, which doesn't.

mod checks;
mod distribution;
mod recorder;
mod stream;
#[cfg(test)]
mod tests;
mod timed;

use std::time::{Duration, Instant};

use serde::Serialize;

use super::block::Bench;
use super::contrast;
use super::options::LEAST_BLOCKS;
use super::report::{Cell, Check, Contrast, Status};
use super::statistics::signed_rank_interval;
use crate::Result;
use crate::machine::{OperationClock, TimestampCounter};

pub use distribution::{Distribution, Percentiles, Typical};
pub use stream::{LONGEST_TURN, MOST_REPLAYS, Part, PerOperation};
pub use timed::Disturbed;

/// One arm's figures, operation by operation. Times are nanoseconds, and hold the timer's floor.
#[derive(Debug, Clone, Serialize)]
pub struct Tail {
    /// What the timer and an empty call cost, timed in the same way: the floor under every figure here.
    pub floor: Percentiles,
    /// The counter's smallest step: no figure here is finer.
    pub tick_ns: f64,
    /// Placements: as often everything was built anew.
    pub placements: usize,
    /// Passes over the input in each placement.
    pub replays: usize,
    /// The whole input.
    pub whole: Stretch,
    /// The parts that the plan names, in its order.
    pub parts: Vec<Stretch>,
    /// How the cost runs over the input: bins of operations, in order, by each operation's least over all replays.
    pub course: Vec<CoursePoint>,
    /// What the side channels saw while this arm was timed. Nothing was left out for it.
    pub disturbed: Disturbed,
}

impl Tail {
    /// The part of that name.
    pub fn part(&self, name: &str) -> Option<&Stretch> {
        self.parts.iter().find(|part| part.name == name)
    }
}

/// A stretch of the input.
#[derive(Debug, Clone, Serialize)]
pub struct Stretch {
    /// Its name; `whole` for all of it.
    pub name: String,
    /// Its first operation.
    pub first: usize,
    /// How many operations it has.
    pub count: usize,
    /// Every time that was taken.
    pub all: Distribution,
    /// Each operation's least time over all replays: what the code costs all but free of the machine's interruptions, up
    /// to one tick too low.
    pub least: Distribution,
    /// Percentiles of each placement by itself, over all of its times; NaN where it has too few for one.
    pub blocks: Vec<Percentiles>,
    /// The median placement's percentiles, with their intervals.
    pub typical: Typical,
}

/// A few neighbouring operations.
#[derive(Debug, Clone, Serialize)]
pub struct CoursePoint {
    /// The first.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// Mean of their least times, in nanoseconds.
    pub mean: f64,
    /// Greatest of their least times.
    pub max: f64,
}

/// What per-operation timing gives a cell.
pub(super) struct Tails {
    /// One an arm, in the plan's order; empty where nothing could be timed.
    pub arms: Vec<Tail>,
    pub checks: Vec<Check>,
}

impl Tails {
    /// Puts the figures and checks where they belong.
    pub fn attach(self, cell: &mut Cell) {
        let dear = |tail: &Tail| checks::floor_is_small(tail);
        for (arm, tail) in cell.arms.iter_mut().zip(self.arms) {
            if !dear(&tail) {
                arm.flags.push(checks::NEAR_FLOOR.into());
            }
            arm.tail = Some(tail);
        }
        cell.checks.extend(self.checks);
    }
}

/// Times every operation of a bench's plan by itself, where the plan asks for it. Takes about `bound`, and at least
/// [`LEAST_BLOCKS`] placements unless ten times that has passed.
///
/// # Errors
/// An arm whose result differs from its reference in a window of one, memory, an interrupt. A machine without a usable
/// counter is no error: a check says why nothing was timed.
pub(super) fn measure(bench: &Bench, bound: Duration, progress: &dyn Fn(f64)) -> Result<Option<Tails>> {
    let Some(wanted) = &bench.plan.per_operation else { return Ok(None) };
    wanted.validate(bench.plan.source.operations())?;
    let counter = match TimestampCounter::calibrate() {
        Ok(counter) => counter,
        Err(missing) => {
            let check = Check::not_applicable(checks::COUNT, missing.to_string());
            return Ok(Some(Tails { arms: Vec::new(), checks: vec![check] }));
        }
    };
    let mut tails = with_clock(bench, wanted, counter, bound, progress)?;
    tails.checks.push(checks::one_rate(
        crate::machine::timestamp::promises_one_rate(),
        crate::machine::Card::read().hypervisor.as_deref(),
        counter.drift(),
        tails.arms.iter().map(|tail| tail.disturbed.backwards).sum(),
    ));
    Ok(Some(tails))
}

/// The same with any clock.
fn with_clock<C: OperationClock>(
    bench: &Bench,
    wanted: &PerOperation,
    clock: C,
    bound: Duration,
    progress: &dyn Fn(f64),
) -> Result<Tails> {
    let mut stream = stream::Stream::prepare(bench, wanted)?;
    let most = bench.options.min_blocks;
    let begun = Instant::now();
    for placement in 0..most {
        stream.placement(placement as u64, clock)?;
        let spent = begun.elapsed().as_secs_f64() / bound.as_secs_f64();
        let done = (placement + 1) as f64 / most as f64;
        progress(done.max(spent.min(1.0) * done.sqrt()));
        if spent > 10.0 || (spent > 1.0 && placement + 1 >= LEAST_BLOCKS) {
            break;
        }
    }
    let (mut arms, lost) = stream.finish(clock);
    // The empty arm is the last.
    let floor = arms.pop().expect("the empty arm is always there");
    for arm in &mut arms {
        arm.floor = floor.whole.all.percentiles;
    }
    let named: Vec<(&str, &Tail)> =
        bench.plan.entries.iter().map(|entry| entry.name.as_str()).zip(&arms).collect();
    let checks = vec![
        checks::counted(&named, bench.plan.source.operations(), lost),
        checks::timer_floor(&named, clock.tick_ns()),
    ];
    Ok(Tails { arms, checks })
}

/// Confidence level of intervals over placements.
pub const LEVEL: f64 = contrast::LEVEL;

/// Which stretch of which arm: the part's name, or `None` for the whole input.
pub type Place<'a> = (&'a str, Option<&'a str>);

/// How far a percentile of one place lies above that of another, in the same cell: paired by placement, Hodges–Lehmann
/// with signed ranks over the differences. `None` if either isn't there, or wasn't timed.
///
/// Void where the cell has no verdict, or where the timer's own checks failed.
pub fn difference(
    cell: &Cell,
    (above, below): (Place, Place),
    percentile: fn(&Percentiles) -> f64,
    name: String,
    what: String,
) -> Option<Contrast> {
    let stretch = |(arm, part): Place| {
        let tail = cell.arm(arm)?.tail.as_ref();
        tail.and_then(|tail| part.map_or(Some(&tail.whole), |part| tail.part(part)))
    };
    let (above, below) = (stretch(above)?, stretch(below)?);
    let pairs = above.blocks.iter().zip(&below.blocks);
    let differences: Vec<f64> = pairs
        .map(|(above, below)| percentile(above) - percentile(below))
        .filter(|difference| difference.is_finite())
        .collect();
    if differences.is_empty() {
        return None;
    }
    let interval = signed_rank_interval(&differences, LEVEL);
    let void = cell.status == Status::NoVerdict || checks::any_failed(&cell.checks);
    let unit = serde_json::to_value(cell.unit).ok()?.as_str()?.to_string();
    let (value, low, high) = (interval.estimate, interval.low, interval.high);
    // Percentiles are whole ticks: a difference of one may be none.
    let tick = cell.arms.iter().filter_map(|arm| Some(arm.tail.as_ref()?.tick_ns)).fold(0.0, f64::max);
    Some(Contrast { name, what, value, low, high, unit, level: LEVEL, margin: tick, void })
}
