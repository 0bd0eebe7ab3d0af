//! Races of toy arms: what must come out, and every fault that must be noticed.

mod contrasts;
mod faults;
mod refusals;
mod results;
mod traps;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::*;
use crate::machine::{Card, Clock};
use crate::{Error, Result};

/// Folds each item `repeats` times over: work that grows with `repeats`.
pub struct Fold {
    pub repeats: usize,
}

fn fold(items: &[u64], window: Window, repeats: usize) -> Checksum {
    let mut sum = Checksum::EMPTY;
    for item in &items[window.first..window.first + window.count] {
        let mut value = *item;
        for _ in 0..repeats {
            // Opaque each time: the optimiser may neither shorten nor merge the repeats.
            value = std::hint::black_box(value);
        }
        sum = sum.fold(value, 1);
    }
    sum
}

impl Recipe for Fold {
    fn build(&self, input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(Arm::new((input.clone(), self.repeats), |(input, repeats), window| {
            fold(input.items(), window, *repeats)
        }))
    }
}

pub struct FoldReference;

impl Reference for FoldReference {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        fold(source.items(), window, 0)
    }
}

/// Any loop as an arm.
pub struct Custom<F>(pub F);

impl<F: Fn(&Input, Window) -> Checksum + Send + Sync + Clone + 'static> Recipe for Custom<F> {
    fn build(&self, input: &Input, _placement: &mut Placement) -> Result<Arm> {
        Ok(Arm::new((input.clone(), self.0.clone()), |(input, run), window| run(input, window)))
    }
}

pub fn entry(name: &str, role: Role, recipe: impl Recipe + 'static) -> Entry {
    let reference = Arc::new(FoldReference);
    Entry::new(name, role, Arc::new(recipe), reference, "fold")
}

pub fn plan(entries: Vec<Entry>) -> Plan {
    let source =
        Source::from_items((0..4096u64).map(|item| item.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect());
    Plan::new(source, entries)
}

pub fn quick() -> Options {
    Options {
        bound: Duration::from_millis(300),
        min_blocks: LEAST_BLOCKS,
        precision: 0.02,
        allow_debug_build: true,
        ..Options::default()
    }
}

/// Races of tests that run at once would all be pinned to the same CPU: one at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub fn race_with(plan: &Plan, options: &Options) -> Result<Cell> {
    let _alone = alone();
    run(plan, Unit::NsPerIteration, &Values::default(), &Card::read(), options, &Watch::new())
}

pub fn race(entries: Vec<Entry>) -> Result<Cell> {
    race_with(&plan(entries), &quick())
}

pub fn check<'a>(cell: &'a Cell, name: &str) -> &'a Check {
    cell.checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"))
}

pub fn coarse() -> Options {
    Options { clock: Clock::coarse(1_000_000), ..quick() }
}

pub fn refused(result: Result<Cell>) -> Error {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => error,
    }
}
