//! The instruction cache's three experiments: what follows from their cells, and what takes verdicts back.

use proptest::prelude::*;

use super::*;
use crate::race::{Cell, Contrast, Experiment, Fact, Values, Verdict};

fn find(id: &str) -> &'static dyn Experiment {
    catalogue::find(id).expect("there")
}

/// A cell that was measured, to be copied and given other figures.
fn measured(id: &str, set: &[(&str, &[Value])]) -> Option<Cell> {
    let mut cell = unless_busy(measure(id, set))?.cells.remove(0);
    // Whatever noise made of it: these tests are about what follows from figures.
    cell.status = Status::Held;
    cell.reason = None;
    Some(cell)
}

/// The same with these parameters, and for each arm a cost with a drift that all cells share.
fn with(cell: &Cell, parameters: &[(&str, Value)], costs: &[(&str, f64)]) -> Cell {
    let mut cell = cell.clone();
    for (name, value) in parameters {
        cell.parameters.insert(name.to_string(), value.clone());
    }
    cell.block_numbers = (0..40).collect();
    for (name, cost) in costs {
        let arm = cell.arms.iter_mut().find(|arm| arm.arm == *name).expect("an arm of that name");
        arm.blocks = (0..40).map(|number| cost + f64::from(number * number % 37)).collect();
    }
    cell
}

fn named<'a>(contrasts: &'a [Contrast], name: &str) -> &'a Contrast {
    contrasts.iter().find(|contrast| contrast.name == name).unwrap_or_else(|| panic!("no contrast {name}"))
}

fn of<'a>(checks: &'a [Check], name: &str) -> &'a Check {
    checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name} in {checks:?}"))
}

fn fact<'a>(facts: &'a [Fact], name: &str) -> &'a Fact {
    facts.iter().find(|fact| fact.name == name).unwrap_or_else(|| panic!("no fact {name}"))
}

fn facts(id: &str, cells: &[Cell]) -> Vec<Fact> {
    find(id).facts(cells, &Card::read(), &Watch::new()).expect("facts")
}

mod factorial {
    use super::*;

    const ID: &str = "dispatch.icache";

    /// Costs of `dyn_trait` and `direct` in each cell.
    struct Costs([[(f64, f64); 3]; 2]);

    /// Fat, then tiny; hot, periodic, uniform.
    const USUAL: Costs =
        Costs([[(40.0, 40.1), (54.0, 40.1), (54.0, 40.1)], [(10.0, 10.1), (18.0, 10.1), (18.0, 10.1)]]);

    fn cells(template: &Cell, costs: &Costs) -> Vec<Cell> {
        let kinds = ["fat", "tiny"].into_iter().zip(&costs.0);
        kinds
            .flat_map(|(body, costs)| {
                ["hot", "periodic", "uniform"].into_iter().zip(costs).map(move |(law, &(dynamic, direct))| {
                    with(
                        template,
                        &[("body", text(body)), ("traffic", text(law))],
                        &[("dyn_trait", dynamic), ("direct", direct)],
                    )
                })
            })
            .collect()
    }

    fn template() -> Option<Cell> {
        measured(ID, &[small(), vec![("body", &[text("tiny")]), ("traffic", &[text("hot")])]].concat())
    }

    #[test]
    fn effects_and_interaction_are_those_of_the_cells() {
        let Some(template) = template() else { return };
        proptest!(ProptestConfig::with_cases(16), |(
            work in 0.0f64..50.0, targets in 0.0f64..20.0, fetching in 0.0f64..20.0, calling in 0.0f64..2.0
        )| {
            let hot = [(10.0 + work, 10.0 + work - calling), (10.0, 10.0 - calling)];
            let mixed = [hot[0].0 + targets + fetching, hot[1].0 + targets];
            let costs = Costs([0, 1].map(|row| [hot[row], (mixed[row], hot[row].1), (mixed[row], hot[row].1)]));
            let found = find(ID).contrasts(&cells(&template, &costs));
            let value = |name: &str| {
                let contrast = named(&found, name);
                // The drift is common to all cells: it cancels, and leaves no width.
                assert!(contrast.high - contrast.low < 1e-9 && !contrast.void, "{contrast:?}");
                contrast.value
            };
            let of_law = |name: &str, law: &str| value(&format!("{name}:{law}"));
            for law in ["periodic", "uniform"] {
                prop_assert!((of_law("targets", law) - targets).abs() < 1e-9);
                prop_assert!((of_law("both", law) - targets - fetching).abs() < 1e-9);
                prop_assert!((of_law("interaction", law) - fetching).abs() < 1e-9);
                prop_assert!(of_law("control", law).abs() < 1e-9);
            }
            prop_assert!((value("main:targets:uniform") - targets - fetching / 2.0).abs() < 1e-9);
            prop_assert!((value("main:code:uniform") - work - fetching / 2.0).abs() < 1e-9);
            prop_assert!((value("one-handler") - calling).abs() < 1e-9);
        });
    }

    #[test]
    fn a_direct_arm_that_varies_with_the_traffic_voids_its_cell_alone() {
        let Some(template) = template() else { return };
        let card = Card::read();
        let mut sound = cells(&template, &USUAL);
        let checks = find(ID).judge(&mut sound, &card);
        assert_eq!(checks.len(), 4);
        assert!(checks.iter().all(|check| check.outcome == Outcome::Held), "{checks:?}");
        assert!(sound.iter().all(|cell| cell.status == Status::Held));

        let mut broken = USUAL;
        broken.0[0][2].1 += 5.0;
        let mut broken = cells(&template, &broken);
        let checks = find(ID).judge(&mut broken, &card);
        let check = of(&checks, "control:direct:fat:uniform");
        assert!(check.outcome == Outcome::Failed && check.is_about_measuring(), "{check:?}");
        assert_eq!(checks.iter().filter(|check| check.outcome == Outcome::Held).count(), 3);
        let fallen: Vec<bool> = broken.iter().map(|cell| cell.status == Status::NoVerdict).collect();
        assert_eq!(fallen, [false, false, true, false, false, false]);
        let contrasts = find(ID).contrasts(&broken);
        assert!(named(&contrasts, "both:uniform").void && named(&contrasts, "interaction:uniform").void);
        assert!(!named(&contrasts, "both:periodic").void && !named(&contrasts, "targets:uniform").void);
    }

    #[test]
    fn what_the_factorial_can_tell_apart_follows_from_the_tiny_cells() {
        let Some(template) = template() else { return };
        let said = |periodic: f64| {
            let mut costs = USUAL;
            costs.0[1][1].0 = periodic;
            let facts = facts(ID, &cells(&template, &costs));
            (fact(&facts, "order:periodic:10").value, fact(&facts, "order:separates").text.clone())
        };
        let (share, text) = said(18.0);
        assert!(
            share.is_some_and(|share| (share - 1.0).abs() < 1e-9) && text.contains("no better than"),
            "{text}"
        );
        let (share, text) = said(10.0);
        assert!(
            share.is_some_and(|share| share.abs() < 1e-9) && text.contains("fetching code alone"),
            "{text}"
        );
        let (share, text) = said(14.0);
        assert!(share.is_some_and(|share| (share - 0.5).abs() < 1e-9) && text.contains("in part"), "{text}");
    }

    #[test]
    fn missing_cells_leave_out_what_rests_on_them() {
        let Some(template) = template() else { return };
        let all = cells(&template, &USUAL);
        let contrasts = find(ID).contrasts(&all[..3]);
        let names: Vec<&str> = contrasts.iter().map(|contrast| contrast.name.as_str()).collect();
        assert_eq!(
            names,
            ["both:periodic", "control:periodic", "both:uniform", "control:uniform", "one-handler"]
        );
        assert!(facts(ID, &all[..3]).iter().all(|fact| !fact.name.starts_with("order")));
        assert!(find(ID).contrasts(&all[1..2]).is_empty());
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn code_over_cache_is_counted() {
        let Some(template) = template() else { return };
        let facts = facts(ID, &cells(&template, &USUAL));
        let (fat, tiny) = (fact(&facts, "code:fat"), fact(&facts, "code:tiny"));
        assert!(fat.text.starts_with("10 fat handlers: 10 functions of "), "{}", fat.text);
        if Card::read().l1i_bytes().is_some() {
            assert!(fat.value.expect("known") > 5.0 * tiny.value.expect("known"));
            assert!(tiny.text.ends_with("all fit at once"), "{}", tiny.text);
        }
    }
}

mod fetch {
    use super::*;

    const ID: &str = "dispatch.fetch";

    fn template() -> Option<Cell> {
        let pool = Value::Int(2000);
        measured(ID, &[("bodies", &[Value::Int(8)]), ("body", &[text("tiny")]), ("pool", &[pool])])
    }

    /// One body and k bodies cost this in the cell of that kind and k.
    fn cell(template: &Cell, body: &str, bodies: i64, one: f64, many: f64) -> Cell {
        let set = [("body", text(body)), ("bodies", Value::Int(bodies))];
        with(template, &set, &[("one_body", one), ("many_bodies", many)])
    }

    #[test]
    fn fetching_is_what_the_fat_rise_has_more_than_the_tiny_one() {
        let Some(template) = template() else { return };
        let mut cells = vec![
            cell(&template, "fat", 8, 50.0, 51.0),
            cell(&template, "fat", 120, 50.0, 60.0),
            cell(&template, "tiny", 120, 10.0, 11.5),
        ];
        let checks = find(ID).judge(&mut cells, &Card::read());
        assert_eq!(of(&checks, "control:what-k-costs-besides").outcome, Outcome::Held, "{checks:?}");
        let found = find(ID).contrasts(&cells);
        let value = |name: &str| named(&found, name).value;
        assert!((value("rise:fat:8") - 1.0).abs() < 1e-9 && (value("rise:fat:120") - 10.0).abs() < 1e-9);
        assert!((value("rise:tiny:120") - 1.5).abs() < 1e-9 && (value("fetching") - 8.5).abs() < 1e-9);
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn the_longest_lines_code_is_counted() {
        let Some(template) = template() else { return };
        let cells = [cell(&template, "fat", 8, 50.0, 51.0), cell(&template, "identical", 120, 50.0, 50.0)];
        let facts = facts(ID, &cells);
        let (fat, folded) = (fact(&facts, "line:fat"), fact(&facts, "line:identical"));
        assert!(
            fat.text.contains("over 8 of them") && fat.value.is_some_and(|bytes| bytes > 1000.0),
            "{}",
            fat.text
        );
        // However many sites call it, one body is one body.
        let kib = |fact: &Fact| fact.text.split("of them ").nth(1)?.split(' ').next()?.parse::<f64>().ok();
        assert!(kib(folded).expect("stated") < kib(fat).expect("stated"), "{} {}", folded.text, fat.text);
    }

    #[test]
    fn a_rise_that_tiny_bodies_have_too_says_nothing_of_fetching() {
        let Some(template) = template() else { return };
        let mut cells =
            vec![cell(&template, "fat", 120, 50.0, 60.0), cell(&template, "tiny", 120, 10.0, 19.0)];
        let checks = find(ID).judge(&mut cells, &Card::read());
        assert_eq!(of(&checks, "control:what-k-costs-besides").outcome, Outcome::Failed);
        assert!(cells.iter().all(|cell| cell.status == Status::NoVerdict));
        assert!(find(ID).contrasts(&cells).iter().all(|contrast| contrast.void));
    }

    #[test]
    fn two_lines_over_one_body_must_read_the_same() {
        let Some(template) = template() else { return };
        for (verdict, outcome) in [
            (Verdict::Same, Outcome::Held),
            (Verdict::Slower, Outcome::Failed),
            (Verdict::NotResolved, Outcome::NotApplicable),
        ] {
            let mut alone = cell(&template, "tiny", 1, 10.0, 10.0);
            alone.arms.iter_mut().find(|arm| arm.arm == "many_bodies").expect("there").verdict =
                Some(verdict);
            let mut cells = vec![alone, cell(&template, "tiny", 120, 10.0, 11.0)];
            let checks = find(ID).judge(&mut cells, &Card::read());
            assert_eq!(of(&checks, "control:one-line:tiny").outcome, outcome);
            let fallen = cells.iter().all(|cell| cell.status == Status::NoVerdict);
            assert_eq!(fallen, outcome == Outcome::Failed);
        }
    }

    #[test]
    fn a_line_that_isnt_compiled_is_refused_by_name() {
        let refused = measure(ID, &[("bodies", &[Value::Int(1), Value::Int(7)])]);
        let Err(Error::InvalidArgument { name, value, .. }) = refused else { panic!("taken") };
        assert_eq!((name.as_str(), value.as_str()), ("bodies", "7"));
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn folded_bodies_are_noticed_before_anything_is_timed() {
        let checks = plan(ID, &[("bodies", Value::Int(20)), ("body", text("identical"))]);
        assert_eq!(of(&checks, "straight-line:identical:20").outcome, Outcome::Failed);
        assert_eq!(of(&checks, "bodies-distinct").outcome, Outcome::Failed);
        let checks = plan(ID, &[("bodies", Value::Int(20)), ("body", text("fat"))]);
        assert_eq!(of(&checks, "straight-line:fat:20").outcome, Outcome::Held);
        assert_eq!(of(&checks, "straight-line:fat:1").outcome, Outcome::Held);
    }
}

mod targets {
    use super::*;

    const ID: &str = "dispatch.targets";

    fn template() -> Option<Cell> {
        measured(ID, &[("targets", &[Value::Int(3)]), ("pool", &[Value::Int(2000)])])
    }

    fn cell(template: &Cell, targets: i64, periodic: f64, random: f64) -> Cell {
        let costs = [("one", 7.0), ("periodic", periodic), ("random", random)];
        with(template, &[("targets", Value::Int(targets))], &costs)
    }

    #[test]
    fn each_order_is_judged_by_what_it_costs() {
        let Some(template) = template() else { return };
        let cells =
            [cell(&template, 2, 7.1, 12.0), cell(&template, 5, 11.9, 12.0), cell(&template, 100, 22.0, 22.0)];
        let facts = facts(ID, &cells);
        let text = |targets: i64| &fact(&facts, &format!("order:periodic:{targets}")).text;
        assert!(text(2).contains("targets: learned here"), "{}", text(2));
        assert!(text(5).contains(": not learned here") && text(100).contains(": not learned here"));
        let found = find(ID).contrasts(&cells);
        assert_eq!(found.len(), 2);
        assert!((named(&found, "random:100").value - 15.0).abs() < 1e-9);
        assert!((named(&found, "periodic:100").value - 15.0).abs() < 1e-9);
    }

    #[test]
    fn with_one_target_all_orders_must_read_the_same() {
        let Some(template) = template() else { return };
        let mut alone = cell(&template, 1, 7.0, 7.0);
        for arm in &mut alone.arms {
            arm.verdict = arm.verdict.map(|_| Verdict::Same);
        }
        let mut sound = vec![alone.clone(), cell(&template, 100, 22.0, 22.0)];
        let checks = find(ID).judge(&mut sound, &Card::read());
        assert!(checks.len() == 2 && checks.iter().all(|check| check.outcome == Outcome::Held), "{checks:?}");
        alone.arms.iter_mut().find(|arm| arm.arm == "random").expect("there").verdict = Some(Verdict::Slower);
        let mut broken = vec![alone, cell(&template, 100, 22.0, 22.0)];
        let checks = find(ID).judge(&mut broken, &Card::read());
        assert_eq!(of(&checks, "control:one-target:random").outcome, Outcome::Failed);
        assert!(broken.iter().all(|cell| cell.status == Status::NoVerdict));
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn targets_whose_code_doesnt_fit_arent_targets_alone() {
        if Card::read().l1i_bytes().is_none_or(|bytes| bytes > 128 << 10) {
            return;
        }
        let outcome = |targets, body| {
            of(&plan(ID, &[("targets", Value::Int(targets)), ("body", text(body))]), "targets-fit-l1i")
                .outcome
        };
        assert_eq!(outcome(100, "tiny"), Outcome::Held);
        assert_eq!(outcome(100, "fat"), Outcome::Failed);
    }
}

/// The checks of a plan that isn't run.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn plan(id: &str, set: &[(&str, Value)]) -> Vec<Check> {
    let card = Card::read();
    let single = set.iter().map(|(name, value)| (name.to_string(), vec![value.clone()]));
    let values: Vec<Values> = cells(find(id), &single.collect(), &card).expect("usable");
    find(id).plan(&values[0], 0, &card, &Watch::new()).expect("a plan").checks
}
