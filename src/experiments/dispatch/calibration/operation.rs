//! The operations that the budget is spent on, and how each is built.

use std::sync::Arc;

use super::adds::Adds;
use super::allocation::AllocateFree;
use super::atomic::FetchAdd;
use super::branch::{self, Branch};
use super::call::Call;
use super::counted::Counted;
use super::kernel::{ClockRead, SystemCall};
use crate::Result;
use crate::experiments::cache::chase::{self, Chase, Cycle, NODE_BYTES, Walk};
use crate::machine::memory;
use crate::race::{Ceiling, Recipe, Reference, Source, Watch};

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    LoadL1,
    LoadL2,
    LoadL3,
    LoadDram,
    BranchPredicted,
    BranchRandom,
    CallDirect,
    CallIndirect,
    AtomicAdd,
    Allocation,
    SystemCall,
    ClockRead,
}

/// What one race needs.
pub struct Prepared {
    pub source: Source,
    /// The operation, and what it must fold.
    pub own: (Arc<dyn Recipe>, Arc<dyn Reference>),
    /// The same once more, for the control.
    pub again: (Arc<dyn Recipe>, Arc<dyn Reference>),
    pub ceiling: Ceiling,
}

/// Operations of a pass where nothing is stored for them.
const WITHOUT_ITEMS: usize = 1 << 20;

impl Operation {
    pub const ALL: [Operation; 12] = [
        Operation::LoadL1,
        Operation::LoadL2,
        Operation::LoadL3,
        Operation::LoadDram,
        Operation::BranchPredicted,
        Operation::BranchRandom,
        Operation::CallDirect,
        Operation::CallIndirect,
        Operation::AtomicAdd,
        Operation::Allocation,
        Operation::SystemCall,
        Operation::ClockRead,
    ];

    /// Its name, as the parameter spells it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::LoadL1 => "load_l1",
            Operation::LoadL2 => "load_l2",
            Operation::LoadL3 => "load_l3",
            Operation::LoadDram => "load_dram",
            Operation::BranchPredicted => "branch_predicted",
            Operation::BranchRandom => "branch_random",
            Operation::CallDirect => "call_direct",
            Operation::CallIndirect => "call_indirect",
            Operation::AtomicAdd => "atomic_add",
            Operation::Allocation => "allocation",
            Operation::SystemCall => "system_call",
            Operation::ClockRead => "clock_read",
        }
    }

    /// What one of them is.
    pub fn spoken(self) -> &'static str {
        match self {
            Operation::LoadL1 => "a load that hits L1",
            Operation::LoadL2 => "a load that hits L2",
            Operation::LoadL3 => "a load that hits L3",
            Operation::LoadDram => "a load from memory",
            Operation::BranchPredicted => "loading a byte and a predicted branch on it",
            Operation::BranchRandom => "loading a byte and a branch that is mispredicted half the time",
            Operation::CallDirect => "a direct call and its return",
            Operation::CallIndirect => "an indirect call of always the same target, and its return",
            Operation::AtomicAdd => "an atomic add to a word that nobody else wants",
            Operation::Allocation => "allocating 64 bytes and freeing them at once",
            Operation::SystemCall => "a system call that does next to nothing (getppid)",
            Operation::ClockRead => "reading the clock",
        }
    }

    /// The operation of that name, which the parameter has accepted.
    pub fn named(name: &str) -> Self {
        Operation::ALL.into_iter().find(|operation| operation.name() == name).expect("a declared choice")
    }

    /// Whether it takes several times as long as the yardstick.
    pub fn is_slow(self) -> bool {
        matches!(self, Operation::LoadL3 | Operation::LoadDram | Operation::SystemCall | Operation::ClockRead)
    }

    /// The parameter that says how large a set its loads walk over.
    pub fn set_parameter(self) -> Option<&'static str> {
        match self {
            Operation::LoadL1 => Some("l1_set"),
            Operation::LoadL2 => Some("l2_set"),
            Operation::LoadL3 => Some("l3_set"),
            Operation::LoadDram => Some("dram_set"),
            _ => None,
        }
    }

    /// Builds what its race replays; `set_bytes` for those that walk over a set.
    pub fn prepare(self, set_bytes: Option<usize>, seed: u64, watch: &Watch) -> Result<Prepared> {
        if let Some(bytes) = set_bytes {
            return loads(bytes, seed, watch);
        }
        let counted = |recipe: fn() -> Arc<dyn Recipe>, ceiling: Ceiling| {
            let reference: Arc<dyn Reference> = Arc::new(Counted::each(1));
            Prepared {
                source: Source::without_items(WITHOUT_ITEMS),
                own: (recipe(), Arc::clone(&reference)),
                again: (recipe(), reference),
                ceiling,
            }
        };
        Ok(match self {
            Operation::BranchPredicted => branches(branch::alternating()),
            Operation::BranchRandom => branches(branch::fair_coins(seed)),
            Operation::CallDirect => counted(|| Arc::new(Call { indirect: false }), call_ceiling()),
            Operation::CallIndirect => counted(|| Arc::new(Call { indirect: true }), call_ceiling()),
            Operation::AtomicAdd => counted(
                || Arc::new(FetchAdd),
                // A store forwarded to the next load would be the shortcut, and a locked instruction takes none: it
                // waits for the stores before it, 8 cycles on Zen 4, 18 on Golden Cove. Far cores on Arm: 3 at least.
                limit(3.0, "each add loads what the one before stored"),
            ),
            Operation::Allocation => counted(|| Arc::new(AllocateFree), limit(2.0, "two calls, two returns")),
            Operation::SystemCall => {
                counted(|| Arc::new(SystemCall), limit(2.0, "into the kernel and out of it"))
            }
            Operation::ClockRead => counted(|| Arc::new(ClockRead), limit(1.0, "a call and its return")),
            Operation::LoadL1 | Operation::LoadL2 | Operation::LoadL3 | Operation::LoadDram => {
                unreachable!("walks over a set")
            }
        })
    }
}

fn limit(min_cycles: f64, formula: &str) -> Ceiling {
    let source = "Agner Fog's instruction tables and microarchitecture manual".into();
    Ceiling { min_cycles, formula: formula.into(), source }
}

/// A call and a return are two taken branches, and no core takes more than two a cycle.
fn call_ceiling() -> Ceiling {
    limit(1.0, "a call and its return: two taken branches")
}

fn loads(bytes: usize, seed: u64, watch: &Watch) -> Result<Prepared> {
    memory::room_for(&format!("a set of {bytes} bytes to walk over"), 2 * bytes, 1)?;
    let cycle = Arc::new(Cycle::new(bytes / NODE_BYTES, seed, watch)?);
    let turn = cycle.nodes.len();
    // Enough operations for a rep even where the set is tiny; always whole turns.
    let source = Source::from_items_with(cycle.nodes.clone(), turn * (1usize << 18).div_ceil(turn));
    let walk = |ahead| {
        let chase = Arc::new(Chase::new(Arc::clone(&cycle), Walk::Random, ahead));
        (Arc::clone(&chase) as Arc<dyn Recipe>, chase as Arc<dyn Reference>)
    };
    // The control walks half a turn ahead, so that it never finds what the arm has just brought in.
    Ok(Prepared { source, own: walk(0), again: walk(turn / 2), ceiling: chase::ceiling() })
}

fn branches(source: Source) -> Prepared {
    let arm = || (Arc::new(Branch) as Arc<dyn Recipe>, Arc::new(Branch) as Arc<dyn Reference>);
    // Three loads a cycle at the most, and one branch that may be taken half the time (Golden Cove, Zen 5).
    Prepared { source, own: arm(), again: arm(), ceiling: limit(1.0 / 3.0, "a load a decision") }
}

/// The yardstick that each race has besides.
pub fn yardstick() -> (Arc<dyn Recipe>, Arc<dyn Reference>) {
    (Arc::new(Adds), Arc::new(Adds::reference()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::race::{CODE_COPIES, Placement, Window};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn every_operation_folds_what_its_reference_says(
            first in 0usize..1000, count in 1usize..3000, seed: u64,
        ) {
            for operation in Operation::ALL {
                let set = operation.set_parameter().map(|_| 64 * 1024);
                let prepared = operation.prepare(set, seed, &Watch::new()).expect("prepared");
                for (recipe, reference) in [&prepared.own, &prepared.again, &yardstick()] {
                    let mut placement = Placement::new(seed);
                    let input = prepared.source.place(&mut placement).expect("placed");
                    let mut arm = recipe.build(&input, &mut placement).expect("built");
                    let window = Window { first, count };
                    let expected = reference.checksum(&prepared.source, window);
                    prop_assert_eq!(arm.layouts(), CODE_COPIES);
                    for layout in 0..CODE_COPIES {
                        arm.use_layout(layout);
                        prop_assert_eq!(arm.run(window), expected, "{}", operation.name());
                    }
                    // An operation left out is seen.
                    let fewer = Window { first, count: count - 1 };
                    let is_branch =
                        matches!(operation, Operation::BranchPredicted | Operation::BranchRandom);
                    prop_assert!(is_branch || arm.run(fewer) != expected, "{}", operation.name());
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_come_back() {
        for operation in Operation::ALL {
            assert_eq!(Operation::named(operation.name()), operation);
        }
    }

    #[test]
    fn a_set_past_the_memory_is_refused() {
        let refused = Operation::LoadDram.prepare(Some(1 << 50), 0, &Watch::new());
        assert!(matches!(refused, Err(crate::Error::OutOfMemory { .. })));
    }
}
