//! What is counted agrees with what the arms count; what is advised follows from it.

use proptest::prelude::*;

use super::rule::{Case, recommend};
use super::runs::Runs;
use super::*;
use crate::dispatch::{HandlerSpec, Residual, SelectionRecipe};

fn residual() -> impl Strategy<Value = Residual> {
    prop_oneof![
        3 => Just(Residual::None),
        2 => (0..2u8, 0..4u8).prop_map(|(offset, value)| Residual::Mask { offset, mask: 3, value }),
        1 => (0..2u8, any::<u8>(), any::<u8>())
            .prop_map(|(offset, a, b)| Residual::Range { offset, low: a.min(b), high: a.max(b) }),
        1 => any::<u64>().prop_map(|active| Residual::Flow { active }),
    ]
}

/// Sets with few keys, so that handlers share them and overlap.
fn set() -> impl Strategy<Value = HandlerSet> {
    let spec = (0..6u16, residual()).prop_map(|(key, residual)| HandlerSpec { key, residual });
    proptest::collection::vec(spec, 1..12)
        .prop_map(|specs| HandlerSet::from_specs(specs, Body::Tiny).unwrap())
        .prop_flat_map(|set| {
            let order: Vec<usize> = (0..set.len()).collect();
            Just(order).prop_shuffle().prop_map(move |order| set.reordered(&order).unwrap())
        })
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0..8u16, any::<u32>(), any::<[u8; 24]>()).prop_map(|(protocol, flow, payload)| Packet {
        protocol,
        length: 64,
        flow,
        payload,
    });
    proptest::collection::vec(packet, 1..200)
}

fn mean_of(recipe: &SelectionRecipe, packets: &[Packet]) -> f64 {
    let probes = recipe.pass(packets, &Watch::new()).unwrap().probes;
    probes.iter().map(|&probes| f64::from(probes)).sum::<f64>() / probes.len() as f64
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * a.abs().max(1.0)
}

proptest! {
    /// The counts of a pass over the very arms, which share no code with these.
    #[test]
    fn counts_are_those_of_the_arms(set in set(), packets in packets()) {
        use crate::dispatch::SelectionArm::{Scan, TableCompact};
        let runs = Runs::counted(&set, &packets, &Watch::new()).unwrap();
        let arm = |arm| SelectionRecipe::new(arm, &set, None).unwrap();
        prop_assert!(close(runs.list(&set).mean, mean_of(&arm(Scan), &packets)));
        prop_assert!(close(runs.table.mean, mean_of(&arm(TableCompact), &packets)));
        let kept = kept_order::kept_order(&set, &runs.shares);
        let sorted = SelectionRecipe::scan_ordered(&set, kept.clone()).unwrap();
        prop_assert!(close(runs.list(&set.reordered(&kept).unwrap()).mean, mean_of(&sorted, &packets)));
        let most = arm(TableCompact).pass(&packets, &Watch::new()).unwrap().probes.into_iter().max().unwrap();
        prop_assert!(most as usize <= runs.table.worst);
    }

    #[test]
    fn a_kept_order_changes_nobody(set in set(), packets in packets()) {
        let runs = Runs::counted(&set, &packets, &Watch::new()).unwrap();
        let kept = kept_order::kept_order(&set, &runs.shares);
        let changed = order::changed_handlers(&set, &packets, set.order(), &kept, &Watch::new()).unwrap();
        prop_assert_eq!(changed, 0);
        if set.overlaps().is_empty() {
            prop_assert_eq!(kept, kept_order::by_frequency(&set, &runs.shares));
        }
    }

    #[test]
    fn sorting_without_overlaps_is_never_worse(set in set(), packets in packets()) {
        prop_assume!(set.overlaps().is_empty());
        let question = Question { set: Some(set), ..Question::new(Seen::Packets(packets)) };
        let advice = advise(&question, &Card::read(), &Watch::new()).unwrap();
        prop_assert!(advice.sorted.mean <= advice.list.mean + 1e-9);
        prop_assert!(advice.captured.is_none_or(|share| share >= -1e-9));
    }

    /// Enumeration against packets that are drawn.
    #[test]
    fn expectations_are_what_is_drawn(set in set(), weights in proptest::collection::vec(0.1..5.0f64, 12)) {
        let weights = &weights[..set.len()];
        let runs = Runs::expected(&set, weights, 0.1).unwrap().unwrap();
        let drawn = draw(&set, weights, 0.1, 20_000, 3, &Watch::new()).unwrap();
        let counted = Runs::counted(&set, &drawn, &Watch::new()).unwrap();
        // Five standard deviations of a mean over this many packets, at most.
        let slack = |most: usize| 5.0 * most as f64 / (2.0 * 20_000_f64.sqrt());
        prop_assert!((runs.list(&set).mean - counted.list(&set).mean).abs() < slack(set.len()));
        prop_assert!((runs.table.mean - counted.table.mean).abs() < slack(set.len()));
        prop_assert!((runs.nobody - counted.nobody).abs() < slack(1));
    }
}

fn ask(question: Question) -> Advice {
    advise(&question, &Card::read(), &Watch::new()).unwrap()
}

fn keys(weights: impl IntoIterator<Item = f64>) -> Seen {
    Seen::Keys((0..).zip(weights).collect())
}

#[test]
fn the_published_set_needs_its_published_probes() {
    let set = HandlerSet::standard(100, Body::Fat, 0.10, 0).unwrap();
    // 98 % matched, all handlers alike; 5000 is a key that nobody claims.
    let seen = set.keys().into_iter().map(|key| (key, 0.98)).chain([(5000, 2.0)]).collect();
    let advice = ask(Question { set: Some(set), ..Question::new(Seen::Keys(seen)) });
    assert!((advice.list.mean - 52.18).abs() < 0.01, "{}", advice.list.mean);
    assert_eq!((advice.list.worst, advice.sorted.worst, advice.table.worst), (100, 100, 5));
    assert_eq!((advice.handlers, advice.keys, advice.residual_handlers), (100, 93, 10));
    assert_eq!((advice.order, advice.unclaimed_keys), (Order::Given, 1));
}

#[test]
fn shares_by_hand() {
    let seen = keys([6.0, 3.0, 1.0]);
    let advice = ask(Question { order_given: true, ..Question::new(seen) });
    assert!(close(advice.list.mean, 0.6 + 0.6 + 0.3) && close(advice.sorted.mean, 1.5));
    assert_eq!((advice.table.mean, advice.captured), (1.0, Some(0.0)));
    assert!(close(advice.any_order_mean.unwrap(), 2.0) && close(advice.busiest, 0.6));
    let backwards = keys([1.0, 3.0, 6.0]);
    let advice = ask(Question { order_given: true, ..Question::new(backwards) });
    assert!(close(advice.list.mean, 2.5) && close(advice.captured.unwrap(), 1.0 / 1.5));
    assert_eq!(advice.traffic, 10.0);
}

#[test]
fn a_typical_order_is_near_the_mean_of_all() {
    // One hot key, which a single shuffle may put anywhere.
    let seen = keys((0..100).map(|key| if key == 17 { 900.0 } else { 1.0 }));
    for seed in 0..5 {
        let advice = ask(Question { seed, ..Question::new(seen.clone()) });
        let any = advice.any_order_mean.unwrap();
        assert!(close(any, 50.5) && (advice.list.mean / any - 1.0).abs() < 0.3, "{}", advice.list.mean);
        assert_eq!(advice.order, Order::Typical);
    }
}

#[test]
fn a_share_of_predicates_is_made() {
    let seen = keys((0..60).map(f64::from).map(|key| key + 1.0));
    let advice = ask(Question { residual_share: 0.25, ..Question::new(seen.clone()) });
    let share = advice.residual_handlers as f64 / advice.handlers as f64;
    assert!((share - 0.25).abs() < 0.03 && advice.keys == 60, "{share}");
    assert_eq!((advice.table.worst, advice.reordering.overlapping_pairs), (5, 0));
    let overlapping = ask(Question { overlap: 0.2, ..Question::new(seen.clone()) });
    assert_eq!((overlapping.reordering.overlapping_pairs, overlapping.handlers), (12, 72));
    // The general handler runs three times as often as the specific one before it: a free sort swaps every pair.
    let (changed, packets) = (overlapping.reordering.changed, overlapping.reordering.packets);
    assert!(packets == DRAWN && changed > packets / 50, "{changed}");
    assert!(overlapping.recommendation.conditions.iter().any(|text| text.contains("order")));
    let without = ask(Question::new(seen));
    assert_eq!((without.reordering.packets, without.reordering.changed), (0, 0));
    assert_eq!(without.reordering.free_mean, without.sorted.mean);
}

#[test]
fn rare_keys_stay_without_handlers() {
    let advice = ask(Question { handlers: Some(2), ..Question::new(keys([5.0, 1.0, 4.0])) });
    assert_eq!((advice.handlers, advice.unclaimed_keys), (2, 1));
    assert!(close(advice.unmatched, 0.1));
    let many = keys((0..3000).map(|_| 1.0));
    let advice = ask(Question::new(many.clone()));
    assert_eq!((advice.handlers, advice.unclaimed_keys), (1024, 1976));
    let all_residual = ask(Question { residual_share: 1.0, ..Question::new(many) });
    assert_eq!((all_residual.handlers, all_residual.keys), (1024, 256));
}

#[test]
fn keys_that_repeat_are_summed() {
    let seen = Seen::Keys(vec![(7, 1.0), (9, 2.0), (7, 3.0)]);
    let advice = ask(Question { order_given: true, ..Question::new(seen) });
    assert_eq!((advice.handlers, advice.traffic), (2, 6.0));
    assert!(close(advice.busiest, 4.0 / 6.0));
}

#[test]
fn what_cant_be_used_is_refused_by_name() {
    let refused =
        |question: Question| advise(&question, &Card::read(), &Watch::new()).unwrap_err().to_string();
    let good = || Question::new(keys([1.0, 2.0]));
    let cases = [
        (Question::new(keys([1.0, -2.0])), "weights = -2"),
        (Question::new(keys([1.0, f64::NAN])), "weights = NaN"),
        (Question::new(keys([0.0, 0.0])), "weights = 0"),
        (Question::new(keys([f64::MAX, f64::MAX])), "weights = inf"),
        (Question::new(keys([])), "weights = no weights"),
        (Question::new(Seen::Packets(Vec::new())), "packets = 0 packets"),
        (Question::new(Seen::Handlers(vec![1.0])), "weights = 1 weights"),
        (Question { rate: 0.0, ..good() }, "rate = 0"),
        (Question { rate: f64::INFINITY, ..good() }, "rate = inf"),
        (Question { probe_ns: -1.0, ..good() }, "probe_ns = -1"),
        (Question { residual_share: 1.5, ..good() }, "residual_share = 1.5"),
        (Question { overlap: -0.5, ..good() }, "overlap = -0.5"),
        (Question { residual_share: 1.0, overlap: 1.0, ..good() }, "overlap = 1"),
        (Question { handlers: Some(0), ..good() }, "handlers = 0"),
        (Question { handlers: Some(1025), ..good() }, "handlers = 1025"),
        (Question { pool: Some(0), ..good() }, "pool = 0"),
        (
            Question { thresholds: Thresholds { worth_share: 2.0, ..Thresholds::default() }, ..good() },
            "worth_share = 2",
        ),
    ];
    for (question, expected) in cases {
        let message = refused(question);
        assert!(message.starts_with(expected), "{message} (wanted {expected})");
    }
    let set = || Some(HandlerSet::standard(5, Body::Tiny, 0.0, 0).unwrap());
    assert!(refused(Question { set: set(), overlap: 0.1, ..good() }).starts_with("overlap = 0.1"));
    assert!(refused(Question { set: set(), handlers: Some(5), ..good() }).starts_with("handlers = 5"));
    let elsewhere = Seen::Keys(vec![(900, 1.0)]);
    assert!(refused(Question { set: set(), ..Question::new(elsewhere) }).contains("at least one key"));
    let many = keys((0..1000).map(|_| 1.0));
    let made = Question { handlers: Some(1000), residual_share: 0.5, ..Question::new(many) };
    assert!(refused(made).contains("more than 1024"));
}

#[test]
fn a_stop_ends_it() {
    let watch = Watch::new();
    watch.stop();
    let packets = Seen::Packets(vec![Packet { protocol: 1, length: 64, flow: 0, payload: [0; 24] }]);
    assert!(matches!(advise(&Question::new(packets), &Card::read(), &watch), Err(Error::Interrupted)));
}

/// A case by its probes alone, at 10 ns each.
fn settled(means: [f64; 3], worst: [usize; 3], budget_ns: f64, adversarial: bool) -> Recommendation {
    let probings: Vec<Probing> =
        means.iter().zip(worst).map(|(&mean, worst)| Probing { mean, worst }).collect();
    let probings = [&probings[0], &probings[1], &probings[2]];
    let reordering = Reordering { overlapping_pairs: 0, packets: 0, changed: 0, free_mean: means[1] };
    recommend(&Case {
        handlers: worst[0],
        captured: share(means[0] - means[1], means[0] - means[2]),
        budget_ns,
        adversarial,
        probings,
        costs: &Costs::new(probings, None, 10.0),
        reordering: &reordering,
        thresholds: &Thresholds::default(),
    })
}

#[test]
fn each_rule_settles_what_it_says() {
    let settle = |means, worst, budget, adversarial| {
        let advice = settled(means, worst, budget, adversarial);
        (advice.choice, advice.rule)
    };
    // 4 handlers at a leisurely rate: a table saves 15 ns of 1,000.
    assert_eq!(settle([2.5, 2.0, 1.0], [4, 4, 1], 1000.0, false), (Choice::Neither, 2));
    // Two hot keys: sorting captures nearly all.
    assert_eq!(settle([50.0, 4.0, 1.0], [100, 100, 1], 333.0, false), (Choice::Sort, 3));
    // A flat mix: it captures nothing.
    assert_eq!(settle([50.0, 49.0, 1.0], [100, 100, 1], 333.0, false), (Choice::Table, 4));
    // It captures 85 %, but sorted the list is still over the budget, and a table isn't.
    assert_eq!(settle([500.0, 76.0, 1.0], [1000, 1000, 1], 333.0, false), (Choice::Table, 4));
    // Neither is within it: then that is no reason.
    assert_eq!(settle([500.0, 76.0, 1.0], [1000, 1000, 1], 5.0, false), (Choice::Sort, 3));
    // Somebody hostile makes the order worthless.
    assert_eq!(settle([50.0, 4.0, 1.0], [100, 100, 1], 333.0, true), (Choice::Table, 1));
    assert_eq!(settle([2.5, 2.0, 1.0], [4, 4, 1], 1000.0, true), (Choice::Neither, 1));
    // A table that saves nothing, as where every handler shares one key.
    assert_eq!(settle([3.0, 2.0, 3.5], [4, 4, 5], 20.0, false), (Choice::Neither, 2));
}

#[test]
fn reasons_and_conditions_state_their_figures() {
    let sort = settled([50.0, 4.0, 1.0], [100, 100, 1], 333.0, false);
    assert!(sort.because[0].contains("490 ns") && sort.because[0].contains("33.3 ns"), "{:?}", sort.because);
    assert!(sort.because[1].contains("94 % of the probes"), "{:?}", sort.because);
    let hostile = sort.conditions.iter().find(|text| text.contains("hostile")).unwrap();
    assert!(hostile.contains("at worst 100 probes, 1,000 ns, over the budget"), "{hostile}");
    let neither = settled([2.5, 2.0, 1.0], [4, 4, 1], 1000.0, false);
    // A tenth of a second over 15 ns a packet.
    assert!(neither.conditions[0].contains("below 6.67 M packets/s"), "{:?}", neither.conditions);
    assert!(neither.because[0].contains("of the 1,000 ns budget, 100 ns"), "{:?}", neither.because);
    assert!(neither.conditions[1].contains("40.0 ns, within the budget"), "{:?}", neither.conditions);
    let nothing = settled([3.0, 2.0, 3.5], [4, 4, 5], 20.0, false);
    assert!(nothing.conditions[0].contains("any rate"), "{:?}", nothing.conditions);
}

#[test]
fn a_threshold_within_an_interval_is_close() {
    let probing = |mean, worst| Probing { mean, worst };
    let probings = [&probing(10.0, 20), &probing(9.0, 20), &probing(1.0, 1)];
    let reordering = Reordering { overlapping_pairs: 0, packets: 0, changed: 0, free_mean: 9.0 };
    let mut costs = Costs::new(probings, None, 1.0);
    let advised = |costs: &Costs| {
        recommend(&Case {
            handlers: 20,
            captured: Some(0.1),
            budget_ns: 100.0,
            adversarial: false,
            probings,
            costs,
            reordering: &reordering,
            thresholds: &Thresholds::default(),
        })
    };
    let exact = advised(&costs);
    assert!(!exact.close && exact.choice == Choice::Neither);
    costs.saved[1] = Figure { value: 9.0, low: 7.0, high: 11.0 };
    let wide = advised(&costs);
    assert!(wide.close && wide.choice == Choice::Neither);
}

#[test]
fn what_is_raced_needs_the_probes_that_were_counted() {
    let weights = || (0..30).map(|key| f64::from(key % 7 + 1));
    let question = Question { residual_share: 0.2, overlap: 0.1, ..Question::new(keys(weights())) };
    let workload = handlers::workload(&question, &Watch::new()).unwrap();
    let (set, card, watch) = (&workload.set, Card::read(), Watch::new());
    let packets = workload.packets(&question, 512, &watch).unwrap();
    let runs = Runs::counted(set, &packets, &watch).unwrap();
    let kept = kept_order::kept_order(set, &runs.shares);
    let means = |packets: Vec<Packet>| -> Vec<f64> {
        let plan = cost::plan(set, &kept, packets, &card, &watch).unwrap();
        plan.entries.into_iter().filter_map(|entry| entry.probes.map(|probes| probes.mean)).collect()
    };
    let counted = [runs.list(set).mean, runs.list(&set.reordered(&kept).unwrap()).mean, runs.table.mean];
    let raced = means(packets);
    assert!(
        raced.len() == 3 && raced.iter().zip(counted).all(|(&a, b)| close(a, b)),
        "{raced:?} {counted:?}"
    );
    // Packets that nobody claims: everybody is asked, whatever the order.
    let n = set.len() as f64;
    assert_eq!(means(cost::unclaimed(set, 512, 1)), [n, n, 1.0]);
}

#[test]
fn a_race_is_measured_or_says_why_not() {
    let options =
        Options { bound: std::time::Duration::from_millis(50), allow_debug_build: true, ..Options::quick() };
    let seen = keys((0..30).map(|key| f64::from(key % 7 + 1)));
    let advice = ask(Question { measure: Some(options), pool: Some(512), ..Question::new(seen) });
    let report = advice.report.as_ref().unwrap();
    let held = |cell: &crate::race::Cell| cell.status == crate::race::Status::Held;
    assert_eq!(advice.replayed, Some(512));
    match advice.costs.source {
        CostSource::Measured => {
            assert!(report.cells.len() == 2 && report.cells.iter().all(held));
            assert!(advice.costs.probe_ns.is_none());
        }
        CostSource::Assumed(reason) => {
            assert!(reason.is_some_and(|reason| !reason.is_empty()));
            assert_eq!(advice.costs.probe_ns, Some(ASSUMED_PROBE_NS));
        }
    }
}

#[test]
fn a_race_without_a_cell_leaves_costs_assumed() {
    let probing = |mean, worst| Probing { mean, worst };
    let probings = [&probing(10.0, 20), &probing(9.0, 20), &probing(1.0, 1)];
    let report = Report {
        experiment: "advise".into(),
        title: String::new(),
        cells: Vec::new(),
        checks: vec![crate::race::Check::new("measured:advise", false, "no quiet moment")],
        contrasts: Vec::new(),
        facts: Vec::new(),
        companions: Vec::new(),
        sabotage: None,
        trap: None,
        started: 0.0,
        seconds: 0.0,
        seed: 0,
    };
    let costs = Costs::new(probings, Some(&report), 2.0);
    assert_eq!(costs.source, CostSource::Assumed(Some("no quiet moment".into())));
    assert_eq!((costs.usual[0].value, costs.worst[2].value), (20.0, 2.0));
}
