//! Counting probes with the very code that is timed.

/// Told of each probe. In the timed loop it is [`NoProbes`] and costs nothing.
///
/// What a probe is depends on the arm: a call of `matches` in the scans of handlers; a comparison with one key in
/// `scan_keys` (the residual test that may follow a key's hit is part of the same probe); the lookup of a slot, and
/// then each test of a candidate, in the tables.
pub trait ProbeCounter {
    /// One more.
    fn probe(&mut self);
}

/// Counts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProbes;

impl ProbeCounter for NoProbes {
    #[inline(always)]
    fn probe(&mut self) {}
}

/// Counts.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountedProbes(pub u32);

impl ProbeCounter for CountedProbes {
    #[inline(always)]
    fn probe(&mut self) {
        self.0 += 1;
    }
}
