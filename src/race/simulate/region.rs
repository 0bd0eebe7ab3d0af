//! The measured region: what the child runs between the requests to callgrind.

use std::ffi::CStr;

use serde::{Deserialize, Serialize};

use super::request;
use crate::race::{Arm, Checksum, Entry, Placement, Plan, Window};
use crate::{Error, Result};

/// The dump of a region in which nothing runs: a control, its counts are the requests' own.
pub(super) const EMPTY: &CStr = c"empty region";
/// The dump of the measured passes.
pub(super) const MEASURED: &CStr = c"measured region";
/// Ends the name of the function that calls the arm: what it calls is the loop.
pub(super) const HARNESS: &str = "simulated_passes";

/// What a region computed, as the child tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Operations of all measured passes together.
    pub operations: u64,
    /// The fold of a pass.
    pub checksum: u64,
}

/// Builds one arm of a plan at addresses that follow from `seed`, runs it once over its whole input to settle what is
/// simulated, then `passes` times between requests to zero and to dump callgrind's counts, in its first code layout.
///
/// Outside valgrind this runs the same passes and counts nothing.
///
/// # Errors
/// [`Error::InvalidArgument`] for an arm that the plan hasn't; [`Error::ChecksumMismatch`] if the arm computes something
/// else than its reference: then nothing was dumped for it.
pub fn observe(plan: &Plan, arm: &str, seed: u64, passes: u32) -> Result<Ran> {
    let entry = plan.entries.iter().find(|entry| entry.name == arm).ok_or_else(|| {
        let known = plan.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", ");
        Error::invalid("arms", arm, format!("wanted one of {known}"))
    })?;
    let mut placement = Placement::new(seed);
    let input = plan.source.place(&mut placement)?;
    let mut built = entry.recipe.build(&input, &mut placement)?;
    built.use_layout(0);
    let whole = Window { first: 0, count: plan.source.operations() };
    let expected = entry.reference.checksum(&plan.source, whole);
    request::start_instrumentation();
    let mut sums = [Checksum::EMPTY; 2];
    // Caches are empty and predictors know nothing: the first pass is simulated but not counted.
    sums[0] = simulated_passes(&mut built, whole, 1);
    request::zero_stats();
    request::dump_stats_at(EMPTY);
    request::zero_stats();
    sums[1] = simulated_passes(&mut built, whole, passes);
    request::dump_stats_at(MEASURED);
    request::stop_instrumentation();
    for got in sums {
        agree(entry, whole, got, expected)?;
    }
    Ok(Ran { operations: whole.count as u64 * u64::from(passes), checksum: expected.0 })
}

/// The measured passes. The last is returned: all are the same, or the arm changes as it runs and still folds the same
/// results.
#[inline(never)]
fn simulated_passes(arm: &mut Arm, window: Window, passes: u32) -> Checksum {
    let mut last = Checksum::EMPTY;
    for _ in 0..passes {
        last = arm.run(window);
    }
    last
}

fn agree(entry: &Entry, window: Window, got: Checksum, expected: Checksum) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::ChecksumMismatch {
        arm: entry.name.clone(),
        got: got.0,
        expected: expected.0,
        expected_by: "the reference".into(),
        first: window.first,
        count: window.count,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::race::{Input, Recipe, Reference, Role, Source};

    struct Counting {
        off: u64,
    }

    impl Recipe for Counting {
        fn build(&self, _: &Input, _: &mut Placement) -> Result<Arm> {
            Ok(Arm::new(self.off, |off, window| Checksum(*off + window.count as u64)))
        }
    }

    struct Count;

    impl Reference for Count {
        fn checksum(&self, _: &Source, window: Window) -> Checksum {
            Checksum(window.count as u64)
        }
    }

    fn plan(off: u64) -> Plan {
        let entry =
            Entry::new("counting", Role::Baseline, Arc::new(Counting { off }), Arc::new(Count), "count");
        Plan::new(Source::without_items(10), vec![entry])
    }

    #[test]
    fn passes_are_counted_in_operations() {
        let ran = observe(&plan(0), "counting", 1, 3).expect("natively too");
        assert_eq!(ran, Ran { operations: 30, checksum: 10 });
    }

    #[test]
    fn wrong_work_and_unknown_arms_are_refused() {
        assert!(matches!(observe(&plan(1), "counting", 1, 1), Err(Error::ChecksumMismatch { got: 11, .. })));
        let unknown = observe(&plan(0), "cuonting", 1, 1).expect_err("unknown").to_string();
        assert!(unknown.contains("wanted one of counting"), "{unknown}");
    }

    #[test]
    fn the_harness_is_called_what_the_profile_looks_for() {
        assert!(std::any::type_name_of_val(&simulated_passes).ends_with(HARNESS));
    }
}
