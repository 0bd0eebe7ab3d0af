//! Doctor: can this machine, with this build, tell equal from unequal? Shown by racing an arm with itself and with
//! itself plus a known share of extra work.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

use super::layouts;
use crate::dispatch::{Body, HandlerSet, ScanReference, SelectionArm, SelectionRecipe};
use crate::machine::Card;
use crate::race::statistics::{Interval, clopper_pearson, median, signed_rank_interval};
use crate::race::{
    self, Arm, ArmResult, Cell, Checksum, Entry, Input, Options, Placement, Plan, Recipe, Reference, Role,
    Source, Unit, Values, Verdict, Watch, Window, verdict,
};
use crate::traffic::{Law, Packet, Traffic};
use crate::{Error, Result};

/// How doctor is run.
#[derive(Debug, Clone)]
pub struct DoctorOptions {
    /// Trials for each kind of body; `None` races once and resamples its blocks.
    pub trials: Option<usize>,
    /// Time of one trial.
    pub trial: Duration,
    /// Settings of the races; precision and bounds are doctor's own.
    pub race: Options,
}

/// A rate with its Clopper–Pearson interval at 95 %.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Rate {
    /// How often it happened.
    pub hits: u64,
    /// Out of how many.
    pub trials: u64,
    /// The rate.
    pub rate: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Rate {
    fn of(hits: usize, trials: usize) -> Self {
        let interval = clopper_pearson(hits as u64, trials as u64, 0.95);
        Rate {
            hits: hits as u64,
            trials: trials as u64,
            rate: interval.estimate,
            low: interval.low,
            high: interval.high,
        }
    }
}

/// What doctor found for one kind of handler body.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// `fat` or `tiny`.
    pub body: &'static str,
    /// How often the raw 95 % interval of an arm against itself excluded zero: 5 % if intervals are calibrated.
    pub raw_exclusion_rate: Rate,
    /// How often an arm was called faster or slower than itself.
    pub false_verdict_rate: Rate,
    /// How often 1 % of extra packets was called slower.
    pub detection_rate_1: Rate,
    /// How often 2 % of extra packets was called slower.
    pub detection_rate_2: Rate,
    /// An arm's time relative to itself: over the trials' ratios, or over the one race's blocks. A bias between two builds of
    /// one arm shows here.
    pub again_ratio: f64,
    /// Lower end of its 95 % interval; none for fewer than six trials.
    pub again_low: Option<f64>,
    /// Upper end.
    pub again_high: Option<f64>,
    /// Median half-width of the ratio's raw interval in a trial, relative.
    pub half_width: f64,
    /// What 1 % of extra packets costs in time: median ratio, measured.
    pub cost_of_1: f64,
    /// What 2 % of extra packets costs in time: median ratio, measured.
    pub cost_of_2: f64,
    /// Blocks in a trial, median.
    pub blocks: f64,
    /// Median nanoseconds a packet of the arm.
    pub ns_per_packet: f64,
    /// Largest relative difference between the arm's code copies and their mean: see [`layouts::spread`].
    pub layout_spread: f64,
}

/// What doctor found.
#[derive(Debug, Clone, Serialize)]
pub struct Doctor {
    /// `trials` (each a race of its own) or `resampled blocks` (one race; blocks drawn again with replacement).
    pub method: &'static str,
    /// Seconds of one trial.
    pub trial_seconds: f64,
    /// The margin of verdicts.
    pub margin: f64,
    /// One for each kind of body.
    pub bodies: Vec<Diagnosis>,
    /// The worst of the bodies: false verdicts.
    pub false_verdict_rate: f64,
    /// The worst of the bodies: detection of 2 % of extra packets.
    pub detection_rate: f64,
    /// The worst of the bodies: half-width.
    pub half_width: f64,
    /// The worst of the bodies: spread of code copies. The margin of arms that exist in one code layout is no less.
    pub layout_spread: f64,
}

/// Arms of a trial: name and extra packets in thousandths.
const ARMS: [(&str, usize); 4] = [("once", 0), ("again", 0), ("plus_1_percent", 10), ("plus_2_percent", 20)];
/// Packets of the pool: 512 KiB, or half of the L2 where that is known.
const POOL: usize = 16_384;
/// Times that blocks are drawn again in the short form.
const RESAMPLES: usize = 400;

/// Runs doctor on the calling thread.
///
/// # Errors
/// Trials of zero, and whatever a race refuses.
pub fn examine(options: &DoctorOptions, card: &Card, watch: &Watch) -> Result<Doctor> {
    if options.trials == Some(0) {
        return Err(Error::invalid("trials", 0, "wanted at least one trial"));
    }
    let bodies = [Body::Fat, Body::Tiny];
    let trials = options.trials.unwrap_or(1);
    // The trials of each body, and then its copies.
    let steps = trials + 1;
    let whole = (bodies.len() * steps) as f64;
    let mut diagnoses = Vec::new();
    for (number, body) in bodies.into_iter().enumerate() {
        let mut cells = Vec::with_capacity(trials);
        for trial in 0..trials {
            let at = (number * steps + trial) as f64;
            watch.section(
                &format!("doctor, {body} bodies, trial {} of {trials}", trial + 1),
                at / whole,
                (at + 1.0) / whole,
            );
            cells.push(race_once(body, trial as u64, options, card, watch)?);
        }
        let at = (number * steps + trials) as f64;
        watch.section(&format!("doctor, {body} bodies, code layouts"), at / whole, (at + 1.0) / whole);
        let layout_spread = layouts::spread(body, &timed(options, options.race.seed), card, watch)?;
        let diagnosis = match options.trials {
            Some(_) => diagnose(body, &cells),
            None => resample(body, &cells[0], options.race.seed, watch)?,
        };
        diagnoses.push(Diagnosis { layout_spread, ..diagnosis });
    }
    let worst = |value: fn(&Diagnosis) -> f64, pick: fn(f64, f64) -> f64| {
        diagnoses.iter().map(value).reduce(pick).expect("two bodies")
    };
    Ok(Doctor {
        method: if options.trials.is_some() { "trials" } else { "resampled blocks" },
        trial_seconds: options.trial.as_secs_f64(),
        margin: options.race.margin,
        false_verdict_rate: worst(|d| d.false_verdict_rate.rate, f64::max),
        detection_rate: worst(|d| d.detection_rate_2.rate, f64::min),
        half_width: worst(|d| d.half_width, f64::max),
        layout_spread: worst(|d| d.layout_spread, f64::max),
        bodies: diagnoses,
    })
}

fn race_once(body: Body, trial: u64, options: &DoctorOptions, card: &Card, watch: &Watch) -> Result<Cell> {
    let seed = options.race.seed ^ (trial + 1).wrapping_mul(0x2545_f491_4f6c_dd1d);
    let set = HandlerSet::standard(100, body, 0.10, seed)?;
    let pool = card.l2_bytes().map_or(POOL, |bytes| (bytes / 2 / size_of::<Packet>()).max(1));
    let packets = Traffic::new(Law::Uniform).seed(seed).generate(pool, &set.keys(), &watch.silent())?;
    let reference: Arc<dyn Reference> = Arc::new(ScanReference::new(&set));
    let entries = ARMS.into_iter().map(|(name, extra)| {
        let table: Arc<dyn Recipe> = Arc::new(SelectionRecipe::new(SelectionArm::TableCompact, &set, None)?);
        let with_extra =
            Arc::new(ExtraWork { arm: table, reference: Arc::clone(&reference), thousandths: extra });
        let role = if name == ARMS[0].0 { Role::Baseline } else { Role::Arm };
        Ok(Entry::new(name, role, with_extra.clone(), with_extra, name))
    });
    let plan = Plan::new(Source::from_items(packets), entries.collect::<Result<_>>()?);
    let options = timed(options, seed);
    race::run(&plan, Unit::NsPerPacket, &Values(BTreeMap::new()), card, &options, watch)
}

/// A race that never ends by precision: what is asked is how precise the given time makes it.
fn timed(options: &DoctorOptions, seed: u64) -> Options {
    Options {
        precision: 1e-9,
        bound: options.trial,
        min_blocks: race::LEAST_BLOCKS,
        max_blocks: race::MOST_BLOCKS,
        seed,
        ..options.race.clone()
    }
}

/// An arm that does a window, and then the first thousandths of it once more.
struct ExtraWork {
    arm: Arc<dyn Recipe>,
    reference: Arc<dyn Reference>,
    thousandths: usize,
}

impl ExtraWork {
    fn extra(window: Window, thousandths: usize) -> Window {
        Window { first: window.first, count: (window.count * thousandths + 500) / 1000 }
    }

    fn join(main: Checksum, extra: Checksum) -> Checksum {
        main.fold(extra.0, 0)
    }
}

impl Recipe for ExtraWork {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let arm = self.arm.build(input, placement)?;
        // All arms of a trial run this same function; only the number differs.
        Ok(Arm::around(arm, self.thousandths, |(arm, thousandths), window| {
            let main = arm.run(window);
            let extra = Self::extra(window, *thousandths);
            if extra.count == 0 { main } else { Self::join(main, arm.run(extra)) }
        }))
    }
}

impl Reference for ExtraWork {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let main = self.reference.checksum(source, window);
        let extra = Self::extra(window, self.thousandths);
        if extra.count == 0 { main } else { Self::join(main, self.reference.checksum(source, extra)) }
    }
}

fn arm<'a>(cell: &'a Cell, name: &str) -> &'a ArmResult {
    cell.arm(name).expect("every trial has the same arms")
}

/// The raw interval at 95 %, without the correction for several comparisons: in log ratios.
fn raw(log_ratios: &[f64]) -> Interval {
    signed_rank_interval(log_ratios, 0.95)
}

fn diagnose(body: Body, cells: &[Cell]) -> Diagnosis {
    let count = |name: &str, happened: &dyn Fn(&ArmResult) -> bool| {
        Rate::of(cells.iter().filter(|cell| happened(arm(cell, name))).count(), cells.len())
    };
    let middle = |value: &dyn Fn(&Cell) -> f64| median(&mut cells.iter().map(value).collect::<Vec<_>>());
    let slower = |result: &ArmResult| result.verdict == Some(Verdict::Slower);
    let ratios: Vec<f64> =
        cells.iter().map(|cell| arm(cell, "again").ratio.unwrap_or(f64::NAN).ln()).collect();
    let again = match cells {
        [one] => raw(&arm(one, "again").log_ratios),
        _ => raw(&ratios),
    }
    .map(f64::exp);
    Diagnosis {
        body: body.name(),
        again_ratio: again.estimate,
        again_low: (again.low > 0.0).then_some(again.low),
        again_high: again.high.is_finite().then_some(again.high),
        raw_exclusion_rate: count("again", &|result| !raw(&result.log_ratios).contains(0.0)),
        false_verdict_rate: count("again", &|result| {
            matches!(result.verdict, Some(Verdict::Faster | Verdict::Slower))
        }),
        detection_rate_1: count("plus_1_percent", &slower),
        detection_rate_2: count("plus_2_percent", &slower),
        half_width: middle(&|cell| raw(&arm(cell, "again").log_ratios).half_width()),
        cost_of_1: middle(&|cell| arm(cell, "plus_1_percent").ratio.unwrap_or(f64::NAN)),
        cost_of_2: middle(&|cell| arm(cell, "plus_2_percent").ratio.unwrap_or(f64::NAN)),
        blocks: middle(&|cell| cell.blocks as f64),
        ns_per_packet: middle(&|cell| arm(cell, "once").median),
        // Measured by itself.
        layout_spread: f64::NAN,
    }
}

/// Draws the blocks of one race again and again. For the arm against itself each block's sign is drawn too: which of
/// the two instances is called the first is arbitrary, so under no difference both signs are equally likely. That shows
/// whether intervals are calibrated for this machine's noise; whether there *is* a difference, `again_ratio` shows.
fn resample(body: Body, cell: &Cell, seed: u64, watch: &Watch) -> Result<Diagnosis> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let level = cell.level;
    let mut draw = |name: &str, signs: bool| -> Vec<f64> {
        let blocks = &arm(cell, name).log_ratios;
        (0..blocks.len())
            .map(|_| {
                let value = blocks[random.random_range(0..blocks.len())];
                if signs && random.random_bool(0.5) { -value } else { value }
            })
            .collect()
    };
    let (mut excluded, mut misjudged, mut found_1, mut found_2) = (0, 0, 0, 0);
    let judged = |logs: &[f64]| verdict::judge(&signed_rank_interval(logs, level).map(f64::exp), cell.margin);
    for _ in 0..RESAMPLES {
        watch.check()?;
        let same = draw("again", true);
        excluded += usize::from(!raw(&same).contains(0.0));
        misjudged += usize::from(matches!(judged(&same), Verdict::Faster | Verdict::Slower));
        found_1 += usize::from(judged(&draw("plus_1_percent", false)) == Verdict::Slower);
        found_2 += usize::from(judged(&draw("plus_2_percent", false)) == Verdict::Slower);
    }
    Ok(Diagnosis {
        raw_exclusion_rate: Rate::of(excluded, RESAMPLES),
        false_verdict_rate: Rate::of(misjudged, RESAMPLES),
        detection_rate_1: Rate::of(found_1, RESAMPLES),
        detection_rate_2: Rate::of(found_2, RESAMPLES),
        ..diagnose(body, std::slice::from_ref(cell))
    })
}
