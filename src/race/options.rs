//! How a race is run: precision, bounds, margin, placement.

use std::time::Duration;

use super::counters::CounterChoice;
use super::schedule::Order;
use super::verdict::DEFAULT_MARGIN;
use crate::machine::Clock;
use crate::{Error, Result};

/// Settings of a race. The defaults are those of a full run.
#[derive(Debug, Clone)]
pub struct Options {
    /// CPU to measure on; `None` chooses one (see [`crate::machine::default_cpu`]).
    pub cpu: Option<usize>,
    /// Wanted half-width of every ratio's interval, relative.
    pub precision: f64,
    /// Time bound for the blocks of a race; races that run together share the sum of theirs. [`LEAST_BLOCKS`] are
    /// finished all the same, unless ten times this has passed.
    pub bound: Duration,
    /// Fewest blocks before precision can end the race.
    pub min_blocks: usize,
    /// Most blocks.
    pub max_blocks: usize,
    /// Half-width of the band that counts as *same*.
    pub margin: f64,
    /// The least margin where one of the two arms exists in one code layout only, so that its layout can't be told from
    /// its way of doing the work.
    pub one_layout_margin: f64,
    /// Family-wise confidence level; each comparison gets 1 − (1 − level)/(comparisons).
    pub level: f64,
    /// How reps follow each other.
    pub order: Order,
    /// What time is read from.
    pub clock: Clock,
    /// Least duration of a rep: long against a clock read and a tick.
    pub min_rep: Duration,
    /// Counters that are read around a pass of each arm, apart from anything timed.
    pub counters: CounterChoice,
    /// Seed of placements.
    pub seed: u64,
    /// Lets a debug build measure. Its figures mean nothing: for tests of structure only.
    pub allow_debug_build: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            cpu: None,
            precision: 0.0025,
            bound: Duration::from_secs(4),
            min_blocks: 40,
            max_blocks: MOST_BLOCKS,
            margin: DEFAULT_MARGIN,
            one_layout_margin: ONE_LAYOUT_MARGIN,
            level: 0.95,
            order: Order::Balanced,
            clock: Clock::monotonic(),
            min_rep: Duration::from_micros(50),
            counters: CounterChoice::All,
            seed: 0,
            allow_debug_build: false,
        }
    }
}

/// What an arm in one code layout may owe to it where the spread between the copies of a loop hasn't been measured on this
/// machine: Mytkowicz et al. (ASPLOS 2009) saw layout alone move programs by more, small loops rarely by as much.
pub const ONE_LAYOUT_MARGIN: f64 = 0.05;

/// Fewest block estimates over which an interval keeps its level; fewer give no verdict.
pub const LEAST_BLOCKS: usize = 20;

/// Most blocks of a race: an interval over them takes time that grows with their square, some 15 ms for these.
pub const MOST_BLOCKS: usize = 1000;

impl Options {
    /// Settings of a quick run: fewer blocks, a short bound, and a precision just inside the margin.
    pub fn quick() -> Self {
        Options {
            precision: 0.004,
            bound: Duration::from_millis(800),
            min_blocks: LEAST_BLOCKS,
            max_blocks: 200,
            ..Self::default()
        }
    }

    /// Refuses settings that can't give a result.
    pub fn validate(&self) -> Result<()> {
        let fraction = |name: &str, value: f64| match value {
            v if v.is_finite() && v > 0.0 && v < 1.0 => Ok(()),
            v => Err(Error::invalid(name, v, "wanted a number between 0 and 1, both excluded")),
        };
        fraction("precision", self.precision)?;
        fraction("margin", self.margin)?;
        fraction("one_layout_margin", self.one_layout_margin)?;
        fraction("level", self.level)?;
        if self.bound.is_zero() || self.bound > Duration::from_secs(86_400) {
            return Err(Error::invalid(
                "seconds",
                self.bound.as_secs_f64(),
                "wanted more than 0, at most 86400",
            ));
        }
        if self.min_blocks < LEAST_BLOCKS {
            let wanted =
                format!("wanted at least {LEAST_BLOCKS}: intervals over fewer don't keep their level");
            return Err(Error::invalid("min_blocks", self.min_blocks, wanted));
        }
        if self.max_blocks < self.min_blocks || self.max_blocks > MOST_BLOCKS {
            let wanted = format!("wanted {} to {MOST_BLOCKS}", self.min_blocks);
            return Err(Error::invalid("max_blocks", self.max_blocks, wanted));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_settings_are_refused_by_name() {
        let with = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            options.validate().expect_err("refused").to_string()
        };
        assert!(with(|o| o.precision = 0.0).starts_with("precision = 0"));
        assert!(with(|o| o.precision = f64::NAN).starts_with("precision = NaN"));
        assert!(with(|o| o.margin = 1.0).starts_with("margin = 1"));
        assert!(with(|o| o.level = f64::INFINITY).starts_with("level = inf"));
        assert!(with(|o| o.bound = Duration::ZERO).starts_with("seconds = 0"));
        assert!(with(|o| o.min_blocks = 0).starts_with("min_blocks = 0"));
        assert!(with(|o| o.max_blocks = 3).starts_with("max_blocks = 3"));
        Options::default().validate().expect("defaults are fine");
        Options::quick().validate().expect("quick is fine");
    }
}
