//! Mechanisms and proposals: what follows from their cells, and what takes a sentence or a verdict back.

use super::*;
use crate::race::{Cell, Experiment, Fact};

fn find(id: &str) -> &'static dyn Experiment {
    catalogue::find(id).expect("there")
}

/// A cell that was measured, to be copied and given other figures.
fn measured(id: &str, set: &[(&str, &[Value])]) -> Option<Cell> {
    let mut cell = unless_busy(measure(id, set))?.cells.remove(0);
    cell.status = Status::Held;
    cell.reason = None;
    Some(cell)
}

/// The same with these words, and for each arm a cost with a drift that all share; proposals swing by `noise` besides.
fn with(cell: &Cell, words: &[(&str, &str)], noise: f64, costs: &[(&str, f64)]) -> Cell {
    let mut cell = cell.clone();
    for (name, word) in words {
        cell.parameters.insert(name.to_string(), text(word));
    }
    cell.block_numbers = (0..40).collect();
    for (name, cost) in costs {
        let arm = cell.arms.iter_mut().find(|arm| arm.arm == *name).expect("an arm of that name");
        let own = if ["scan", "table_compact"].contains(name) { 0.0 } else { noise };
        let swing = |number: u64| if number.is_multiple_of(2) { own } else { -own };
        arm.blocks = (0..40).map(|number| cost + (number * number % 37) as f64 + swing(number)).collect();
    }
    cell
}

fn small() -> Vec<(&'static str, &'static [Value])> {
    vec![("handlers", &[Value::Int(10)]), ("pool", &[Value::Int(1024)])]
}

mod proposals {
    use super::*;

    const ID: &str = "dispatch.proposals";
    const ALL: [&str; 7] = [
        "scan",
        "scan_erased",
        "scan_enum",
        "scan_enum_inlined",
        "scan_static",
        "scan_static_keys",
        "table_compact",
    ];

    fn headline(cell: Cell) -> Fact {
        let facts = find(ID).facts(&[cell], &Card::read(), &Watch::new()).expect("facts");
        facts.into_iter().find(|fact| fact.name == "headline:10").expect("a headline")
    }

    fn costs(proposals: f64, one: f64, table: f64) -> Vec<(&'static str, f64)> {
        let mut costs: Vec<(&str, f64)> = ALL.map(|arm| (arm, proposals)).to_vec();
        (costs[0].1, costs[4].1, costs[6].1) = (300.0, one, table);
        costs
    }

    #[test]
    fn the_headline_says_what_the_figures_say() {
        let Some(template) = measured(ID, &small()) else { return };
        let of = |noise, costs: &[(&str, f64)]| headline(with(&template, &[], noise, costs));

        let none = of(0.0, &costs(298.0, 298.0, 50.0));
        assert!(none.text.contains("none of the proposals touches the search"), "{}", none.text);
        assert!(none.value.is_some_and(|share| share < 0.10));

        let one = of(0.0, &costs(298.0, 70.0, 50.0));
        assert!(one.text.contains("do touch the search"), "{}", one.text);
        assert!(one.text.contains("more than a tenth: scan_static 92 %"), "{}", one.text);
        assert!(one.value.is_some_and(|share| (share - 0.92).abs() < 1e-9));

        let dearer = of(0.0, &costs(320.0, 320.0, 50.0));
        assert!(dearer.text.contains("none of the proposals"), "dearer is no gain: {}", dearer.text);

        let open = of(20.0, &costs(275.0, 275.0, 50.0));
        assert!(open.text.contains("isn't resolved"), "{}", open.text);
    }

    #[test]
    fn without_a_verdict_or_a_gain_nothing_is_said() {
        let Some(template) = measured(ID, &small()) else { return };
        let mut void = with(&template, &[], 0.0, &costs(298.0, 70.0, 50.0));
        void.void("quiet: it wasn't".into());
        let lost = headline(void);
        assert!(lost.value.is_none() && lost.text.contains("no verdict"), "{}", lost.text);
        let flat = headline(with(&template, &[], 0.0, &costs(300.0, 300.0, 300.0)));
        assert!(flat.value.is_none() && flat.text.contains("isn't resolved"), "{}", flat.text);
    }

    #[test]
    fn arms_that_cannot_be_are_named_with_the_reason() {
        let set: Vec<(&str, &[Value])> = vec![("handlers", &[Value::Int(11)]), ("pool", &[Value::Int(1024)])];
        let Some(cell) = measured(ID, &set) else { return };
        assert!(cell.arm("scan_static").is_none() && cell.arm("scan_enum").is_some());
        let facts = find(ID).facts(&[cell], &Card::read(), &Watch::new()).expect("facts");
        for arm in ["scan_static", "scan_static_keys"] {
            let fact = facts.iter().find(|fact| fact.name == format!("absent:{arm}")).expect("said");
            assert!(fact.text.contains("not for 11"), "{}", fact.text);
        }
    }
}

mod mechanism {
    use super::*;

    const ID: &str = "dispatch.mechanism";

    fn cells(template: &Cell, again: f64) -> Vec<Cell> {
        let cell = |law: &str, dynamic: f64, again: f64| {
            let costs = [("dyn_trait", dynamic), ("thin", dynamic + 0.5), ("erased", dynamic - 0.5)];
            let costs = [costs.as_slice(), &[("direct", 10.0), ("direct_again", again)]].concat();
            with(template, &[("traffic", law), ("body", "tiny")], 0.0, &costs)
        };
        vec![cell("hot", 11.0, 10.0), cell("uniform", 21.0, again)]
    }

    #[test]
    fn loads_and_gaps_are_differences_paired_by_block() {
        let Some(template) = measured(ID, &[small(), vec![("traffic", &[text("hot")])]].concat()) else {
            return;
        };
        let contrasts = find(ID).contrasts(&cells(&template, 10.0));
        let value = |name: &str| {
            let found = contrasts.iter().find(|contrast| contrast.name == name);
            found.unwrap_or_else(|| panic!("no {name}")).value
        };
        for (name, wanted) in [
            ("calling:hot", 1.0),
            ("calling:uniform", 11.0),
            ("load:thin:hot", 0.5),
            ("load:dyn:uniform", 0.5),
            ("gap:direct:uniform", 0.0),
            ("gap:dyn_trait:uniform", 10.0),
        ] {
            assert!((value(name) - wanted).abs() < 1e-9, "{name}: {}", value(name));
        }
    }

    #[test]
    fn a_control_with_a_gap_takes_the_verdicts() {
        let Some(template) = measured(ID, &[small(), vec![("traffic", &[text("hot")])]].concat()) else {
            return;
        };
        let judged = |again| {
            let mut cells = cells(&template, again);
            let checks = find(ID).judge(&mut cells, &Card::read());
            let check =
                checks.into_iter().find(|check| check.name == "control:gap:uniform").expect("a check");
            (check.outcome, cells.iter().all(|cell| cell.status == Status::NoVerdict))
        };
        assert_eq!(judged(10.0), (Outcome::Held, false));
        assert_eq!(judged(10.5), (Outcome::Held, false));
        assert_eq!(judged(12.0), (Outcome::Failed, true));
    }

    #[test]
    fn what_each_excludes_and_what_is_absent_stand_in_the_result() {
        let set: Vec<(&str, &[Value])> =
            vec![("handlers", &[Value::Int(12)]), ("pool", &[Value::Int(1024)]), ("traffic", &[])];
        let hot = [text("hot")];
        let set: Vec<(&str, &[Value])> = set
            .into_iter()
            .map(|(name, values)| (name, if values.is_empty() { &hot[..] } else { values }))
            .collect();
        let Some(cell) = measured(ID, &set) else { return };
        let excludes = |arm: &str| cell.arm(arm).expect("raced").excludes;
        assert!(excludes("enum_match").is_some_and(|text| text.contains("can't name a plugin's type")));
        assert!(excludes("erased").is_none() && excludes("direct").is_none());
        assert!(cell.arm("static_match").is_none());
        let facts = find(ID).facts(&[cell], &Card::read(), &Watch::new()).expect("facts");
        assert!(
            facts.iter().any(|fact| fact.name == "absent:static_match" && fact.text.contains("not for 12"))
        );
    }
}
