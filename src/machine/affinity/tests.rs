//! Each test runs in a thread of its own, whose mask dies with it.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::*;
use crate::machine::{Core, CoreType};

/// Runs `body` in a fresh thread that is confined to `cpus` if given.
fn in_thread<T: Send + 'static>(cpus: Option<Vec<usize>>, body: impl FnOnce() -> T + Send + 'static) -> T {
    let run = move || {
        if let Some(cpus) = cpus {
            let mut mask = CpuSet::new();
            cpus.into_iter().for_each(|cpu| mask.set(cpu));
            sched_setaffinity(None, &mask).expect("narrowing one's own mask is always allowed");
        }
        body()
    };
    std::thread::spawn(run).join().expect("the test's own thread")
}

#[test]
fn every_allowed_cpu_is_honoured_and_given_back() {
    in_thread(None, || {
        let before = sched_getaffinity(None).unwrap();
        for cpu in allowed_cpus().unwrap() {
            let pin = Pin::to(cpu).unwrap();
            assert_eq!(*pin.placement(), Pinning::Honoured { cpu });
            assert_eq!(pin.cpu(), Some(cpu));
            assert_eq!(current_cpu(), Some(cpu));
            assert_eq!(allowed_cpus().unwrap(), [cpu]);
            drop(pin);
            assert_eq!(sched_getaffinity(None).unwrap(), before);
        }
        Pin::to(allowed_cpus().unwrap()[0]).unwrap().release().unwrap();
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    });
}

#[test]
fn an_absent_cpu_is_refused_with_its_number_and_the_choice() {
    for cpu in [9999, 1024, usize::MAX] {
        let before = allowed_cpus().unwrap();
        let error = Pin::to(cpu).expect_err("no machine has so many");
        assert!(matches!(error, PinningError::NoSuchCpu { cpu: c, .. } if c == cpu), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&format!("cpu={cpu}")) && text.contains("online: 0"), "{text}");
        assert_eq!(allowed_cpus().unwrap(), before);
    }
}

#[test]
fn a_cpu_outside_the_mask_is_refused_though_it_exists() {
    let all = allowed_cpus().unwrap();
    let [.., other, last] = all.as_slice() else { return };
    let (other, last) = (*other, *last);
    let text = in_thread(Some(vec![last]), move || {
        let error = Pin::to(other).expect_err("outside the mask");
        assert!(
            matches!(&error, PinningError::NotAllowed { cpu, allowed } if *cpu == other && *allowed == [last])
        );
        assert_eq!(allowed_cpus().unwrap(), [last], "refused before anything was changed");
        error.to_string()
    });
    assert!(text.contains(&format!("confined to CPUs {last};")), "{text}");
}

#[test]
fn the_mask_is_given_back_after_a_panic() {
    in_thread(None, || {
        let before = sched_getaffinity(None).unwrap();
        let cpu = allowed_cpus().unwrap()[0];
        let caught = std::panic::catch_unwind(|| {
            let _pin = Pin::to(cpu).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [cpu]);
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(caught.is_err());
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    });
}

#[test]
fn a_leaked_pin_shows_that_the_guard_is_what_restores() {
    in_thread(None, || {
        let before = sched_getaffinity(None).unwrap();
        let cpu = allowed_cpus().unwrap()[0];
        std::mem::forget(Pin::to(cpu).unwrap());
        assert_eq!(allowed_cpus().unwrap(), [cpu]);
        assert_eq!(sched_getaffinity(None).unwrap() == before, before.count() == 1);
    });
}

#[test]
fn a_thread_that_pins_itself_leaves_its_parent_alone() {
    let before = sched_getaffinity(None).unwrap();
    in_thread(None, || std::mem::forget(Pin::to(allowed_cpus().unwrap()[0]).unwrap()));
    assert_eq!(sched_getaffinity(None).unwrap(), before);
}

#[test]
fn the_default_is_allowed_and_respects_the_mask() {
    let card = Card::read();
    let all = allowed_cpus().unwrap();
    let chosen = default_cpu(&card).unwrap();
    assert!(all.contains(&chosen));
    for &only in &all {
        let card = card.clone();
        assert_eq!(in_thread(Some(vec![only]), move || default_cpu(&card)), Some(only));
    }
    if card.topology.cores.iter().all(|core| core.core_type != CoreType::Efficiency) && all.len() > 1 {
        assert_ne!(chosen, 0, "CPU 0 isn't the default where there is another");
    }
    assert_eq!(default_cpus(&card, 0), all.first().map(|_| vec![]));
    assert_eq!(default_cpus(&card, 100_000), None);
}

#[test]
fn the_first_choice_is_a_fast_core_away_from_cpu_0() {
    let core =
        |cpus: &[usize], core_type| Core { cpus: cpus.to_vec(), core_type, package: None, capacity: None };
    let hybrid = Topology {
        cores: vec![
            core(&[0, 1], CoreType::Performance),
            core(&[2, 3], CoreType::Performance),
            core(&[4], CoreType::Efficiency),
        ],
    };
    assert_eq!(first_choice(&hybrid, &[0, 1, 2, 3, 4]), Some(2));
    assert_eq!(first_choice(&hybrid, &[0, 1, 4]), Some(1));
    assert_eq!(first_choice(&hybrid, &[4]), Some(4));
    assert_eq!(first_choice(&hybrid, &[]), None);
}
