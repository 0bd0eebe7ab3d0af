//! What the instrument itself looks like before anything is measured with it: tick, floor, frequency, counters.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::Result;
use crate::dispatch::{Body, HandlerSet, NullRecipe, NullReference};
use crate::machine::{Card, CounterStatus, WarmUp, counters};
use crate::race::{self, Check, Entry, Options, Plan, Role, Source, Status, Unit, Values, Watch};
use crate::traffic::{Law, Traffic};

/// Figures of the instrument.
#[derive(Debug, Clone, Serialize)]
pub struct Instrument {
    /// Smallest step of the clock that was seen, in nanoseconds.
    pub tick_ns: f64,
    /// Cost of one clock read, in nanoseconds.
    pub clock_read_ns: f64,
    /// The harness's own cost a packet: loop, claimed test and fold, nothing else; nanoseconds.
    pub floor_ns: f64,
    /// Lower end of the floor's interval.
    pub floor_low_ns: f64,
    /// Upper end.
    pub floor_high_ns: f64,
    /// Effective frequency by the canary, GHz: lowest, median, highest while the floor was measured.
    pub ghz: [f64; 3],
    /// CPU that is measured on, where threads can be pinned.
    pub cpu: Option<usize>,
    /// How this process warmed up before its first race.
    pub warm_up: Option<WarmUp>,
    /// What became of raising the thread's priority.
    pub priority: String,
    /// Which counters there are, and why the others aren't.
    pub counters: Vec<CounterStatus>,
    /// Checks of the floor's own race (placement, quiet, tick, control).
    pub checks: Vec<Check>,
    /// Whether the floor's control read zero.
    pub status: Status,
}

/// The floor's pool: small enough for any L1d, since the floor is about the loop.
const FLOOR_PACKETS: usize = 256;
const FLOOR_BOUND: Duration = Duration::from_millis(400);

/// Looks at the instrument; takes about a second.
///
/// # Errors
/// As a race.
pub fn look(options: &Options, card: &Card, watch: &Watch) -> Result<Instrument> {
    let set = HandlerSet::standard(100, Body::Tiny, 0.10, options.seed)?;
    let packets = Traffic::new(Law::Uniform).seed(options.seed).generate(
        FLOOR_PACKETS,
        &set.keys(),
        &watch.silent(),
    )?;
    let reference = Arc::new(NullReference::new(&set));
    let entry = |name: &str, role: Role| {
        Entry::new(name, role, Arc::new(NullRecipe::new(&set)), reference.clone(), "floor")
    };
    let control = Role::Control { against: NullRecipe::NAME.into() };
    let entries = vec![entry(NullRecipe::NAME, Role::Baseline), entry("null_again", control)];
    let plan = Plan::new(Source::from_items(packets), entries);
    let quick = Options { bound: FLOOR_BOUND, min_blocks: race::LEAST_BLOCKS, ..options.clone() };
    let cell = race::run(&plan, Unit::NsPerPacket, &Values(BTreeMap::new()), card, &quick, watch)?;
    let floor = cell.arm(NullRecipe::NAME).expect("the plan has it");
    Ok(Instrument {
        tick_ns: options.clock.measure_tick(),
        clock_read_ns: options.clock.read_cost_ns(),
        floor_ns: floor.median,
        floor_low_ns: floor.low,
        floor_high_ns: floor.high,
        ghz: cell.disturbances.ghz,
        cpu: cell.cpu,
        warm_up: race::station::first_warm_up(),
        priority: cell.priority.clone(),
        counters: counters::available(),
        checks: cell.checks.clone(),
        status: cell.status,
    })
}
