//! What a race and an experiment report: plain data, serialised as it stands.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Ceiling, Tail, Trap, Unit, Value};

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is so.
    Held,
    /// It isn't: whatever rests on it is void.
    Failed,
    /// It isn't, and was not meant to be: the race is wrong on purpose (see [`Conditions`](super::Conditions)).
    Fired,
    /// It can't be examined here; the check's detail says why.
    NotApplicable,
}

/// One named check and what it saw.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Its name, stable, kebab-case.
    pub name: String,
    /// What came out.
    pub outcome: Outcome,
    /// What was seen, with the values.
    pub detail: String,
}

impl Check {
    /// Held or failed, by `ok`.
    pub fn new(name: impl Into<String>, ok: bool, detail: impl Into<String>) -> Self {
        let outcome = if ok { Outcome::Held } else { Outcome::Failed };
        Check { name: name.into(), outcome, detail: detail.into() }
    }

    /// Whether this is about measuring (a control, noise, a clock or timer too coarse or unsteady, a pool too short for the
    /// predictor, a cell that couldn't be measured) rather than about what is measured: failed, it is a missing verdict.
    pub fn is_about_measuring(&self) -> bool {
        let family = self.name.split(':').next().unwrap_or_default();
        matches!(
            family,
            "control"
                | "quiet"
                | "tick"
                | "measured"
                | "timer-floor"
                | "tsc-invariant"
                | "warmed-up"
                | "pool-not-learned"
        )
    }

    /// Not examined, and why.
    pub fn not_applicable(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Check { name: name.into(), outcome: Outcome::NotApplicable, detail: reason.into() }
    }
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// The whole interval lies below the margin.
    #[serde(rename = "faster")]
    Faster,
    /// The whole interval lies above the margin.
    #[serde(rename = "slower")]
    Slower,
    /// The whole interval lies within the margin.
    #[serde(rename = "same")]
    Same,
    /// Anything else.
    #[serde(rename = "not resolved")]
    NotResolved,
}

/// Probes (calls of `matches`, or key comparisons) a packet, counted exactly in a pass of its own.
#[derive(Debug, Clone, Serialize)]
pub struct Probes {
    /// Mean over the pool.
    pub mean: f64,
    /// Expectation by enumeration over handlers and payload values; `None` where the law isn't known.
    pub expected: Option<f64>,
    /// Median.
    pub p50: u32,
    /// 99th percentile.
    pub p99: u32,
    /// Most for any packet of the pool.
    pub max: u32,
}

impl Probes {
    /// Summarises one count a packet.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(mut counts: Vec<u32>, expected: Option<f64>) -> Self {
        let mean = counts.iter().map(|&count| f64::from(count)).sum::<f64>() / counts.len() as f64;
        counts.sort_unstable();
        // Nearest rank: the smallest count that at least this share of packets doesn't exceed.
        let at = |share: f64| counts[(share * counts.len() as f64).ceil() as usize - 1];
        Probes { mean, expected, p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

/// One counter, read around a pass of an arm that isn't timed.
#[derive(Debug, Clone, Serialize)]
pub struct CounterResult {
    /// Its name: `cycles`, `instructions`, `l1i_misses`, …
    pub name: String,
    /// Events an operation; `None` where it couldn't be read.
    pub per_operation: Option<f64>,
    /// Why not, or that it is an estimate from part of the time.
    pub note: Option<String>,
}

/// One arm's figures.
#[derive(Debug, Clone, Serialize)]
pub struct ArmResult {
    /// Its name.
    pub arm: String,
    /// `arm`, `baseline` or `control`.
    pub role: &'static str,
    /// What the ratio is to: the baseline's name, or what the control equals by construction.
    pub against: String,
    /// Cost an operation: median over blocks, and its interval; in the cell's unit.
    pub median: f64,
    /// Lower end of the interval of the median.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Least of any rep.
    pub min: f64,
    /// The median in canary cycles an operation.
    pub cycles: f64,
    /// Time relative to `against`; below one is faster. `None` for the baseline.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval.
    pub ratio_low: Option<f64>,
    /// Upper end.
    pub ratio_high: Option<f64>,
    /// What the ratio says.
    pub verdict: Option<Verdict>,
    /// The same in words, as "1.09× faster than scan".
    pub words: String,
    /// Exact probe counts, where the arm selects.
    pub probes: Option<Probes>,
    /// Bytes of tables, lists and keys.
    pub footprint_bytes: Option<usize>,
    /// First rep after the build over the median: what a cold run would have shown.
    pub cold_ratio: f64,
    /// Reps that count.
    pub reps: usize,
    /// Fold over the expected checksums of all windows, in hexadecimal.
    pub checksum: String,
    /// How many code layouts its blocks drew from.
    pub code_layouts: usize,
    /// Half-width of the band around 1 by which its ratio was judged: the race's own, or a wider one where layouts can't be
    /// told from ways of doing the work.
    pub margin: f64,
    /// What physics allows.
    pub ceiling: Option<Ceiling>,
    /// What this way of doing it can't express, whatever it costs.
    pub excludes: Option<&'static str>,
    /// The chosen hardware and software counters over one untimed pass, each with its value or the reason why not.
    pub counters: Vec<CounterResult>,
    /// Operation by operation, where they were timed so.
    pub tail: Option<Tail>,
    /// Names of what must be known when the figure is used (`one code layout`, `artefact`, …).
    pub flags: Vec<String>,
    /// One cost an operation for each block, in order.
    pub blocks: Vec<f64>,
    /// One log of the time ratio to `against` for each block, in order; zeros for the baseline.
    pub log_ratios: Vec<f64>,
}

/// Why a race ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Every ratio reached the wanted half-width.
    Precision,
    /// The time bound came first.
    TimeBound,
    /// The bound on blocks came first.
    BlockBound,
}

/// What the side channels saw during a race.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disturbances {
    /// Rounds measured again because a rep was spoilt.
    pub rounds_redone: usize,
    /// Rounds that stayed spoilt when the bound on repeats was reached; their figures were left out.
    pub rounds_dropped: usize,
    /// Times that the thread was switched out against its will inside a rep.
    pub involuntary_switches: u64,
    /// Reps that ended on another CPU than the pinned one.
    pub migrations: u64,
    /// Page faults inside reps.
    pub page_faults: u64,
    /// Rounds measured again because the core's width changed: another hardware thread of the core, of this system or
    /// of somebody else's, started or stopped.
    pub width_changes: u64,
    /// Rounds that count although the core's width changed in them, since it wouldn't rest.
    pub width_ignored: u64,
    /// Tasks of helper threads during which the helper was switched out, moved, or faulted a page in.
    pub helpers_disturbed: u64,
    /// Nanoseconds for which the thread waited to run; `None` where it isn't told.
    pub waited_ns: Option<u64>,
    /// Side channels that this system doesn't have, with the reason: their zeros say nothing.
    pub blind: Vec<String>,
    /// Nanoseconds that the hypervisor took from the CPU; `None` where it isn't told.
    pub stolen_ns: Option<u64>,
    /// Effective frequency by the canary before each round, in GHz: 5th percentile, median, 95th percentile.
    pub ghz: [f64; 3],
}

/// Whether a cell's verdicts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// They do.
    Held,
    /// They don't: a control failed, or the machine was too noisy. The cell's `reason` says which.
    NoVerdict,
}

/// One race: one cell of an experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// All parameters.
    pub parameters: BTreeMap<String, Value>,
    /// What costs are counted in.
    pub unit: Unit,
    /// The arms, in the plan's order.
    pub arms: Vec<ArmResult>,
    /// Audits, controls, ceilings.
    pub checks: Vec<Check>,
    /// Whether the verdicts stand.
    pub status: Status,
    /// Why not, where they don't.
    pub reason: Option<String>,
    /// Confidence level of the intervals of ratios (Bonferroni over the comparisons).
    pub level: f64,
    /// Confidence level of the intervals of medians.
    pub median_level: f64,
    /// Half-width of the band in which a ratio counts as `same`, as asked for.
    pub margin: f64,
    /// The margin that the controls support: wider than the one asked for where a control can't exclude a bias of
    /// that size. Nothing reads `same` then, and `faster` and `slower` need a ratio beyond it.
    pub resolvable_margin: f64,
    /// Largest half-width of a ratio's interval, relative.
    pub half_width: f64,
    /// Blocks.
    pub blocks: usize,
    /// Operations a rep.
    pub operations_per_rep: usize,
    /// Bytes of the pool.
    pub pool_bytes: usize,
    /// Why it ended.
    pub ended: Ended,
    /// Seconds it took, all told.
    pub seconds: f64,
    /// CPU on which every rep began and ended; `None` where threads can't be pinned.
    pub cpu: Option<usize>,
    /// CPUs of the helper threads.
    pub helper_cpus: Vec<usize>,
    /// What became of raising the measuring thread's priority.
    pub priority: String,
    /// Numbers of the blocks, in the order of the arms' `blocks`: races that took turns pair by them.
    pub block_numbers: Vec<u64>,
    /// What disturbed it.
    pub disturbances: Disturbances,
    /// Whether it is wrong on purpose: then neither its checks nor its verdicts decide how a run ends.
    pub faulty: bool,
    /// Seed of this cell.
    pub seed: u64,
}

impl Cell {
    /// Takes back every verdict of this cell, and says why.
    pub fn void(&mut self, reason: String) {
        for arm in self.arms.iter_mut().filter(|arm| arm.role == "arm") {
            arm.verdict = Some(Verdict::NotResolved);
            arm.words = format!("no verdict against {}", arm.against);
        }
        self.status = Status::NoVerdict;
        self.reason.get_or_insert(reason);
    }

    /// The arm of that name.
    pub fn arm(&self, name: &str) -> Option<&ArmResult> {
        self.arms.iter().find(|arm| arm.arm == name)
    }
}

/// A figure that follows from several arms or cells, with its interval.
#[derive(Debug, Clone, Serialize)]
pub struct Contrast {
    /// Stable name.
    pub name: String,
    /// What it is, in words.
    pub what: String,
    /// The figure.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Its unit.
    pub unit: String,
    /// Confidence level.
    pub level: f64,
    /// Size, in the same unit, below which nothing counts as a difference: what the controls of its races bear out, or
    /// what the clock can tell. A figure stands apart from zero where its whole interval lies beyond.
    pub margin: f64,
    /// Whether a cell that it rests on has no verdict: then it is no finding.
    pub void: bool,
}

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Counted here: symbols, instructions, probes.
    Counted,
    /// Computed here from what is known beforehand.
    Computed,
    /// Simulated here.
    Simulated,
    /// Follows from the requirements: no measurement can overturn it.
    Required,
    /// Stands in somebody's publication, about a machine that isn't this one.
    Published,
}

/// Something that is known beside a race's figures.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// Stable name, `family:which`.
    pub name: String,
    /// The sentence, values included.
    pub text: String,
    /// The value, where it is one; `None` also where it can't be had here, which the text explains.
    pub value: Option<f64>,
    /// Its unit; empty for a bare number.
    pub unit: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// A whole experiment's result.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Its id.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// One a race.
    pub cells: Vec<Cell>,
    /// Checks over all cells (monotonic parameters).
    pub checks: Vec<Check>,
    /// What follows from the cells together.
    pub contrasts: Vec<Contrast>,
    /// What is known besides.
    pub facts: Vec<Fact>,
    /// What there is to learn, where the experiment is a trap.
    pub trap: Option<Trap>,
    /// The fault that was built into its arms on purpose, where one was asked for.
    pub sabotage: Option<&'static str>,
    /// Experiments run beside this one.
    pub companions: Vec<Report>,
    /// When it started: seconds since 1970, UTC.
    pub started: f64,
    /// Seconds it took.
    pub seconds: f64,
    /// Seed.
    pub seed: u64,
}

impl Report {
    /// Every check, companions' included, with the cell it belongs to.
    pub fn all_checks(&self) -> impl Iterator<Item = &Check> {
        let own = self.checks.iter().chain(self.cells.iter().flat_map(|cell| &cell.checks));
        let beside = self
            .companions
            .iter()
            .flat_map(|report| report.checks.iter().chain(report.cells.iter().flat_map(|cell| &cell.checks)));
        own.chain(beside)
    }

    /// What a process that ran this should exit with: 1 if a check failed, else 3 if a cell has no verdict, else 0; cells that are
    /// wrong on purpose aside. A failed
    /// control or a machine that is too noisy is a missing verdict, not a failure.
    pub fn exit_code(&self) -> u8 {
        let failed = |check: &Check| check.outcome == Outcome::Failed && !check.is_about_measuring();
        if self.all_checks().any(failed) {
            return 1;
        }
        let mut cells = self.cells.iter().chain(self.companions.iter().flat_map(|report| &report.cells));
        let unmeasured = self.all_checks().any(|check| check.outcome == Outcome::Failed);
        if unmeasured || cells.any(|cell| cell.status == Status::NoVerdict && !cell.faulty) { 3 } else { 0 }
    }
}
