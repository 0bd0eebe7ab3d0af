//! Two pinned threads, two words, one block of memory: what their distance costs.
//!
//! The distance is a number read at run time, so every arm runs the same machine code; only addresses differ.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::race::placement::code_copies;
use crate::race::{
    Arm, Checksum, Crew, Input, PlacedSlice, Placement, Recipe, Reference, Source, Window, code_padding,
};
use crate::{Error, Result};

/// Bytes between the two words of the `apart` arms: beyond any line, sector or adjacent-line pair (64 to 128 bytes
/// on current x86 and Arm cores; the pair is what crossbeam-utils' `CachePadded` allows for).
pub const APART_BYTES: usize = 512;
/// Largest distance that a probe takes.
pub const MOST_BYTES: usize = 1024;

/// What the two threads do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each adds one to its own word, by a relaxed load and a relaxed store.
    BothAdd,
    /// The measured thread loads its own word in a dependent chain; the other stores to its own.
    WriterReader,
}

impl Mode {
    /// The names that parameters use.
    pub const NAMES: [&'static str; 2] = ["writer_reader", "both_add"];

    /// The mode of that name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "writer_reader" => Ok(Mode::WriterReader),
            "both_add" => Ok(Mode::BothAdd),
            other => Err(Error::invalid("mode", other, format!("wanted one of {}", Self::NAMES.join(", ")))),
        }
    }
}

/// Where the two words lie and whether the other thread writes.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// What the threads do.
    pub mode: Mode,
    /// Bytes from the measured thread's word to the other's: a multiple of 4, 0 for one word shared by both.
    pub distance_bytes: usize,
    /// Whether the other thread writes its word; if not, it spins in registers, and nothing can be contended.
    pub writes: bool,
}

impl Line {
    /// Refuses a distance at which words would overlap or leave the block.
    pub fn validate(&self) -> Result<()> {
        if !self.distance_bytes.is_multiple_of(4) || self.distance_bytes > MOST_BYTES {
            let wanted = format!(
                "wanted a multiple of 4 from 0 to {MOST_BYTES}: the words are 4 bytes and mustn't overlap"
            );
            return Err(Error::invalid("distance", self.distance_bytes, wanted));
        }
        Ok(())
    }
}

/// Builds one probe; needs a helper thread.
pub struct LineRecipe {
    line: Line,
    /// What the other thread did, over all reps: steps.
    other_steps: Arc<AtomicU64>,
}

impl LineRecipe {
    /// A probe of `line`.
    pub fn new(line: Line) -> Result<Self> {
        line.validate()?;
        Ok(LineRecipe { line, other_steps: Arc::new(AtomicU64::new(0)) })
    }

    /// Steps that the other thread has made while the measured one ran, over all reps so far.
    pub fn other_steps(&self) -> u64 {
        self.other_steps.load(Ordering::Relaxed)
    }
}

struct State {
    block: PlacedSlice<u64>,
    line: Line,
    crew: Arc<Crew>,
    other_steps: Arc<AtomicU64>,
}

impl State {
    fn word(&self, offset_bytes: usize) -> &AtomicU32 {
        let base = self.block.as_non_null().cast::<u8>();
        // SAFETY: offsets are multiples of 4 up to MOST_BYTES (`Line::validate`), the block is larger, and both
        // threads touch it through atomics alone.
        unsafe { AtomicU32::from_ptr(base.add(offset_bytes).cast().as_ptr()) }
    }
}

/// Words of 8 bytes in a block: room for two words at the largest distance.
const BLOCK_WORDS: usize = (MOST_BYTES + 128) / 8;

impl Recipe for LineRecipe {
    fn build(&self, _input: &Input, placement: &mut Placement) -> Result<Arm> {
        let crew = placement.crew().ok_or_else(|| Error::NotMeasurable {
            what: "a line probe".into(),
            reason: "it needs a second CPU, and none was given".into(),
        })?;
        // Aligned to a pair of lines, so that a distance means the same lines in every block.
        let block = placement.place_slice(&[0u64; BLOCK_WORDS], 128)?;
        let other_steps = Arc::clone(&self.other_steps);
        let layouts = match self.line.mode {
            Mode::BothAdd => code_copies!(run, true),
            Mode::WriterReader => code_copies!(run, false),
        };
        Ok(Arm::with_layouts(State { block, line: self.line, crew, other_steps }, layouts))
    }
}

/// Starts the other thread, waits until it is at work, runs the measured loop, stops it.
fn run<const ADDS: bool, const COPY: usize>(state: &mut State, window: Window) -> Checksum {
    let state = &*state;
    #[repr(align(128))]
    struct Flag(AtomicBool);
    let (working, stop) = (Flag(AtomicBool::new(false)), Flag(AtomicBool::new(false)));
    let other = || {
        working.0.store(true, Ordering::Release);
        let word = state.word(state.line.distance_bytes);
        let mut steps = 0u64;
        while !stop.0.load(Ordering::Relaxed) {
            // Many steps for each look at the flag, so that the flag's line stays out of the result.
            for _ in 0..64 {
                steps += 1;
                if state.line.writes {
                    word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
                } else {
                    std::hint::black_box(steps);
                }
            }
        }
        state.other_steps.fetch_add(steps, Ordering::Relaxed);
    };
    state.crew.beside(0, &other, || {
        while !working.0.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // Also if the loop panics: the other thread waits for it.
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop.0);
        match ADDS {
            true => add_loop::<COPY>(state, window.count),
            false => load_loop::<COPY>(state, window.count),
        }
    })
}

/// Adds to the own word and folds by how much it grew: a loop that was deleted, or added elsewhere, folds otherwise.
#[inline(never)]
fn add_loop<const COPY: usize>(state: &State, count: usize) -> Checksum {
    code_padding::<COPY>();
    let word = state.word(0);
    let before = word.load(Ordering::Relaxed);
    let mut last = before;
    for _ in 0..count {
        last = word.load(Ordering::Relaxed).wrapping_add(1);
        word.store(last, Ordering::Relaxed);
    }
    // On one shared word the other thread's stores get mixed in; then only the count can be vouched for.
    let grown = if state.line.distance_bytes == 0 { count as u32 } else { last.wrapping_sub(before) };
    Checksum::EMPTY.fold(u64::from(grown), 0)
}

/// Loads the own word in a chain: each address depends on the value before, which a mask of zero makes vanish.
#[inline(never)]
fn load_loop<const COPY: usize>(state: &State, count: usize) -> Checksum {
    code_padding::<COPY>();
    let mask = std::hint::black_box(0u32);
    let mut offset = 0usize;
    let mut loaded = 0u32;
    for _ in 0..count {
        offset = (state.word(offset).load(Ordering::Relaxed) & mask) as usize;
        loaded = loaded.wrapping_add(1);
    }
    Checksum::EMPTY.fold(u64::from(loaded) + offset as u64, 0)
}

/// What a probe must fold: the number of steps.
pub struct LineReference;

impl Reference for LineReference {
    fn checksum(&self, _source: &Source, window: Window) -> Checksum {
        Checksum::EMPTY.fold(u64::from(window.count as u32), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::affinity;

    fn crew() -> Option<Arc<Crew>> {
        let cpu = *affinity::allowed_cpus().expect("a mask").last().expect("a CPU");
        Some(Arc::new(Crew::new(&[cpu]).expect("a helper")))
    }

    #[test]
    fn every_mode_and_distance_does_its_steps() {
        let source = Source::without_items(10_000);
        let crew = crew();
        for mode in [Mode::BothAdd, Mode::WriterReader] {
            for (distance_bytes, writes) in
                [(0, true), (4, true), (64, true), (64, false), (APART_BYTES, true)]
            {
                let recipe = LineRecipe::new(Line { mode, distance_bytes, writes }).expect("valid");
                let mut placement = Placement::new(1).with_crew(crew.clone());
                let input = source.place(&mut placement).expect("placed");
                let mut arm = recipe.build(&input, &mut placement).expect("built");
                let window = Window { first: 0, count: 10_000 };
                for _ in 0..3 {
                    assert_eq!(
                        arm.run(window),
                        LineReference.checksum(&source, window),
                        "{mode:?} {distance_bytes}"
                    );
                }
                assert!(recipe.other_steps() > 0);
            }
        }
    }

    #[test]
    fn overlapping_or_distant_words_are_refused() {
        for distance_bytes in [1, 2, 3, 5, 63, MOST_BYTES + 4] {
            let line = Line { mode: Mode::BothAdd, distance_bytes, writes: true };
            let Err(error) = LineRecipe::new(line) else { panic!("{distance_bytes} accepted") };
            assert!(error.to_string().starts_with(&format!("distance = {distance_bytes}")), "{error}");
        }
        assert!(Mode::named("both").is_err());
    }

    #[test]
    fn without_a_second_cpu_there_is_no_probe() {
        let recipe =
            LineRecipe::new(Line { mode: Mode::BothAdd, distance_bytes: 8, writes: true }).expect("valid");
        let mut placement = Placement::new(1);
        let input = Source::without_items(1).place(&mut placement).expect("placed");
        assert!(matches!(recipe.build(&input, &mut placement), Err(Error::NotMeasurable { .. })));
    }
}
