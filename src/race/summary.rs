//! From block estimates to the figures, verdicts and checks of a cell.

use super::block::Bench;
use super::experiment::Role;
use super::options::LEAST_BLOCKS;
use super::report::{ArmResult, Cell, Check, CounterResult, Disturbances, Ended, Outcome, Status, Verdict};
use super::rounds::Estimate;
use super::schedule::Order;
use super::sizing::Sizing;
use super::statistics::{Interval, median, sign_interval, signed_rank_interval};
use super::verdict::{in_words, judge, judge_beside_controls, resolvable_margin};
use super::{CODE_COPIES, Checksum, Unit, Values};

/// What the runner hands over besides its bench.
pub(super) struct Measured<'a> {
    pub unit: Unit,
    pub values: &'a Values,
    pub sizing: Sizing,
    pub blocks: Vec<Estimate>,
    pub lost_blocks: usize,
    pub level: f64,
    pub ended: Ended,
    pub seconds: f64,
    pub placement: Check,
    /// Code layouts of each arm.
    pub layouts: Vec<usize>,
    /// Counters of each arm.
    pub counters: Vec<Vec<CounterResult>>,
}

/// With controls that can't exclude a bias of this size nothing is concluded at all.
const WIDEST_MARGIN: f64 = 0.05;
/// A rep shorter than this many ticks can't resolve half a percent.
const LEAST_TICKS: f64 = 200.0;

pub(super) fn summarise(bench: Bench, measured: Measured) -> Cell {
    let options = bench.options;
    let ratios: Vec<Option<Interval>> = (0..bench.plan.entries.len())
        .map(|at| {
            let logs: Vec<f64> = measured.blocks.iter().map(|block| block.log_ratio[at]).collect();
            let compared = bench.against[at] != at;
            compared.then(|| signed_rank_interval(&logs, measured.level).map(f64::exp))
        })
        .collect();
    let controls = bench
        .plan
        .entries
        .iter()
        .zip(&ratios)
        .filter(|(entry, _)| matches!(entry.role, Role::Control { .. }));
    let margin = resolvable_margin(options.margin, controls.filter_map(|(_, ratio)| ratio.as_ref()));
    let mut arms: Vec<ArmResult> =
        (0..ratios.len()).map(|at| figures(&bench, &measured, at, ratios[at], margin)).collect();
    // In logarithms, as when stopping: relative to the ratio, whatever its size.
    let half_width = ratios.iter().flatten().map(|ratio| ratio.map(f64::ln).half_width()).fold(0.0, f64::max);

    let mut checks = bench.plan.checks.clone();
    checks.push(Check::new(
        "checksums",
        true,
        format!(
            "every rep of {} arms folded to its reference, over {} windows",
            arms.len(),
            measured.sizing.windows
        ),
    ));
    let placement = measured.placement.clone();
    let quiet = quiet_check(&bench.seen, &measured);
    let tick = tick_check(&bench, &measured);
    let arranged = bench.plan.conditions.order(options);
    let order = Check::new(
        "order",
        arranged == Order::Balanced,
        match arranged {
            Order::Balanced => format!("{} balanced orders (Williams)", bench.orders.len()),
            Order::ArmMajor => "arm-major: drift of the clock is charged to the last arm".into(),
        },
    );
    let warmed_up = warmed_up_check(&bench, &measured);
    let controls = control_checks(&bench, &ratios);
    let ceilings: Vec<Check> = arms.iter_mut().filter_map(ceiling_check).collect();

    let blocks_missing = (measured.blocks.len() < LEAST_BLOCKS)
        .then(|| format!("{} blocks, fewer than {LEAST_BLOCKS}", measured.blocks.len()));
    let reason = blocks_missing.or_else(|| {
        let voiding =
            [&placement, &quiet, &tick, &order, &warmed_up].into_iter().chain(&controls).chain(&ceilings);
        voiding
            .filter(|check| check.outcome == Outcome::Failed)
            .map(|c| format!("{}: {}", c.name, c.detail))
            .next()
    });
    let reason = reason.or_else(|| {
        let wide = controls.iter().find(|check| check.outcome == Outcome::NotApplicable)?;
        (margin > WIDEST_MARGIN).then(|| format!("{}: {}", wide.name, wide.detail))
    });
    checks.extend([placement, quiet, tick, order, warmed_up]);
    checks.extend(controls);
    checks.extend(ceilings);
    let mut frequencies = bench.frequencies;
    let mut seen = bench.seen;
    if !frequencies.is_empty() {
        frequencies.sort_unstable_by(f64::total_cmp);
        // A canary that was itself interrupted reads absurdly low, so the ends are quantiles.
        let at = |share: f64| frequencies[(share * (frequencies.len() - 1) as f64).round() as usize];
        seen.ghz = [at(0.05), at(0.5), at(0.95)];
    }
    let mut cell = Cell {
        parameters: measured.values.0.clone(),
        unit: measured.unit,
        arms,
        checks,
        status: Status::Held,
        reason: None,
        level: measured.level,
        median_level: options.level,
        margin: options.margin,
        resolvable_margin: margin,
        half_width,
        blocks: measured.blocks.len(),
        operations_per_rep: measured.sizing.operations_per_rep(),
        pool_bytes: bench.plan.source.bytes().len(),
        ended: measured.ended,
        seconds: measured.seconds,
        cpu: bench.station.cpu(),
        helper_cpus: bench.station.helper_cpus(),
        priority: bench.station.priority(),
        block_numbers: measured.blocks.iter().map(|block| block.number).collect(),
        disturbances: seen,
        faulty: bench.plan.conditions.faulty,
        seed: options.seed,
    };
    if let Some(reason) = reason {
        cell.void(reason);
    }
    if cell.faulty {
        let failed = cell.checks.iter_mut().filter(|check| check.outcome == Outcome::Failed);
        failed.for_each(|check| check.outcome = Outcome::Fired);
    }
    cell
}

fn figures(
    bench: &Bench,
    measured: &Measured,
    at: usize,
    ratio: Option<Interval>,
    resolvable: f64,
) -> ArmResult {
    let options = bench.options;
    let entry = &bench.plan.entries[at];
    let blocks = &measured.blocks;
    let of =
        |value: fn(&Estimate, usize) -> f64| blocks.iter().map(|block| value(block, at)).collect::<Vec<_>>();
    let ns = of(|block, at| block.ns[at]);
    let absolute = sign_interval(&ns, options.level);
    let mut cycles: Vec<f64> =
        blocks.iter().filter_map(|block| block.ghz.map(|ghz| ghz * block.ns[at])).collect();
    let against = bench.plan.entries[bench.against[at]].name.clone();
    let one_layout =
        |at: usize| measured.layouts[at] < CODE_COPIES || bench.plan.entries[at].recipe.calls_one_layout();
    // A control is the same code as what it is held against, at the same place.
    let margin = match &entry.role {
        Role::Control { .. } => options.margin,
        _ if one_layout(at) || one_layout(bench.against[at]) => options.margin.max(options.one_layout_margin),
        _ => options.margin,
    };
    let verdict = ratio.map(|ratio| match &entry.role {
        Role::Control { .. } => judge(&ratio, margin),
        _ => judge_beside_controls(&ratio, margin, resolvable),
    });
    let words = match (&entry.role, verdict, ratio) {
        (Role::Baseline, ..) => "baseline".into(),
        (_, Some(verdict), Some(ratio)) => in_words(verdict, &ratio, margin, &against),
        _ => String::new(),
    };
    let code_layouts = measured.layouts[at];
    let once = one_layout(at);
    let flags = if once { vec!["one code layout".to_string()] } else { Vec::new() };
    let folded = bench.expected[at].iter().fold(Checksum::EMPTY, |sum, window| sum.fold(window.0, 0));
    ArmResult {
        arm: entry.name.clone(),
        role: match entry.role {
            Role::Arm => "arm",
            Role::Baseline => "baseline",
            Role::Control { .. } => "control",
        },
        against,
        median: absolute.estimate,
        // With too few blocks for the level the interval is all that was seen.
        low: absolute.low.max(ns.iter().copied().fold(f64::INFINITY, f64::min)),
        high: absolute.high.min(ns.iter().copied().fold(0.0, f64::max)),
        min: of(|block, at| block.min_ns[at]).into_iter().fold(f64::INFINITY, f64::min),
        cycles: if cycles.is_empty() { f64::NAN } else { median(&mut cycles) },
        ratio: ratio.map(|ratio| ratio.estimate),
        ratio_low: ratio.map(|ratio| ratio.low),
        ratio_high: ratio.map(|ratio| ratio.high),
        verdict,
        words,
        probes: entry.probes.clone(),
        footprint_bytes: entry.recipe.footprint_bytes(),
        cold_ratio: median(&mut of(|block, at| block.cold[at])),
        reps: blocks.iter().map(|block| block.rounds).sum(),
        checksum: format!("{:016x}", folded.0),
        code_layouts,
        margin,
        ceiling: entry.ceiling.clone(),
        excludes: entry.excludes,
        counters: measured.counters[at].clone(),
        tail: None,
        flags,
        blocks: ns,
        log_ratios: of(|block, at| block.log_ratio[at]),
    }
}

/// A control holds if it reads *same*, fails if it reads different, and says nothing if it is too wide.
fn control_checks(bench: &Bench, ratios: &[Option<Interval>]) -> Vec<Check> {
    let margin = bench.options.margin;
    let controls = bench.plan.entries.iter().zip(ratios);
    controls
        .filter_map(|(entry, ratio)| match (&entry.role, ratio) {
            (Role::Control { against }, Some(ratio)) => {
                let name = format!("control:{}", entry.name);
                let percent = |value: f64| (value - 1.0) * 100.0;
                let read = format!(
                    "{:+.2} % ({:+.2}…{:+.2}) against {against}, margin ±{} %",
                    percent(ratio.estimate),
                    percent(ratio.low),
                    percent(ratio.high),
                    margin * 100.0
                );
                Some(match judge(ratio, margin) {
                    Verdict::Same => Check::new(name, true, read),
                    Verdict::NotResolved => Check::not_applicable(
                        name,
                        format!("too wide to read zero, so verdicts allow for it: {read}"),
                    ),
                    _ => Check::new(name, false, format!("doesn't read zero: {read}")),
                })
            }
            _ => None,
        })
        .collect()
}

/// An arm cheaper than physics allows didn't do its work; its figure is marked, never shown as a finding.
fn ceiling_check(arm: &mut ArmResult) -> Option<Check> {
    let ceiling = arm.ceiling.as_ref()?;
    let name = format!("ceiling:{}", arm.arm);
    if arm.cycles.is_nan() {
        return Some(Check::not_applicable(name, "no canary on this architecture, so no cycles"));
    }
    let possible = arm.cycles >= ceiling.min_cycles;
    let detail = format!(
        "{:.2} cycles measured, at least {:.2} ({})",
        arm.cycles, ceiling.min_cycles, ceiling.formula
    );
    if !possible {
        arm.flags.push("artefact".into());
    }
    Some(Check::new(name, possible, detail))
}

fn quiet_check(seen: &Disturbances, measured: &Measured) -> Check {
    let counted: usize = measured.blocks.iter().map(|block| block.rounds).sum();
    let mut detail = format!(
        "{} rounds redone, {} dropped, {} blocks lost, {counted} counted; {} involuntary switches, {} page faults, \
         {} waited; core's width changed {} times, and in {} rounds that count",
        seen.rounds_redone,
        seen.rounds_dropped,
        measured.lost_blocks,
        seen.involuntary_switches,
        seen.page_faults,
        seen.waited_ns.map_or("unknown time".into(), |ns| format!("{:.1} ms", ns as f64 / 1e6)),
        seen.width_changes,
        seen.width_ignored,
    );
    if !seen.blind.is_empty() {
        detail = format!("{detail}; not seen here: {}", seen.blind.join(", "));
    }
    let mostly = seen.rounds_dropped <= counted && measured.lost_blocks <= measured.blocks.len();
    if mostly && seen.blind.len() >= BLIND {
        return Check::not_applicable("quiet", detail);
    }
    Check::new("quiet", mostly, detail)
}

/// The first rep that counts may cost this many times what the later ones do, typically.
const FIRST_REP_AT_MOST: f64 = 1.25;

/// Whether arms had settled when counting began: if the first rep that counts is typically dearer than those after it, what
/// was measured is a state that passes (cold caches, predictors that know nothing, a core that isn't clocked up).
fn warmed_up_check(bench: &Bench, measured: &Measured) -> Check {
    const NAME: &str = "warmed-up";
    let over_blocks = |at: usize| {
        let first: Vec<f64> = measured.blocks.iter().filter_map(|block| block.first[at]).collect();
        (first.len() >= LEAST_BLOCKS).then(|| (at, sign_interval(&first, bench.options.level)))
    };
    let arms = (0..bench.plan.entries.len()).filter_map(over_blocks);
    let Some((worst, ratio)) = arms.max_by(|(_, a), (_, b)| a.low.total_cmp(&b.low)) else {
        let reason =
            format!("fewer than {LEAST_BLOCKS} blocks have a later rep to compare the first one with");
        return Check::not_applicable(NAME, reason);
    };
    let name = &bench.plan.entries[worst].name;
    let detail = format!(
        "the first rep that counts costs {:.2} times what later ones do, at least {:.2} ({name}, the worst arm)",
        ratio.estimate, ratio.low
    );
    // Beyond doubt: a machine that others use makes single reps dear, the first ones as any.
    Check::new(NAME, ratio.low <= FIRST_REP_AT_MOST, detail)
}

/// With this many side channels missing (switches and faults, waiting, steal) nothing would tell a disturbance.
const BLIND: usize = 3;

fn tick_check(bench: &Bench, measured: &Measured) -> Check {
    let tick = bench.clock().measure_tick();
    let shortest = measured.blocks.iter().map(|block| block.shortest_ns).fold(f64::INFINITY, f64::min);
    let detail =
        format!("shortest rep {:.1} µs, {:.0} ticks of {tick:.0} ns", shortest / 1e3, shortest / tick);
    Check::new("tick", shortest >= LEAST_TICKS * tick, detail)
}
