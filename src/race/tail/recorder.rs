//! Where times go: histograms an arm, and each operation's least.

use std::ops::Range;

use hdrhistogram::Histogram;

use super::distribution::{Distribution, Percentiles, Typical, to_hundredths};
use super::timed::Disturbed;
use super::{CoursePoint, LEVEL, Stretch, Tail};
use crate::Result;
use crate::machine::memory;

/// Significant digits of the histograms: percentiles to 0.1 %.
const DIGITS: u8 = 3;
/// Longest time that a histogram tells apart, in counts: minutes. Longer ones count as this; the greatest is kept exactly.
const LONGEST: u64 = 1 << 40;
/// Bins of the course over the input.
const BINS: usize = 192;

/// Times in counts, as they come.
#[derive(Clone)]
pub(super) struct Recorded {
    pub counts: Histogram<u64>,
    /// Exactly.
    pub max: u64,
    /// Exactly.
    pub sum: u128,
}

impl Recorded {
    pub fn new() -> Self {
        let counts = Histogram::new_with_bounds(1, LONGEST, DIGITS).expect("fixed bounds that are accepted");
        Recorded { counts, max: 0, sum: 0 }
    }

    pub fn record(&mut self, count: u64) {
        self.counts.saturating_record(count);
        self.max = self.max.max(count);
        self.sum += u128::from(count);
    }

    fn take(&mut self, block: &mut Recorded) {
        self.counts.add(&block.counts).expect("the same bounds");
        self.max = self.max.max(block.max);
        self.sum += block.sum;
        block.counts.reset();
        (block.max, block.sum) = (0, 0);
    }
}

/// One stretch of the input.
struct Kept {
    name: String,
    range: Range<usize>,
    all: Recorded,
    block: Recorded,
    blocks: Vec<Percentiles>,
}

impl Kept {
    fn new(name: &str, range: Range<usize>) -> Self {
        Kept { name: name.into(), range, all: Recorded::new(), block: Recorded::new(), blocks: Vec::new() }
    }
}

/// Everything that is kept of one arm.
pub(super) struct Recorder {
    /// The whole input, then its parts.
    stretches: Vec<Kept>,
    /// Each operation's least time over all replays, in counts.
    least: Vec<u64>,
    pub disturbed: Disturbed,
}

impl Recorder {
    /// For an input of so many operations, with parts that lie within it.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`] where there is no room for a number an operation.
    pub fn new(operations: usize, parts: &[super::Part]) -> Result<Self> {
        let mut least = memory::reserve("the least time of each operation", operations)?;
        least.resize(operations, u64::MAX);
        let whole = Kept::new("whole", 0..operations);
        let parts = parts.iter().map(|part| Kept::new(&part.name, part.first..part.first + part.count));
        let stretches = std::iter::once(whole).chain(parts).collect();
        Ok(Recorder { stretches, least, disturbed: Disturbed::default() })
    }

    /// Takes the times of a turn, which lies in one part or in none.
    pub fn turn(&mut self, first: usize, counts: &[u64]) {
        for (at, &count) in counts.iter().enumerate() {
            // The upper half of the range is what wraps below zero.
            let backwards = count > u64::MAX / 2;
            self.disturbed.backwards += u64::from(backwards);
            let count = if backwards { 0 } else { count };
            for stretch in self.stretches.iter_mut().filter(|stretch| stretch.range.contains(&first)) {
                stretch.block.record(count);
            }
            let least = &mut self.least[first + at];
            *least = (*least).min(count);
        }
    }

    /// Ends a placement.
    pub fn end_of_placement(&mut self, ns_per_count: f64) {
        for stretch in &mut self.stretches {
            let block = &mut stretch.block;
            let percentiles = Percentiles::of(&block.counts, block.max, ns_per_count);
            stretch.blocks.push(percentiles.where_supported(block.counts.len()));
            stretch.all.take(block);
        }
    }

    /// The figures of this arm; its floor is filled in by whoever knows it.
    pub fn finish(self, placements: usize, replays: usize, ns_per_count: f64, tick_ns: f64) -> Tail {
        let mut edges: Vec<usize> =
            self.stretches.iter().flat_map(|kept| [kept.range.start, kept.range.end]).collect();
        edges.sort_unstable();
        edges.dedup();
        let course = course(&self.least, &edges, ns_per_count);
        let mut stretches = self.stretches.into_iter().map(|kept| {
            let mut least = Recorded::new();
            self.least[kept.range.clone()].iter().for_each(|&count| least.record(count));
            Stretch {
                name: kept.name,
                first: kept.range.start,
                count: kept.range.len(),
                all: Distribution::of(&kept.all, ns_per_count),
                least: Distribution::of(&least, ns_per_count),
                typical: Typical::of(&kept.blocks, LEVEL),
                blocks: kept.blocks,
            }
        });
        let whole = stretches.next().expect("the whole comes first");
        Tail {
            floor: whole.all.percentiles,
            tick_ns,
            placements,
            replays,
            parts: stretches.collect(),
            whole,
            course,
            disturbed: self.disturbed,
        }
    }
}

/// The mean and the greatest of each bin; no bin crosses an edge.
fn course(least: &[u64], edges: &[usize], ns_per_count: f64) -> Vec<CoursePoint> {
    let about = least.len().div_ceil(BINS).max(1);
    let firsts = edges.windows(2).flat_map(|edge| {
        let length = edge[1] - edge[0];
        // As many bins as fit, as long as each other to within one: a short one at the end would jump about.
        let bins = length.div_ceil(about);
        let at = move |bin: usize| edge[0] + length * bin / bins;
        (0..bins).map(move |bin| (at(bin), at(bin + 1)))
    });
    firsts
        .map(|(first, end)| {
            let bin = &least[first..end];
            let mean = bin.iter().sum::<u64>() as f64 / bin.len() as f64;
            let max = bin.iter().copied().max().expect("bins hold something") as f64;
            let ns = |counts: f64| to_hundredths(counts * ns_per_count);
            CoursePoint { first, count: bin.len(), mean: ns(mean), max: ns(max) }
        })
        .collect()
}
