//! Should you? From traffic and a target rate to a recommendation: keep the list, sort it, or build a table.
//!
//! Everything that can be counted is counted exactly: probes on average and at worst, what sorting captures, whom
//! reordering would change. What it costs is measured on this machine, on that very traffic, or else assumed and called
//! so. The rule that turns figures into advice is [`rule`](mod@rule)'s, written out and settable.

mod cost;
mod handlers;
mod kept_order;
pub mod rule;
mod runs;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use cost::{Costs, Figure, Source as CostSource};
pub use rule::{Choice, Recommendation, Thresholds};
pub use runs::Probing;

use super::{Body, HandlerSet, order};
use crate::machine::Card;
use crate::race::{Options, Report, Watch};
use crate::traffic::{Law, Packet, Traffic};
use crate::{Error, Result};

/// Packets that are drawn from weights, to be replayed and where enumeration is out of reach: the published kata's pool.
pub const DRAWN: usize = 32_768;
/// What a probe is taken to cost where nothing was measured, in nanoseconds. The published scan over 100 handlers took
/// 142.8 ns for 52.3 probes, 2.7 ns each; the same code on a shared Zen 4 took 10.9. Nearer the dearer: the advice that
/// rests on it errs towards the table.
pub const ASSUMED_PROBE_NS: f64 = 10.0;

/// What is known of the traffic.
#[derive(Debug, Clone)]
pub enum Seen {
    /// How often each key occurs, in the order of registration where that is known; keys may repeat.
    Keys(Vec<(u16, f64)>),
    /// How often each handler of the given set is meant, by its number.
    Handlers(Vec<f64>),
    /// Packets themselves, whose payloads settle residual predicates.
    Packets(Vec<Packet>),
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The traffic.
    pub seen: Seen,
    /// The handlers and the order in which they are registered; else they are made from the keys.
    pub set: Option<HandlerSet>,
    /// How many of the most frequent keys have handlers; else all, up to the bodies that are compiled.
    pub handlers: Option<usize>,
    /// Whether [`Seen::Keys`] stand in the order of registration; else a typical order is taken.
    pub order_given: bool,
    /// Share of handlers that test the payload besides their key; keys drawn by `seed` have four such handlers each.
    pub residual_share: f64,
    /// Share of keys where a general handler stands behind a specific one: there order is behaviour.
    pub overlap: f64,
    /// How much code the measured handlers are.
    pub body: Body,
    /// Packets a second that are to be handled.
    pub rate: f64,
    /// Whether somebody hostile may choose the packets.
    pub adversarial: bool,
    /// When a win counts.
    pub thresholds: Thresholds,
    /// What a probe costs where nothing is measured, in nanoseconds.
    pub probe_ns: f64,
    /// Settings of the race; `None` measures nothing.
    pub measure: Option<Options>,
    /// Most packets that the race replays; else half of this machine's L2.
    pub pool: Option<usize>,
    /// Seed of the order, of what is drawn, and of placements.
    pub seed: u64,
}

impl Question {
    /// The published kata's rate, nothing hostile, no residual predicates, nothing measured.
    pub fn new(seen: Seen) -> Self {
        Question {
            seen,
            set: None,
            handlers: None,
            order_given: false,
            residual_share: 0.0,
            overlap: 0.0,
            body: Body::Fat,
            rate: 3e6,
            adversarial: false,
            thresholds: Thresholds::default(),
            probe_ns: ASSUMED_PROBE_NS,
            measure: None,
            pool: None,
            seed: 0,
        }
    }

    fn validate(&self) -> Result<()> {
        let share = |name: &str, value: f64| match (0.0..=1.0).contains(&value) {
            true => Ok(()),
            false => Err(Error::invalid(name, value, "wanted a share between 0 and 1")),
        };
        share("residual_share", self.residual_share)?;
        share("overlap", self.overlap)?;
        self.thresholds.validate()?;
        // Far beyond what anything does, and within what a table can show.
        let bounds = [
            ("rate", self.rate, 1e-3, 1e12, "0.001 to 1e12"),
            ("probe_ns", self.probe_ns, 1e-3, 1e9, "0.001 to 1e9"),
        ];
        for (name, value, least, most, spoken) in bounds {
            if !(least..=most).contains(&value) {
                return Err(Error::invalid(
                    name,
                    format!("{value:e}"),
                    format!("wanted a number from {spoken}"),
                ));
            }
        }
        if self.pool == Some(0) {
            return Err(Error::invalid("pool", 0, "wanted at least one packet"));
        }
        if self.set.is_some() {
            let made = [("residual_share", self.residual_share), ("overlap", self.overlap)];
            if let Some((name, value)) = made.into_iter().find(|(_, value)| *value != 0.0) {
                return Err(Error::invalid(name, value, "the given handlers have predicates of their own"));
            }
        }
        Ok(())
    }
}

/// Where the registration order comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The caller gave it.
    Given,
    /// Of many shuffles, the one whose list costs the median of probes.
    Typical,
}

/// What sorting would do to behaviour.
#[derive(Debug, Clone, Serialize)]
pub struct Reordering {
    /// Pairs of handlers that can both match one packet.
    pub overlapping_pairs: usize,
    /// Packets looked at; 0 where no pair overlaps, and nothing can change.
    pub packets: usize,
    /// How many of them another handler would run, were the list sorted by frequency alone.
    pub changed: usize,
    /// Probes a packet of that list.
    pub free_mean: f64,
}

/// The answer: what was counted, what it costs, and what to do.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// How many handlers.
    pub handlers: usize,
    /// How many different keys they claim.
    pub keys: usize,
    /// How many of them test more than the key.
    pub residual_handlers: usize,
    /// Sum of the weights, or number of packets.
    pub traffic: f64,
    /// Packets that were given; `None` where weights were.
    pub packets: Option<usize>,
    /// Keys of the traffic that no handler claims.
    pub unclaimed_keys: usize,
    /// Share of packets that nobody takes: unclaimed keys, and payloads that no predicate accepts.
    pub unmatched: f64,
    /// Where the registration order comes from.
    pub order: Order,
    /// Probes in registration order.
    pub list: Probing,
    /// Probes of the list sorted by how often each handler runs, overlapping pairs kept in order.
    pub sorted: Probing,
    /// Probes of a table: a lookup, and a test for each candidate.
    pub table: Probing,
    /// Mean over all orders of a list without overlaps.
    pub any_order_mean: Option<f64>,
    /// Of the probes that a table saves, the share that sorting saves; `None` where a table saves none.
    pub captured: Option<f64>,
    /// The busiest handler's share of packets.
    pub busiest: f64,
    /// What sorting does to behaviour.
    pub reordering: Reordering,
    /// Packets a second.
    pub rate: f64,
    /// Nanoseconds a packet at that rate.
    pub budget_ns: f64,
    /// Whether somebody hostile may choose the packets.
    pub adversarial: bool,
    /// What it costs.
    pub costs: Costs,
    /// What to do, and why.
    pub recommendation: Recommendation,
    /// When a win counts.
    pub thresholds: Thresholds,
    /// Packets that the race replayed; `None` where nothing was measured.
    pub replayed: Option<usize>,
    /// The race: this traffic, and packets whose key nobody claims.
    pub report: Option<Report>,
    /// The seed.
    pub seed: u64,
}

/// Answers a question.
///
/// # Errors
/// [`Error::InvalidArgument`] for unusable traffic, handlers or thresholds; [`Error::Interrupted`] once `watch` is stopped;
/// whatever a race refuses, but for a machine that is too noisy: then costs are assumed, and the advice says so.
pub fn advise(question: &Question, card: &Card, watch: &Watch) -> Result<Advice> {
    question.validate()?;
    watch.section("counting", 0.0, 0.1);
    let workload = handlers::workload(question, watch)?;
    let (set, runs) = (&workload.set, &workload.runs);
    let kept = kept_order::kept_order(set, &runs.shares);
    let (list, sorted, table) = (runs.list(set), runs.list(&set.reordered(&kept)?), runs.table.clone());
    let drawn = || workload.packets(question, DRAWN, watch);
    let reordering = reordering(set, runs, question, drawn, watch)?;
    let measured = match &question.measure {
        Some(options) => {
            let pool = question.pool.or_else(|| half_l2(card)).unwrap_or(DRAWN);
            let packets = workload.packets(question, pool, watch)?;
            watch.section("racing list, sorted list and table", 0.1, 1.0);
            let replayed = packets.len();
            Some((cost::race(set, &kept, packets, options, card, watch)?, replayed))
        }
        None => None,
    };
    let (report, replayed) = measured.map_or((None, None), |(report, count)| (Some(report), Some(count)));
    let probings = [&list, &sorted, &table];
    let costs = Costs::new(probings, report.as_ref(), question.probe_ns);
    let captured = share(list.mean - sorted.mean, list.mean - table.mean);
    let budget_ns = 1e9 / question.rate;
    let case = rule::Case {
        handlers: set.len(),
        captured,
        budget_ns,
        adversarial: question.adversarial,
        probings,
        costs: &costs,
        reordering: &reordering,
        thresholds: &question.thresholds,
    };
    let recommendation = rule::recommend(&case);
    watch.advance(1.0);
    Ok(Advice {
        handlers: set.len(),
        keys: set.distinct_keys(),
        residual_handlers: set.residual_count(),
        traffic: workload.total,
        packets: match &question.seen {
            Seen::Packets(packets) => Some(packets.len()),
            _ => None,
        },
        unclaimed_keys: workload.unclaimed_keys,
        unmatched: runs.nobody,
        order: workload.order,
        any_order_mean: (reordering.overlapping_pairs == 0).then(|| runs.any_order(set.len())),
        list,
        sorted,
        table,
        captured,
        busiest: runs.shares.iter().copied().fold(0.0, f64::max),
        reordering,
        rate: question.rate,
        budget_ns,
        adversarial: question.adversarial,
        costs,
        recommendation,
        thresholds: question.thresholds.clone(),
        replayed,
        report,
        seed: question.seed,
    })
}

/// `part` of `whole`, where there is anything to have a part of.
fn share(part: f64, whole: f64) -> Option<f64> {
    // Below this a saving is rounding.
    const NOTHING: f64 = 1e-9;
    (whole > NOTHING).then(|| part / whole)
}

fn half_l2(card: &Card) -> Option<usize> {
    card.l2_bytes().map(|bytes| (bytes / 2 / size_of::<Packet>()).max(1))
}

fn reordering(
    set: &HandlerSet,
    runs: &runs::Runs,
    question: &Question,
    drawn: impl FnOnce() -> Result<Vec<Packet>>,
    watch: &Watch,
) -> Result<Reordering> {
    let free = kept_order::by_frequency(set, &runs.shares);
    let overlapping_pairs = set.overlaps().len();
    if overlapping_pairs == 0 {
        let free_mean = runs.list(&set.reordered(&free)?).mean;
        return Ok(Reordering { overlapping_pairs, packets: 0, changed: 0, free_mean });
    }
    let own;
    let packets = match &question.seen {
        Seen::Packets(packets) => packets,
        _ => {
            own = drawn()?;
            &own
        }
    };
    let changed = order::changed_handlers(set, packets, set.order(), &free, watch)?;
    // Other handlers run in that order, so it has to be counted anew.
    let free_set = set.reordered(&free)?;
    let free_mean = runs::Runs::counted(&free_set, packets, watch)?.list(&free_set).mean;
    Ok(Reordering { overlapping_pairs, packets: packets.len(), changed, free_mean })
}

/// Packets by weights: what is drawn where none were given.
fn draw(
    set: &HandlerSet,
    weights: &[f64],
    unmatched: f64,
    count: usize,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<Packet>> {
    let traffic = Traffic::new(Law::Weights(weights.to_vec())).unmatched(unmatched).seed(seed);
    traffic.generate(count, &set.keys(), &watch.silent())
}
