//! An arm: one way of doing the work, called through one pointer, always returning a checksum.

use std::ptr::NonNull;

use super::{Broken, Fault, Input, Placement, Source};
use crate::Result;

/// Which operations of the input a call replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Index of the first operation.
    pub first: usize,
    /// How many, in order.
    pub count: usize,
}

/// A fold over every result of a window: keeps the work alive and proves that arms agree.
///
/// FNV-1a's shape (xor, then multiply), one word a step; Fowler, Noll and Vo's 64-bit constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(pub u64);

impl Checksum {
    /// The fold of no result: the FNV-1a offset basis.
    pub const EMPTY: Checksum = Checksum(0xcbf2_9ce4_8422_2325);
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// Folds one result: its value, and the small number that says who computed it.
    ///
    /// The tag enters at the top so that it can't be confused with a small value's low bits.
    #[inline(always)]
    pub fn fold(self, value: u64, tag: u16) -> Self {
        Checksum((self.0 ^ value ^ (u64::from(tag) << 48)).wrapping_mul(Self::PRIME).rotate_left(23))
    }
}

/// How much an arm must run before its timing means anything after it was built anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settle {
    /// One discarded window: caches and predictors only.
    Window,
    /// One discarded pass over the whole input: the arm learns from what it sees.
    Pass,
}

/// How to build an arm; every block of a race builds its arms anew, at fresh addresses.
pub trait Recipe: Send + Sync {
    /// Builds the arm over a placed input. Everything that the timed loop touches comes from `placement`.
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm>;

    /// How much must be discarded after a build.
    fn settle(&self) -> Settle {
        Settle::Window
    }

    /// Whether what the loop calls was compiled once, as a library's code or another process's: then copies of the loop
    /// cover only its own layout, and the race flags the arm all the same.
    fn calls_one_layout(&self) -> bool {
        false
    }

    /// Why the arm's exact counts (instructions, branches) differ from process to process by construction; `None` where they
    /// may not.
    fn varies(&self) -> Option<&'static str> {
        None
    }

    /// Bytes of tables, lists and keys that selecting touches or reserves; `None` where it means nothing.
    fn footprint_bytes(&self) -> Option<usize> {
        None
    }

    /// The same arm with a fault in what it is built over; or why it can't have it. Faults of running and of reading are
    /// wrapped around any arm and don't get here.
    ///
    /// # Errors
    /// A reason, for people.
    fn broken(&self, _fault: Fault) -> Result<Broken, String> {
        Err("it isn't built over a set of handlers".into())
    }
}

/// What an arm must compute, by plain code that shares nothing with the arms.
pub trait Reference: Send + Sync {
    /// The checksum that a correct arm returns for `window`.
    fn checksum(&self, source: &Source, window: Window) -> Checksum;
}

/// A built arm: its state, and the loop that replays a window of its input, in one or several code layouts.
pub struct Arm {
    state: NonNull<()>,
    /// The loop in use.
    run: Loop,
    /// The same loop in each layout that was compiled.
    layouts: Box<[Loop]>,
    /// What happens before each rep, untimed.
    before: Option<Prelude>,
    /// Passes a choice of layout on to an arm inside this one.
    forward: Option<unsafe fn(NonNull<()>, usize)>,
    drop: unsafe fn(NonNull<()>),
}

type Loop = unsafe fn(NonNull<()>, Window) -> Checksum;
type Prelude = unsafe fn(NonNull<()>, Window);

// SAFETY: the constructors accept only states that are `Send`, and the arm owns its state alone.
unsafe impl Send for Arm {}

impl Arm {
    /// Wraps a state and its loop, of which there is one layout: the race flags the arm.
    pub fn new<S: Send + 'static>(state: S, run: fn(&mut S, Window) -> Checksum) -> Self {
        Self::with_layouts(state, [run])
    }

    /// Wraps a state and its loop, compiled several times behind different padding ([`super::code_padding`]). The
    /// race uses all of them in turn.
    pub fn with_layouts<S: Send + 'static, const N: usize>(
        state: S,
        layouts: [fn(&mut S, Window) -> Checksum; N],
    ) -> Self {
        unsafe fn drop_state<S>(state: NonNull<()>) {
            // SAFETY: `state` came from a leaked `Box<S>` in `with_layouts`, and `Arm::drop` runs once.
            drop(unsafe { Box::from_raw(state.cast::<S>().as_ptr()) });
        }
        const { assert!(N > 0) }
        let state = NonNull::from(Box::leak(Box::new(state))).cast::<()>();
        // SAFETY: `&mut S` and `NonNull<()>` are ABI-compatible for sized `S` (see the `fn` primitive's page on
        // ABI compatibility), so calls through the other type are defined; each loop only ever sees its own `S`.
        let layouts =
            layouts.map(|run| unsafe { std::mem::transmute::<fn(&mut S, Window) -> Checksum, Loop>(run) });
        Arm {
            state,
            run: layouts[0],
            layouts: Box::new(layouts),
            before: None,
            forward: None,
            drop: drop_state::<S>,
        }
    }

    /// An arm around another: `run` decides which windows of it are replayed. It has the other's layouts.
    pub fn around<S: Send + 'static>(
        inner: Arm,
        extra: S,
        run: fn(&mut (Arm, S), Window) -> Checksum,
    ) -> Self {
        Self::around_after(inner, extra, |(inner, _), window| inner.prepare(window), run)
    }

    /// The same with something that happens before each rep, outside its time: what somebody else does to the caches,
    /// say, of which the rep shows the consequence.
    pub fn around_after<S: Send + 'static>(
        inner: Arm,
        extra: S,
        before: fn(&mut (Arm, S), Window),
        run: fn(&mut (Arm, S), Window) -> Checksum,
    ) -> Self {
        unsafe fn forward<S>(state: NonNull<()>, layout: usize) {
            // SAFETY: called by `use_layout` of the arm that owns this state, which holds `&mut self`.
            unsafe { state.cast::<(Arm, S)>().as_mut() }.0.use_layout(layout);
        }
        let layouts = inner.layouts();
        let mut arm = Self::new((inner, extra), run);
        arm.layouts = vec![arm.run; layouts].into();
        arm.forward = Some(forward::<S>);
        // SAFETY: as for the loops in `with_layouts`.
        arm.before = Some(unsafe { std::mem::transmute::<fn(&mut (Arm, S), Window), Prelude>(before) });
        arm
    }

    /// How many layouts there are.
    pub fn layouts(&self) -> usize {
        self.layouts.len()
    }

    /// Runs the loop in layout `index`, modulo how many there are, from now on.
    pub fn use_layout(&mut self, index: usize) {
        let index = index % self.layouts.len();
        self.run = self.layouts[index];
        if let Some(forward) = self.forward {
            // SAFETY: `forward` was made for this state's type, and `&mut self` makes the access unique.
            unsafe { forward(self.state, index) }
        }
    }

    /// Does what belongs before a rep of `window`; nothing for most arms. Never timed.
    pub fn prepare(&mut self, window: Window) {
        if let Some(before) = self.before {
            // SAFETY: `before` was made for this state's type, and `&mut self` makes the access unique.
            unsafe { before(self.state, window) }
        }
    }

    /// Replays `window` and returns the fold of its results.
    #[inline(always)]
    pub fn run(&mut self, window: Window) -> Checksum {
        // SAFETY: `state` lives until drop, `run` was made for its type, and `&mut self` makes the access unique.
        unsafe { (self.run)(self.state, window) }
    }
}

impl Drop for Arm {
    fn drop(&mut self) {
        // SAFETY: the pair was made together by a constructor.
        unsafe { (self.drop)(self.state) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn lay<const LAYOUT: u64>(state: &mut Arc<u64>, window: Window) -> Checksum {
        Checksum(**state * 100 + LAYOUT * 10 + window.count as u64)
    }

    #[test]
    fn layouts_are_chosen_and_states_dropped_once() {
        let state = Arc::new(7);
        let mut arm = Arm::with_layouts(Arc::clone(&state), [lay::<0>, lay::<1>, lay::<2>]);
        let window = Window { first: 0, count: 5 };
        assert_eq!((arm.layouts(), arm.run(window).0), (3, 705));
        arm.use_layout(5);
        assert_eq!(arm.run(window).0, 725);
        let mut twice = Arm::around(arm, 1u64, |(inner, add), window| Checksum(inner.run(window).0 + *add));
        assert_eq!((twice.layouts(), twice.run(window).0), (3, 726));
        twice.use_layout(1);
        assert_eq!(twice.run(window).0, 716);
        drop(twice);
        assert_eq!(Arc::strong_count(&state), 1);
    }

    #[test]
    fn a_prelude_comes_before_a_rep_and_through_an_arm_around() {
        let window = Window { first: 0, count: 3 };
        let inner = Arm::new((), |(), _| Checksum(1));
        let mut arm = Arm::around_after(
            inner,
            0u64,
            |(_, count), window| *count += window.count as u64,
            |(inner, count), window| Checksum(inner.run(window).0 + *count),
        );
        assert_eq!(arm.run(window).0, 1);
        arm.prepare(window);
        assert_eq!(arm.run(window).0, 4);
        let mut around = Arm::around(arm, (), |(inner, ()), window| inner.run(window));
        around.prepare(window);
        assert_eq!(around.run(window).0, 7);
        Arm::new((), |(), _| Checksum(1)).prepare(window);
    }

    #[test]
    fn folds_tell_order_value_and_tag_apart() {
        let fold = |items: &[(u64, u16)]| {
            items.iter().fold(Checksum::EMPTY, |sum, &(value, tag)| sum.fold(value, tag))
        };
        let base = fold(&[(1, 2), (3, 4)]);
        for other in [&[(3, 4), (1, 2)][..], &[(1, 2)], &[(1, 3), (3, 4)], &[(2, 2), (3, 4)], &[]] {
            assert_ne!(base, fold(other), "{other:?}");
        }
    }
}
