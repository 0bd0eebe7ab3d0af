//! Runs a race: pins, warms up, sizes reps, measures blocks until the intervals are narrow enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::block::{Bench, Estimate, Sizing};
use super::crew::Crew;
use super::experiment::{Plan, Role};
use super::options::{LEAST_BLOCKS, Options};
use super::report::{Cell, Check, Disturbances, Ended};
use super::schedule::williams_orders;
use super::statistics::signed_rank_interval;
use super::summary::{Measured, summarise};
use super::watch::Watch;
use super::{Arm, Checksum, Unit, Values, Window};
use crate::machine::{Card, Pin, Pinned, Priority, RunDelay, StealClock, affinity, canary, default_cpu};
use crate::{Error, Result};

/// A block lasts about this long, so that building it anew stays a small part.
const BLOCK_NS: f64 = 8e6;
/// Bound on rounds of each order in a block.
const MOST_ROUNDS_PER_ORDER: f64 = 64.0;
/// The first warm-up of a process: clock frequency and code pages.
const FIRST_WARM_UP: Duration = Duration::from_millis(500);
/// Later ones.
const WARM_UP: Duration = Duration::from_millis(20);
/// No steady canary within this: measure all the same, and let the intervals tell.
const LONGEST_WARM_UP: Duration = Duration::from_secs(2);

/// Runs one race on the calling thread, pinned for its duration, and reports it as a cell.
///
/// # Errors
/// Unusable options or plans, a CPU that can't be had, arms whose checksums differ, an interrupt.
pub fn run(
    plan: &Plan,
    unit: Unit,
    values: &Values,
    card: &Card,
    options: &Options,
    watch: &Watch,
) -> Result<Cell> {
    options.validate()?;
    let against = validate(plan)?;
    let started = Instant::now();
    let wanted = match options.cpu {
        Some(cpu) => Some(cpu),
        None => default_cpu(card),
    };
    // Asked before pinning: afterwards this thread's mask is the one CPU.
    let allowed = affinity::allowed_cpus()?;
    let pin = wanted.map(Pin::to).transpose()?;
    let cpu = match pin.as_ref().map(Pin::placement) {
        Some(Pinned::Honoured { cpu }) => Some(*cpu),
        _ => None,
    };
    let crew = helpers(plan.helpers, cpu, &allowed)?;
    let priority = Priority::raise();
    warm_up(options, watch)?;

    let mut bench = Bench {
        plan,
        options,
        watch,
        crew,
        cpu,
        orders: williams_orders(plan.entries.len()),
        against,
        expected: Vec::new(),
        run_delay: RunDelay::open().ok(),
        seen: Disturbances::default(),
        frequencies: Vec::new(),
    };
    let sizing = size(&mut bench)?;
    bench.expected = expect(plan, &sizing, watch)?;
    let steal = cpu.and_then(|cpu| StealClock::open(cpu).ok());
    let stolen_before = steal.as_ref().and_then(StealClock::read_ns);

    let level = comparison_level(options.level, plan.entries.len());
    let mut blocks: Vec<Estimate> = Vec::new();
    let mut lost = 0;
    let begun = Instant::now();
    let ended = loop {
        let number = (blocks.len() + lost) as u64;
        match bench.measure(number, &sizing)? {
            Some(estimate) => blocks.push(estimate),
            None => lost += 1,
        }
        let elapsed = begun.elapsed();
        let overdue = elapsed > options.bound * 10;
        if blocks.len() % 5 == 0 || overdue {
            let enough = blocks.len() >= options.min_blocks;
            if enough && half_width(&blocks, &bench.against, level) <= options.precision {
                break Ended::Precision;
            }
            if overdue || (blocks.len() >= LEAST_BLOCKS && elapsed >= options.bound) {
                break Ended::TimeBound;
            }
            if blocks.len() >= options.max_blocks {
                break Ended::BlockBound;
            }
        }
        // Done when the time is up, or when the fewest blocks are there: whichever is further off.
        let by_time = elapsed.as_secs_f64() / options.bound.as_secs_f64();
        let by_blocks = blocks.len() as f64 / options.min_blocks as f64;
        watch.advance(by_time.min(by_blocks.max(by_time * 0.5)));
    };
    if blocks.is_empty() {
        return Err(Error::NotMeasurable {
            what: "this race".into(),
            reason: format!("not one of {lost} blocks had an undisturbed round in every order"),
        });
    }
    if let (Some(before), Some(after)) = (stolen_before, steal.as_ref().and_then(StealClock::read_ns)) {
        bench.seen.stolen_ns = Some(after.saturating_sub(before));
    }
    drop(priority);
    let placement = match (&pin, wanted) {
        (Some(pin), _) => match pin.placement() {
            Pinned::Honoured { cpu } => placement_check(*cpu, &bench),
            Pinned::NotApplicable { reason } => Check::not_applicable("placement", reason.clone()),
        },
        (None, _) => Check::not_applicable("placement", "this system has no CPU to choose"),
    };
    let measured = Measured {
        unit,
        values,
        sizing,
        blocks,
        lost_blocks: lost,
        level,
        ended,
        seconds: started.elapsed().as_secs_f64(),
        placement,
    };
    Ok(summarise(bench, measured))
}

/// Every comparison's level, so that all of them hold together with `family` (Bonferroni).
pub(super) fn comparison_level(family: f64, arms: usize) -> f64 {
    1.0 - (1.0 - family) / arms.saturating_sub(1).max(1) as f64
}

/// The widest half-width of any comparison, relative.
fn half_width(blocks: &[Estimate], against: &[usize], level: f64) -> f64 {
    (0..against.len())
        .filter(|&arm| against[arm] != arm)
        .map(|arm| {
            let logs: Vec<f64> = blocks.iter().map(|block| block.log_ratio[arm]).collect();
            signed_rank_interval(&logs, level).half_width()
        })
        .fold(0.0, f64::max)
}

/// Checks the plan and gives, for each arm, the arm that it is compared with (itself for the baseline).
fn validate(plan: &Plan) -> Result<Vec<usize>> {
    let names: Vec<&str> = plan.entries.iter().map(|entry| entry.name.as_str()).collect();
    if names.len() < 2 {
        return Err(Error::invalid("arms", names.len(), "wanted at least two: a race compares"));
    }
    if plan.source.operations() == 0 {
        return Err(Error::invalid("input", "0 operations", "wanted at least one: the pool is empty"));
    }
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(Error::invalid("arms", name, "is there twice: give each arm a name of its own"));
        }
    }
    let mut baselines = plan.entries.iter().enumerate().filter(|(_, entry)| entry.role == Role::Baseline);
    let (Some((baseline, _)), None) = (baselines.next(), baselines.next()) else {
        return Err(Error::invalid(
            "baseline",
            names.join(", "),
            "wanted exactly one baseline among the arms",
        ));
    };
    plan.entries
        .iter()
        .map(|entry| match &entry.role {
            Role::Arm | Role::Baseline => Ok(baseline),
            Role::Control { against } => names.iter().position(|name| name == against).ok_or_else(|| {
                Error::invalid("control", against, format!("no such arm; there are {}", names.join(", ")))
            }),
        })
        .collect()
}

/// Helper threads on allowed CPUs other than the measuring one.
fn helpers(count: usize, cpu: Option<usize>, allowed: &[usize]) -> Result<Option<Arc<Crew>>> {
    if count == 0 {
        return Ok(None);
    }
    let Some(cpu) = cpu else {
        let reason = "its threads can't be pinned on this system".into();
        return Err(Error::NotMeasurable { what: "an experiment over several CPUs".into(), reason });
    };
    let others: Vec<usize> = allowed.iter().copied().filter(|&other| other != cpu).collect();
    if others.len() < count {
        let reason = format!("it needs {} CPUs, {} allowed here", count + 1, others.len() + 1);
        return Err(Error::NotMeasurable { what: "an experiment over several CPUs".into(), reason });
    }
    Ok(Some(Arc::new(Crew::new(&others[..count])?)))
}

fn warm_up(options: &Options, watch: &Watch) -> Result<()> {
    static WARM: AtomicBool = AtomicBool::new(false);
    let least = if WARM.swap(true, Ordering::Relaxed) { WARM_UP } else { FIRST_WARM_UP };
    canary::warm_up(options.clock, least, LONGEST_WARM_UP, &|| watch.check().is_err());
    watch.check()
}

/// Finds the window at which the fastest arm's rep lasts long enough.
fn size(bench: &mut Bench) -> Result<Sizing> {
    let operations = bench.plan.source.operations();
    let (mut arms, _placement) = bench.build(u64::MAX)?;
    let mut per_operation = Vec::with_capacity(arms.len());
    for arm in &mut arms {
        per_operation.push(cost(arm, operations, bench)?);
    }
    let fastest = per_operation.iter().copied().fold(f64::INFINITY, f64::min);
    // A quarter more than asked for, since the estimate is rough and the clock frequency may rise.
    let min_rep = bench.plan.min_rep.unwrap_or(bench.options.min_rep);
    let needed = (1.25 * min_rep.as_nanos() as f64 / fastest).ceil().max(1.0) as usize;
    let (window, windows, laps) = if needed <= operations {
        let windows = operations / needed;
        (operations / windows, windows, 1)
    } else {
        (operations, 1, needed.div_ceil(operations))
    };
    let round_ns = per_operation.iter().sum::<f64>() * (window * laps) as f64;
    let per_order =
        (BLOCK_NS / (round_ns * bench.orders.len() as f64)).round().clamp(1.0, MOST_ROUNDS_PER_ORDER);
    Ok(Sizing { window, windows, laps, rounds_per_order: per_order as usize })
}

/// Rough nanoseconds an operation: doubles the window until it takes a fifth of a millisecond.
fn cost(arm: &mut Arm, operations: usize, bench: &Bench) -> Result<f64> {
    let clock = bench.options.clock;
    let mut count = operations.min(64);
    loop {
        bench.watch.check()?;
        let window = Window { first: 0, count };
        // The first call of a size pays for cold caches; the second is the estimate.
        arm.run(window);
        let start = clock.now_ns();
        arm.run(window);
        let ns = clock.now_ns().saturating_sub(start) as f64;
        if ns >= 2e5 || count == operations {
            // Even a loop that was optimised away takes some time: a thousandth of a nanosecond bounds the window.
            return Ok((ns / count as f64).max(1e-3));
        }
        count = (count * 2).min(operations);
    }
}

/// The checksum of every window, once for each distinct reference, and the agreement of equal claims.
fn expect(plan: &Plan, sizing: &Sizing, watch: &Watch) -> Result<Vec<Vec<Checksum>>> {
    let mut expected: Vec<Vec<Checksum>> = Vec::with_capacity(plan.entries.len());
    for (at, entry) in plan.entries.iter().enumerate() {
        let known =
            plan.entries[..at].iter().position(|other| Arc::ptr_eq(&other.reference, &entry.reference));
        let checksums = match known {
            Some(known) => expected[known].clone(),
            None => (0..sizing.windows)
                .map(|index| {
                    watch.check()?;
                    Ok(entry.reference.checksum(&plan.source, sizing.at(index)))
                })
                .collect::<Result<_>>()?,
        };
        expected.push(checksums);
        let same_claim = plan.entries[..at].iter().position(|other| other.claim == entry.claim);
        if let Some(other) = same_claim {
            let differs = (0..sizing.windows).find(|&index| expected[other][index] != expected[at][index]);
            if let Some(index) = differs {
                return Err(Error::ChecksumMismatch {
                    arm: entry.name.clone(),
                    got: expected[at][index].0,
                    expected: expected[other][index].0,
                    expected_by: plan.entries[other].name.clone(),
                    first: sizing.at(index).first,
                    count: sizing.window,
                });
            }
        }
    }
    Ok(expected)
}

fn placement_check(cpu: usize, bench: &Bench) -> Check {
    let strays = bench.crew.as_ref().map_or(0, |crew| crew.strays());
    let helpers =
        bench.crew.as_ref().map(|crew| format!(", helpers on {:?}", crew.cpus())).unwrap_or_default();
    let seen = &bench.seen;
    let detail = match (seen.migrations, strays) {
        (0, 0) => format!("every rep began and ended on CPU {cpu}{helpers}"),
        (moved, 0) => format!("{moved} reps left CPU {cpu}; their rounds were redone or left out"),
        (_, strays) => format!("helper threads left their CPUs {strays} times"),
    };
    // Moves that were redone are dealt with; if rounds had to be dropped, or a helper strayed, they aren't.
    Check::new("placement", strays == 0 && (seen.migrations == 0 || seen.rounds_dropped == 0), detail)
}
