//! Plans and settings that can't give a result, each refused by name.

use std::time::Instant;

use super::*;

fn pair() -> Vec<Entry> {
    vec![entry("a", Role::Baseline, Fold { repeats: 1 }), entry("b", Role::Arm, Fold { repeats: 1 })]
}

#[test]
fn unusable_plans() {
    let alone = vec![entry("a", Role::Baseline, Fold { repeats: 1 })];
    assert!(refused(race(alone)).to_string().starts_with("arms = 1"));
    let mut twice = pair();
    twice.push(entry("b", Role::Arm, Fold { repeats: 1 }));
    assert!(refused(race(twice)).to_string().starts_with("arms = b: is there twice"));
    let baseless =
        vec![entry("a", Role::Arm, Fold { repeats: 1 }), entry("b", Role::Arm, Fold { repeats: 1 })];
    assert!(refused(race(baseless)).to_string().starts_with("baseline = a, b"));
    let mut two = pair();
    two.push(entry("c", Role::Baseline, Fold { repeats: 1 }));
    assert!(refused(race(two)).to_string().starts_with("baseline = a, b, c"));
    let mut loose = pair();
    loose.push(entry("c", Role::Control { against: "z".into() }, Fold { repeats: 1 }));
    assert!(
        refused(race(loose))
            .to_string()
            .starts_with("control = z: no arm that c could be held against; there are a, b")
    );
    for against in ["c", "d"] {
        let mut circular = pair();
        circular.push(entry("c", Role::Control { against: against.into() }, Fold { repeats: 1 }));
        circular.push(entry("d", Role::Control { against: "c".into() }, Fold { repeats: 1 }));
        assert!(refused(race(circular)).to_string().starts_with(&format!("control = {against}")));
    }
    let mut empty = plan(pair());
    empty.source = Source::from_items(Vec::<u64>::new());
    assert!(refused(race_with(&empty, &quick())).to_string().starts_with("input = 0 operations"));
}

#[test]
fn unusable_settings() {
    let refused = |options: Options| refused(race_with(&plan(pair()), &options)).to_string();
    assert!(refused(Options { precision: -1.0, ..quick() }).starts_with("precision = -1"));
    assert!(refused(Options { min_blocks: 0, ..quick() }).starts_with("min_blocks = 0"));
    let absent = refused(Options { cpu: Some(4095), ..quick() });
    assert!(absent.contains("4095"), "{absent}");
}

#[test]
fn more_cpus_than_there_are() {
    let mut many = plan(pair());
    many.helpers = 100_000;
    let error = refused(race_with(&many, &quick()));
    assert!(
        matches!(error, Error::NotMeasurable { .. }) && error.to_string().contains("100001 CPUs"),
        "{error}"
    );
}

#[test]
fn an_interrupt_ends_it_soon() {
    let watch = Watch::new();
    // Would run for a minute: ties of two equal arms can reach any precision, so precision must not come into it.
    let options = Options { bound: Duration::from_secs(60), min_blocks: MOST_BLOCKS, ..quick() };
    let plan = plan(pair());
    let _alone = alone();
    let took = std::thread::scope(|scope| {
        let racing = scope
            .spawn(|| run(&plan, Unit::NsPerIteration, &Values::default(), &Card::read(), &options, &watch));
        std::thread::sleep(Duration::from_millis(900));
        let asked = Instant::now();
        watch.stop();
        assert!(matches!(racing.join().expect("no panic"), Err(Error::Interrupted)));
        asked.elapsed()
    });
    // The promise is 0.2 s; the margin is for a machine that is busy with other tests.
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn a_debug_build() {
    if !Card::read().is_debug_build() {
        return;
    }
    let options = Options { allow_debug_build: false, ..quick() };
    assert!(refused(race_with(&plan(pair()), &options)).to_string().contains("debug build"));
}
