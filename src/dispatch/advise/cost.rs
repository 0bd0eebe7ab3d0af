//! What finding costs in nanoseconds: measured by a race on the very traffic, or assumed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

use super::Probing;
use crate::dispatch::{HandlerSet, ScanReference, SelectionArm, SelectionRecipe, audit, ceiling};
use crate::machine::Card;
use crate::race::statistics::signed_rank_interval;
use crate::race::{
    self, Cell, Entry, Options, Plan, Probes, Report, Role, Source as Input, Status, Unit, Value, Values,
    Watch, contrast,
};
use crate::traffic::Packet;
use crate::{Error, Result};

/// A figure with its interval; both ends are the figure where it was assumed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Where costs come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "reason")]
pub enum Source {
    /// Raced here: loop, search, call and a handler's work.
    Measured,
    /// Probes times what one is taken to cost: the search alone. With the reason why nothing was measured, if it was
    /// tried.
    Assumed(Option<String>),
}

/// Nanoseconds a packet.
#[derive(Debug, Clone, Serialize)]
pub struct Costs {
    /// Measured or assumed.
    pub source: Source,
    /// What a probe was taken to cost, where costs are assumed.
    pub probe_ns: Option<f64>,
    /// List, sorted list, table, on this traffic.
    pub usual: [Figure; 3],
    /// The same where every packet is the worst there is.
    pub worst: [Figure; 3],
    /// What sorting and what a table saves on this traffic: list minus the other, paired.
    pub saved: [Figure; 2],
    /// What a table saves where every packet is the worst there is.
    pub saved_at_worst: Figure,
    /// Of what a table saves in time, the share that sorting saves; `None` where that has no interval above zero.
    pub captured: Option<Figure>,
}

const ARMS: [&str; 3] = ["scan", "scan_ordered", "table_compact"];
const CONTROL: &str = "scan_again";
/// Names of the two traffics.
const YOURS: &str = "yours";
const UNCLAIMED: &str = "unclaimed";

impl Costs {
    /// From the race where there is one with a verdict, else from probes.
    pub(super) fn new(probings: [&Probing; 3], report: Option<&Report>, probe_ns: f64) -> Costs {
        let reason = match report {
            None => None,
            Some(report) => match report.cells.iter().find(|cell| cell.status == Status::NoVerdict) {
                Some(cell) => cell.reason.clone(),
                None => match measured(report) {
                    Some(costs) => return costs,
                    None => Some(lost(report)),
                },
            },
        };
        let exactly = |probes: f64| Figure {
            value: probes * probe_ns,
            low: probes * probe_ns,
            high: probes * probe_ns,
        };
        let (usual, worst) = (probings.map(|p| p.mean), probings.map(|p| p.worst as f64));
        Costs {
            source: Source::Assumed(reason),
            probe_ns: Some(probe_ns),
            usual: usual.map(exactly),
            worst: worst.map(exactly),
            saved: [exactly(usual[0] - usual[1]), exactly(usual[0] - usual[2])],
            saved_at_worst: exactly(worst[0] - worst[2]),
            captured: super::share(usual[0] - usual[1], usual[0] - usual[2]).map(|share| Figure {
                value: share,
                low: share,
                high: share,
            }),
        }
    }
}

/// Why a report without a void cell has no figures: a race that found no quiet moment, or too few.
fn lost(report: &Report) -> String {
    report.checks.first().map_or_else(|| "too few undisturbed blocks".into(), |check| check.detail.clone())
}

fn measured(report: &Report) -> Option<Costs> {
    let cell = |name: &str| {
        let wanted = Value::Text(name.into());
        report.cells.iter().find(|cell| cell.parameters.get("traffic") == Some(&wanted))
    };
    let (yours, unclaimed) = (cell(YOURS)?, cell(UNCLAIMED)?);
    let figures = |cell: &Cell| -> Option<[Figure; 3]> {
        let all: Option<Vec<Figure>> = ARMS
            .iter()
            .map(|name| {
                let arm = cell.arm(name)?;
                Some(Figure { value: arm.median, low: arm.low, high: arm.high }).filter(Figure::is_finite)
            })
            .collect();
        all?.try_into().ok()
    };
    let less = |cell: &Cell, other: &str| {
        let interval = contrast::over_blocks(&[(1.0, cell, ARMS[0]), (-1.0, cell, other)])?;
        let figure = Figure { value: interval.estimate, low: interval.low, high: interval.high };
        Some(figure).filter(Figure::is_finite)
    };
    let saved = [less(yours, ARMS[1])?, less(yours, ARMS[2])?];
    Some(Costs {
        source: Source::Measured,
        probe_ns: None,
        usual: figures(yours)?,
        worst: figures(unclaimed)?,
        saved,
        saved_at_worst: less(unclaimed, ARMS[2])?,
        captured: (saved[1].low > 0.0).then(|| captured(yours)).flatten(),
    })
}

impl Figure {
    fn is_finite(&self) -> bool {
        [self.value, self.low, self.high].iter().all(|value| value.is_finite())
    }
}

/// What sorting saves over what a table saves, block by block: both ran in the same rounds.
fn captured(cell: &Cell) -> Option<Figure> {
    let [list, sorted, table] = ARMS.map(|name| cell.arm(name).map(|arm| &arm.blocks));
    let (list, sorted, table) = (list?, sorted?, table?);
    let shares: Vec<f64> = list
        .iter()
        .zip(sorted)
        .zip(table)
        .map(|((list, sorted), table)| (list - sorted) / (list - table))
        .filter(|share| share.is_finite())
        .collect();
    let interval = (!shares.is_empty()).then(|| signed_rank_interval(&shares, contrast::LEVEL))?;
    let figure = Figure { value: interval.estimate, low: interval.low, high: interval.high };
    Some(figure).filter(Figure::is_finite)
}

/// Races list, sorted list and table over `packets`, and over packets whose key nobody claims: those that make a list
/// ask everybody, in whatever order.
pub(super) fn race(
    set: &HandlerSet,
    sorted: &[usize],
    packets: Vec<Packet>,
    options: &Options,
    card: &Card,
    watch: &Watch,
) -> Result<Report> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let begun = Instant::now();
    let mut settings = Vec::new();
    let hostile = unclaimed(set, packets.len(), options.seed);
    for (name, packets) in [(YOURS, packets), (UNCLAIMED, hostile)] {
        let values = BTreeMap::from([
            ("handlers".to_string(), Value::Int(set.len() as i64)),
            ("traffic".to_string(), Value::Text(name.into())),
        ]);
        settings.push((Values(values), plan(set, sorted, packets, card, watch)?));
    }
    let together: Vec<(&Values, &Plan)> = settings.iter().map(|(values, plan)| (values, plan)).collect();
    let mut checks = Vec::new();
    let mut cells = Vec::new();
    for cell in race::run_together(&together, Unit::NsPerPacket, card, options, watch)? {
        match cell {
            Ok(cell) => cells.push(cell),
            Err(error @ Error::NotMeasurable { .. }) => {
                checks.push(race::Check::new("measured:advise", false, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Report {
        experiment: "advise".into(),
        title: "List, sorted list and table on this traffic, and on packets that nobody claims".into(),
        cells,
        checks,
        contrasts: Vec::new(),
        facts: Vec::new(),
        trap: None,
        sabotage: None,
        companions: Vec::new(),
        started,
        seconds: begun.elapsed().as_secs_f64(),
        seed: options.seed,
    })
}

/// The race over `packets`: list, list in order `sorted`, table, and the list once more as a control.
pub(super) fn plan(
    set: &HandlerSet,
    sorted: &[usize],
    packets: Vec<Packet>,
    card: &Card,
    watch: &Watch,
) -> Result<Plan> {
    let reference = Arc::new(ScanReference::new(set));
    let arms = [
        (SelectionArm::Scan, ARMS[0], Role::Baseline),
        (SelectionArm::ScanOrdered, ARMS[1], Role::Arm),
        (SelectionArm::TableCompact, ARMS[2], Role::Arm),
        (SelectionArm::Scan, CONTROL, Role::Control { against: ARMS[0].into() }),
    ];
    let mut entries = Vec::new();
    for (arm, name, role) in arms {
        let recipe = match arm {
            SelectionArm::ScanOrdered => SelectionRecipe::scan_ordered(set, sorted.to_vec())?,
            _ => SelectionRecipe::new(arm, set, None)?,
        };
        let probes = match role {
            Role::Control { .. } => None,
            _ => Some(Probes::of(recipe.pass(&packets, watch)?.probes, None)),
        };
        let ceiling = Some(ceiling::selection(arm, probes.as_ref()));
        let entry = Entry::new(name, role, Arc::new(recipe), reference.clone(), "dispatch");
        entries.push(Entry { probes, ceiling, ..entry });
    }
    let checks = vec![audit::bodies_check(&[set])?, audit::pool_check(&packets, card)];
    Ok(Plan { checks, ..Plan::new(Input::from_items(packets), entries) })
}

/// As many packets with keys that nobody claims, drawn evenly from all such keys.
pub(super) fn unclaimed(set: &HandlerSet, count: usize, seed: u64) -> Vec<Packet> {
    let claimed: std::collections::HashSet<u16> = set.keys().into_iter().collect();
    let free: Vec<u16> = (0..=u16::MAX).filter(|key| !claimed.contains(key)).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut packet = || {
        // A set holds 1,024 keys at most, of 65,536.
        let protocol = free[random.random_range(0..free.len())];
        Packet { protocol, length: 64, flow: random.random(), payload: [0; 24] }
    };
    (0..count).map(|_| packet()).collect()
}
