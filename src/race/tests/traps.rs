//! Races that are wrong on purpose, how they are reported, and traps that don't work.

use super::*;
use crate::race::report::Report;
use crate::race::trap::Reading;
use crate::race::{Answer, Bite, Conditions, Trap};

fn pair() -> Vec<Entry> {
    vec![entry("sound", Role::Baseline, Fold { repeats: 8 }), entry("again", Role::Arm, Fold { repeats: 8 })]
}

fn under(conditions: Conditions) -> Cell {
    race_with(&Plan { conditions, ..plan(pair()) }, &quick()).expect("a race")
}

fn report(cells: Vec<Cell>, checks: Vec<Check>) -> Report {
    Report {
        experiment: "traps.toy".into(),
        title: String::new(),
        cells,
        checks,
        contrasts: Vec::new(),
        facts: Vec::new(),
        trap: None,
        sabotage: None,
        companions: Vec::new(),
        started: 0.0,
        seconds: 0.0,
        seed: 0,
    }
}

fn coarse_clock() -> Conditions {
    Conditions { clock: Some(Clock::coarse(1_000_000)), ..Conditions::faulty() }
}

/// An answer that is whatever the test wants it to be for a cell.
fn answers(wrong: (f64, f64, f64), right: (f64, f64, f64)) -> impl Fn(&Cell) -> Option<Answer> {
    move |cell| {
        let (low, value, high) = if cell.faulty { wrong } else { right };
        Some(Answer { text: format!("{value}"), value, low, high, unit: "ns".into(), level: 0.95 })
    }
}

fn reading<'a>(wrong: &'a Cell, right: &'a Cell, check: &'a str) -> Reading<'a> {
    Reading { wrong, injected: None, right, check, share: 0.1, least: 0.0 }
}

#[test]
fn what_fires_in_a_faulty_race_doesnt_end_the_run_badly() {
    let cell = under(coarse_clock());
    assert_eq!(check(&cell, "tick").outcome, Outcome::Fired);
    assert!(cell.faulty && cell.status == Status::NoVerdict);
    assert_eq!(report(vec![cell], Vec::new()).exit_code(), 0);
    // The same fault without the intention is a missing verdict, and an audit's a failure.
    let unwanted = under(Conditions { faulty: false, ..coarse_clock() });
    assert_eq!(check(&unwanted, "tick").outcome, Outcome::Failed);
    assert_eq!(report(vec![unwanted], Vec::new()).exit_code(), 3);
}

#[test]
fn audits_of_a_plan_fire_too() {
    let checks = vec![Check::new("pool-in-cache", false, "too big")];
    let faulty = Plan { checks: checks.clone(), conditions: Conditions::faulty(), ..plan(pair()) };
    let cell = race_with(&faulty, &quick()).expect("a race");
    assert_eq!(check(&cell, "pool-in-cache").outcome, Outcome::Fired);
    let honest = race_with(&Plan { checks, ..plan(pair()) }, &quick()).expect("a race");
    assert_eq!(report(vec![honest], Vec::new()).exit_code(), 1);
}

#[test]
fn conditions_are_kept() {
    let order = under(Conditions { order: Some(Order::ArmMajor), ..Conditions::faulty() });
    assert_eq!(check(&order, "order").outcome, Outcome::Fired);
    let free = under(Conditions { unpinned: true, keeps_disturbed: true, ..Conditions::faulty() });
    if free.cpu.is_some() {
        assert_eq!(check(&free, "placement").outcome, Outcome::Fired);
    }
    assert_eq!(free.disturbances.rounds_redone, 0);
    let cold = under(Conditions { cold: true, ..Conditions::faulty() });
    assert!(cold.arms.iter().all(|arm| arm.reps == cold.blocks), "one rep a block");
    let brief = under(Conditions::default());
    assert!(!brief.faulty && brief.blocks <= quick().min_blocks, "{}", brief.blocks);
}

#[test]
fn a_pin_that_was_loosened_is_back_afterwards() {
    let _alone = alone();
    let station = Station::take(&quick(), 0, &Card::read(), &Watch::new()).expect("a place to measure");
    let before = crate::machine::allowed_cpus().expect("a mask");
    let within = station.unpinned(|| Ok(crate::machine::allowed_cpus()?)).expect("run");
    assert!(within.len() >= before.len());
    assert_eq!(crate::machine::allowed_cpus().expect("a mask"), before);
}

#[test]
fn a_trap_shows_whether_its_check_did_its_part() {
    let (wrong, right) = (under(coarse_clock()), under(Conditions::default()));
    let apart = || answers((0.0, 0.0, 0.1), (9.0, 10.0, 11.0));
    let trap = reading(&wrong, &right, "tick").reveal(apart(), "why").expect("both ran");
    assert_eq!((trap.fires, trap.holds, trap.bite), (Outcome::Held, Outcome::Held, Bite::Yes));
    let ends = |trap: &Trap| report(Vec::new(), trap.checks().to_vec()).exit_code();
    assert_eq!(ends(&trap), 0);
    // A check that nobody made, one that doesn't fire on the wrong race, one that fires on the right one.
    let never_made = reading(&wrong, &right, "absent").reveal(apart(), "").expect("both ran");
    assert_eq!((never_made.fires, never_made.holds), (Outcome::Failed, Outcome::Failed));
    let silent = reading(&wrong, &right, "checksums").reveal(apart(), "").expect("both ran");
    assert_eq!((silent.fires, silent.holds), (Outcome::Failed, Outcome::Held));
    let turned = reading(&right, &wrong, "tick").reveal(apart(), "").expect("both ran");
    assert_eq!((turned.fires, turned.holds), (Outcome::Failed, Outcome::Failed));
    for broken in [never_made, silent, turned] {
        assert_eq!(ends(&broken), 1);
    }
}

#[test]
fn a_bite_needs_intervals_apart_and_a_difference_that_matters() {
    let (wrong, right) = (under(coarse_clock()), under(Conditions::default()));
    let bite = |wrong_answer, right_answer| {
        let trap = reading(&wrong, &right, "tick").reveal(answers(wrong_answer, right_answer), "");
        trap.expect("both ran").bite
    };
    assert_eq!(bite((1.0, 2.0, 3.0), (9.0, 10.0, 11.0)), Bite::Yes);
    assert_eq!(bite((1.0, 2.0, 9.5), (9.0, 10.0, 11.0)), Bite::No, "intervals overlap");
    assert_eq!(bite((9.2, 9.3, 9.4), (9.9, 10.0, 10.1)), Bite::No, "less than a tenth");
    assert_eq!(bite((f64::NEG_INFINITY, 2.0, f64::INFINITY), (9.0, 10.0, 11.0)), Bite::No, "too few blocks");
}

#[test]
fn an_injected_cause_is_said_to_be_one() {
    let (naked, injected) = (under(coarse_clock()), under(coarse_clock()));
    let right = under(Conditions::default());
    let answer = |cell: &Cell| {
        let value = if std::ptr::eq(cell, &injected) { 20.0 } else { 10.0 };
        Some(Answer {
            text: format!("{value}"),
            value,
            low: value - 1.0,
            high: value + 1.0,
            unit: "ns".into(),
            level: 0.95,
        })
    };
    let with = Reading { injected: Some((&injected, "a drift")), ..reading(&naked, &right, "tick") };
    let trap = with.reveal(answer, "by itself").expect("all ran");
    assert_eq!((trap.bite, trap.wrong.value), (Bite::Injected, 20.0));
    assert!(
        trap.cause.contains("doesn't bite here (10)") && trap.cause.contains("a drift"),
        "{}",
        trap.cause
    );
    let without = reading(&naked, &right, "tick").reveal(answer, "by itself").expect("both ran");
    assert_eq!((without.bite, without.wrong.value), (Bite::No, 10.0));
}
