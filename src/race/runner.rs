//! Runs races: sizes reps, measures blocks until the intervals are narrow enough.
//!
//! Several races (the cells of an experiment) take turns block by block, so that a drift of the machine is common to
//! all of them and their blocks can be compared in pairs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::block::Bench;
use super::counters;
use super::experiment::{Plan, Role};
use super::options::{LEAST_BLOCKS, Options};
use super::report::{Cell, Disturbances, Ended};
use super::rounds::Estimate;
use super::schedule::williams_orders;
use super::sizing::Sizing;
use super::sizing::size;
use super::station::Station;
use super::statistics::signed_rank_interval;
use super::summary::{Measured, summarise};
use super::tail;
use super::watch::Watch;
use super::{Checksum, Unit, Values};
use crate::machine::{Card, memory};
use crate::{Error, Result};

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
    run_together(&[(values, plan)], unit, card, options, watch)?.remove(0)
}

/// Runs several races on the calling thread, one block of each in turn, in an order drawn anew each time.
///
/// Block `b` of one cell and block `b` of another were measured next to each other: what is true of both differs by
/// more than the machine's drift. A race that is precise enough drops out; the others go on.
///
/// A race that never had an undisturbed block is an error of its own, [`Error::NotMeasurable`]; the others stand.
///
/// # Errors
/// As [`run`].
pub fn run_together(
    plans: &[(&Values, &Plan)],
    unit: Unit,
    card: &Card,
    options: &Options,
    watch: &Watch,
) -> Result<Vec<Result<Cell>>> {
    options.validate()?;
    if card.is_debug_build() && !options.allow_debug_build {
        let reason = "this is a debug build, whose figures mean nothing; build with --release".into();
        return Err(Error::NotMeasurable { what: "time".into(), reason });
    }
    let helpers = plans.iter().map(|(_, plan)| plan.helpers).max().unwrap_or(0);
    let station = Station::take(options, helpers, card, watch)?;
    let mut races = plans
        .iter()
        .map(|(values, plan)| Race::prepare(plan, values, unit, options, &station, watch))
        .collect::<Result<Vec<_>>>()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut turns: Vec<usize> = (0..races.len()).collect();
    // One purse of time for all: what a race that is soon precise enough leaves goes to the others.
    let purse: Duration = races.iter().map(Race::bound).sum();
    // Where operations are timed one by one, that comes after the blocks.
    let part = purse.as_secs_f64() / (options.bound.as_secs_f64() * races.len() as f64);
    let begun = Instant::now();
    while races.iter().any(|race| race.ended.is_none()) {
        turns.shuffle(&mut random);
        for &turn in &turns {
            if races[turn].ended.is_none() {
                let spent = begun.elapsed().as_secs_f64() / purse.as_secs_f64();
                races[turn].block(spent)?;
                let done = races.iter().map(|race| race.progress(spent)).sum::<f64>() / races.len() as f64;
                watch.advance(part * done);
            }
        }
    }
    let count = races.len() as f64;
    let cells = races.into_iter().enumerate().map(|(at, race)| {
        let progress = |done: f64| watch.advance(part + (1.0 - part) * (at as f64 + done) / count);
        match race.finish(&station, &progress) {
            Err(error) if !matches!(error, Error::NotMeasurable { .. }) => Err(error),
            cell => Ok(cell),
        }
    });
    cells.collect()
}

/// One race on its way.
struct Race<'a> {
    bench: Bench<'a>,
    values: &'a Values,
    unit: Unit,
    sizing: Sizing,
    /// Code layouts of each arm.
    layouts: Vec<usize>,
    level: f64,
    blocks: Vec<Estimate>,
    lost: usize,
    spent: Duration,
    stolen_ns: Option<u64>,
    ended: Option<Ended>,
}

impl<'a> Race<'a> {
    fn prepare(
        plan: &'a Plan,
        values: &'a Values,
        unit: Unit,
        options: &'a Options,
        station: &'a Station,
        watch: &'a Watch,
    ) -> Result<Self> {
        let against = validate(plan)?;
        // Every block places a copy of the input.
        memory::room_for("a race's copy of its input", plan.source.bytes().len(), 1)?;
        let mut bench = Bench {
            plan,
            options,
            watch,
            station,
            orders: williams_orders(plan.entries.len()),
            against,
            expected: Vec::new(),
            seen: Disturbances::default(),
            frequencies: Vec::new(),
        };
        let (sizing, layouts) = size(&mut bench)?;
        bench.expected = expect(plan, &sizing, watch)?;
        let level = comparison_level(options.level, plan.entries.len());
        let (blocks, lost, spent) = (Vec::new(), 0, Duration::ZERO);
        Ok(Race {
            bench,
            values,
            unit,
            sizing,
            layouts,
            level,
            blocks,
            lost,
            spent,
            stolen_ns: None,
            ended: None,
        })
    }

    /// Measures one block and decides whether that was enough: by half-width alone, never by verdict. `spent` is the
    /// share of the time for all races that is behind.
    fn block(&mut self, spent: f64) -> Result<()> {
        let begun = Instant::now();
        let stolen_before = self.bench.station.stolen_ns();
        match self.bench.measure((self.blocks.len() + self.lost) as u64, &self.sizing)? {
            Some(estimate) => self.blocks.push(estimate),
            None => self.lost += 1,
        }
        if let (Some(before), Some(after)) = (stolen_before, self.bench.station.stolen_ns()) {
            *self.stolen_ns.get_or_insert(0) += after.saturating_sub(before);
        }
        self.spent += begun.elapsed();
        let options = self.bench.options;
        let (blocks, overdue) = (self.blocks.len(), spent > 10.0);
        let most = self.most_blocks();
        if !blocks.is_multiple_of(5) && blocks < most && !overdue {
            return Ok(());
        }
        self.ended = if blocks >= options.min_blocks && self.half_width()? <= options.precision {
            Some(Ended::Precision)
        } else if overdue || (blocks >= LEAST_BLOCKS && spent >= 1.0) {
            Some(Ended::TimeBound)
        } else if blocks >= most {
            Some(Ended::BlockBound)
        } else {
            None
        };
        Ok(())
    }

    /// Time for its blocks: half of what it is given, where its operations are timed one by one besides.
    fn bound(&self) -> Duration {
        match self.bench.plan.per_operation {
            Some(_) => self.bench.options.bound / 2,
            None => self.bench.options.bound,
        }
    }

    /// The bound on blocks: the options', or less where the plan says that less will do.
    fn most_blocks(&self) -> usize {
        let options = self.bench.options;
        let patience = self.bench.plan.patience.map(|times| options.min_blocks.saturating_mul(times.max(1)));
        patience.map_or(options.max_blocks, |most| most.min(options.max_blocks))
    }

    /// Done when the time is up, or when the fewest blocks are there: whichever is further off.
    fn progress(&self, spent: f64) -> f64 {
        if self.ended.is_some() {
            return 1.0;
        }
        let by_blocks = self.blocks.len() as f64 / self.bench.options.min_blocks as f64;
        if self.most_blocks() <= self.bench.options.min_blocks {
            return by_blocks.min(1.0);
        }
        spent.min(1.0).min(by_blocks.max(spent * 0.5))
    }

    /// The widest half-width of any comparison, relative.
    fn half_width(&self) -> Result<f64> {
        let mut widest = 0.0f64;
        for arm in (0..self.bench.against.len()).filter(|&arm| self.bench.against[arm] != arm) {
            self.bench.watch.check()?;
            let logs: Vec<f64> = self.blocks.iter().map(|block| block.log_ratio[arm]).collect();
            widest = widest.max(signed_rank_interval(&logs, self.level).half_width());
        }
        Ok(widest)
    }

    fn finish(mut self, station: &Station, progress: &dyn Fn(f64)) -> Result<Cell> {
        if self.blocks.is_empty() {
            return Err(Error::NotMeasurable {
                what: "this race".into(),
                reason: format!("not one of {} blocks had an undisturbed round in every order", self.lost),
            });
        }
        self.bench.seen.stolen_ns = self.stolen_ns;
        self.bench.seen.blind = station.blind().to_vec();
        let counters = counters::around_passes(&self.bench, &self.sizing)?;
        let tails = tail::measure(&self.bench, self.bench.options.bound / 2, progress)?;
        let placement = match self.bench.plan.conditions.unpinned {
            true => station.unpinned_check(self.bench.seen.migrations),
            false => station.placement_check(self.bench.seen.migrations, self.bench.seen.rounds_dropped),
        };
        let measured = Measured {
            unit: self.unit,
            values: self.values,
            sizing: self.sizing,
            blocks: self.blocks,
            lost_blocks: self.lost,
            level: self.level,
            ended: self.ended.expect("finished after its end"),
            seconds: self.spent.as_secs_f64(),
            placement,
            layouts: self.layouts,
            counters,
        };
        let mut cell = summarise(self.bench, measured);
        if let Some(tails) = tails {
            tails.attach(&mut cell);
        }
        Ok(cell)
    }
}

/// Every comparison's level, so that all of them hold together with `family` (Bonferroni).
pub(super) fn comparison_level(family: f64, arms: usize) -> f64 {
    1.0 - (1.0 - family) / arms.saturating_sub(1).max(1) as f64
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
            Role::Control { against } => control_of(plan, &entry.name, against),
        })
        .collect()
}

/// The arm that a control is held against: another one, and no control itself.
fn control_of(plan: &Plan, name: &str, against: &str) -> Result<usize> {
    let others =
        plan.entries.iter().filter(|entry| entry.name != name && !matches!(entry.role, Role::Control { .. }));
    let named = |entry: &super::Entry| entry.name == against;
    if others.clone().any(named) {
        return Ok(plan.entries.iter().position(named).expect("just seen"));
    }
    let known = others.map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", ");
    Err(Error::invalid(
        "control",
        against,
        format!("no arm that {name} could be held against; there are {known}"),
    ))
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
