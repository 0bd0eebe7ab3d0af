//! A walk over a working set, beside somebody who dispatches packets: before each pass on the same core, or meanwhile on
//! another.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::experiments::cache::chase::Chase;
use crate::race::{Arm, Checksum, Crew, Input, Placement, Recipe, Reference, Source, Window};
use crate::{Error, Result};

/// Packets between two looks at the stop flag of another core: half a microsecond of work, since whoever stops it waits.
const CHUNK: usize = 8;

/// Who dispatches: an arm over packets of its own, and what it must fold.
pub struct Work {
    recipe: Arc<dyn Recipe>,
    packets: Source,
    whole: Checksum,
    chunks: Arc<Vec<Checksum>>,
}

impl Work {
    /// Computes what the whole burst and each chunk of it must fold.
    pub fn new(recipe: Arc<dyn Recipe>, reference: &dyn Reference, packets: Source) -> Self {
        let count = packets.operations();
        let whole = reference.checksum(&packets, Window { first: 0, count });
        let chunks = chunks(count).map(|window| reference.checksum(&packets, window)).collect();
        Work { recipe, packets, whole, chunks: Arc::new(chunks) }
    }

    fn build(&self, placement: &mut Placement) -> Result<Arm> {
        let input = self.packets.place(placement)?;
        self.recipe.build(&input, placement)
    }
}

fn chunks(count: usize) -> impl Iterator<Item = Window> {
    (0..count).step_by(CHUNK).map(move |first| Window { first, count: CHUNK.min(count - first) })
}

/// The walk, after a burst on this core. Only the walk is timed.
pub struct AfterBurst {
    pub chase: Chase,
    /// `None` is nobody.
    pub work: Option<Arc<Work>>,
}

struct Burst {
    arm: Option<Arm>,
    window: Window,
    expected: Checksum,
    /// Not zero once a burst folded otherwise than it must: enters the walk's checksum, so that the race ends.
    wrong: u64,
}

impl Recipe for AfterBurst {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let walk = self.chase.build(input, placement)?;
        let arm = self.work.as_ref().map(|work| work.build(placement)).transpose()?;
        let count = self.work.as_ref().map_or(0, |work| work.packets.operations());
        let expected = self.work.as_ref().map_or(Checksum::EMPTY, |work| work.whole);
        let burst = Burst { arm, window: Window { first: 0, count }, expected, wrong: 0 };
        let before = |(_, burst): &mut (Arm, Burst), _: Window| {
            if let Some(arm) = &mut burst.arm {
                burst.wrong |= arm.run(burst.window).0 ^ burst.expected.0;
            }
        };
        let walk_on =
            |(walk, burst): &mut (Arm, Burst), window: Window| Checksum(walk.run(window).0 ^ burst.wrong);
        Ok(Arm::around_after(walk, burst, before, walk_on))
    }

    fn footprint_bytes(&self) -> Option<usize> {
        self.work.as_ref().and_then(|work| work.recipe.footprint_bytes())
    }
}

/// The walk, while another core dispatches.
pub struct Meanwhile {
    pub chase: Chase,
    /// `None` spins without touching memory.
    pub work: Option<Arc<Work>>,
}

struct Aside {
    crew: Arc<Crew>,
    arm: Option<Mutex<Arm>>,
    packets: usize,
    chunks: Arc<Vec<Checksum>>,
    wrong: AtomicU64,
}

impl Recipe for Meanwhile {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let crew = placement.crew().ok_or_else(|| Error::NotMeasurable {
            what: "a neighbour on another core".into(),
            reason: "it needs a second CPU, and none was given".into(),
        })?;
        let walk = self.chase.build(input, placement)?;
        let arm = self.work.as_ref().map(|work| work.build(placement)).transpose()?.map(Mutex::new);
        let packets = self.work.as_ref().map_or(0, |work| work.packets.operations());
        let chunks = self.work.as_ref().map(|work| Arc::clone(&work.chunks)).unwrap_or_default();
        let aside = Aside { crew, arm, packets, chunks, wrong: AtomicU64::new(0) };
        Ok(Arm::around(walk, aside, walk_meanwhile))
    }

    fn footprint_bytes(&self) -> Option<usize> {
        self.work.as_ref().and_then(|work| work.recipe.footprint_bytes())
    }
}

fn walk_meanwhile((walk, aside): &mut (Arm, Aside), window: Window) -> Checksum {
    #[repr(align(128))]
    struct Flag(AtomicBool);
    let (working, stop) = (Flag(AtomicBool::new(false)), Flag(AtomicBool::new(false)));
    let aside = &*aside;
    let other = || {
        working.0.store(true, Ordering::Release);
        match &aside.arm {
            Some(arm) => dispatch(&mut arm.lock().expect("never panics"), aside, &stop.0),
            None => {
                while !stop.0.load(Ordering::Relaxed) {
                    (0..64u32).for_each(|step| _ = std::hint::black_box(step));
                }
            }
        }
    };
    let walked = aside.crew.beside(0, &other, || {
        while !working.0.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // Also if the walk panics: the other thread waits for it.
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop.0);
        walk.run(window)
    });
    Checksum(walked.0 ^ aside.wrong.load(Ordering::Relaxed))
}

/// Dispatches the burst over and over, chunk by chunk, each held against what it must fold.
fn dispatch(arm: &mut Arm, aside: &Aside, stop: &AtomicBool) {
    let mut wrong = 0;
    'work: loop {
        for (window, expected) in chunks(aside.packets).zip(aside.chunks.iter()) {
            if stop.load(Ordering::Relaxed) {
                break 'work;
            }
            wrong |= arm.run(window).0 ^ expected.0;
        }
    }
    aside.wrong.fetch_or(wrong, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::{Body, HandlerSet, ScanReference, SelectionArm, SelectionRecipe};
    use crate::experiments::cache::chase::{Cycle, Walk};
    use crate::machine::affinity;
    use crate::race::Watch;
    use crate::traffic::{Law, Traffic};

    /// Two sets that differ in one handler's key: over packets for one of them, only that one's work is right.
    fn work(of: &HandlerSet, packets_for: &HandlerSet) -> Arc<Work> {
        let packets = Traffic::new(Law::Uniform).generate(1001, &packets_for.keys(), &Watch::new()).unwrap();
        let recipe = Arc::new(SelectionRecipe::new(SelectionArm::TableDirect16, of, None).unwrap());
        Arc::new(Work::new(recipe, &ScanReference::new(packets_for), Source::from_items(packets)))
    }

    fn fold(recipe: impl Fn(Chase) -> Box<dyn Recipe>, crew: Option<Arc<Crew>>) -> (Checksum, Checksum) {
        let cycle = Arc::new(Cycle::new(512, 3, &Watch::new()).unwrap());
        let chase = || Chase::new(Arc::clone(&cycle), Walk::Random, 0);
        let source = Source::from_items_with(cycle.nodes.clone(), 1 << 12);
        let mut placement = Placement::new(5).with_crew(crew);
        let input = source.place(&mut placement).unwrap();
        let mut arm = recipe(chase()).build(&input, &mut placement).unwrap();
        let window = Window { first: 100, count: 3000 };
        let mut got = Checksum::EMPTY;
        for layout in 0..arm.layouts() {
            arm.use_layout(layout);
            arm.prepare(window);
            got = arm.run(window);
        }
        (got, chase().checksum(&source, window))
    }

    fn crew() -> Option<Arc<Crew>> {
        let cpu = *affinity::allowed_cpus().expect("a mask").last().expect("a CPU");
        Some(Arc::new(Crew::new(&[cpu]).expect("a helper")))
    }

    #[test]
    fn walks_fold_the_same_beside_anybody_who_works_right_and_not_beside_one_who_does_not() {
        let right = HandlerSet::standard(20, Body::Tiny, 0.1, 0).unwrap();
        let other = HandlerSet::standard(20, Body::Fat, 0.1, 0).unwrap();
        for (work, is_right) in
            [(None, true), (Some(work(&right, &right)), true), (Some(work(&other, &right)), false)]
        {
            let after = |chase| Box::new(AfterBurst { chase, work: work.clone() }) as Box<dyn Recipe>;
            let (got, expected) = fold(after, None);
            assert_eq!(got == expected, is_right);
            // On one CPU the other thread may not get a turn while the walk lasts; then its fault goes unseen.
            let meanwhile = |chase| Box::new(Meanwhile { chase, work: work.clone() }) as Box<dyn Recipe>;
            let (got, expected) = fold(meanwhile, crew());
            assert!(got == expected || !is_right);
        }
    }

    #[test]
    fn a_worker_that_goes_wrong_is_told() {
        let right = HandlerSet::standard(20, Body::Tiny, 0.1, 0).unwrap();
        let other = HandlerSet::standard(20, Body::Fat, 0.1, 0).unwrap();
        for (set, is_right) in [(&right, true), (&other, false)] {
            let work = work(set, &right);
            let mut placement = Placement::new(1);
            let mut arm = work.build(&mut placement).unwrap();
            let wrong = chunks(1001)
                .zip(work.chunks.iter())
                .fold(0, |wrong, (window, expected)| wrong | (arm.run(window).0 ^ expected.0));
            assert_eq!(wrong == 0, is_right);
        }
        assert_eq!(chunks(1001).map(|window| window.count).sum::<usize>(), 1001);
    }

    #[test]
    fn without_a_second_cpu_there_is_no_other_core() {
        let cycle = Arc::new(Cycle::new(64, 3, &Watch::new()).unwrap());
        let source = Source::from_items_with(cycle.nodes.clone(), 64);
        let mut placement = Placement::new(1);
        let input = source.place(&mut placement).unwrap();
        let recipe = Meanwhile { chase: Chase::new(cycle, Walk::Random, 0), work: None };
        assert!(matches!(recipe.build(&input, &mut placement), Err(Error::NotMeasurable { .. })));
    }
}
