//! Ways of taking reps that depart from the rules: they exist to show what they do wrong.

use super::arm::Arm;
use super::block::Bench;
use super::rounds::Rounds;
use super::sizing::Sizing;
use crate::Result;

/// Reps after a cold one; the first half of them settles, the second tells what the arm costs then.
const LATER_REPS: usize = 8;

impl Bench<'_> {
    /// The first rep of each arm after the build, one arm after the other, and nothing else: what this does wrong is what it
    /// exists to show. A few reps that don't count follow, to tell how far from settled that was.
    pub fn cold(&self, arms: &mut [Arm], sizing: &Sizing, index: usize) -> Result<Rounds> {
        let mut rounds = Rounds::new(arms.len());
        for at in 0..arms.len() {
            self.watch.check()?;
            rounds.times[at].push((self.rep(arms, at, sizing, index)? as f64).max(1.0));
        }
        for at in 0..arms.len() {
            for later in 0..LATER_REPS {
                self.watch.check()?;
                let ns = self.rep(arms, at, sizing, index + later)?;
                if later >= LATER_REPS / 2 {
                    rounds.later[at].push((ns as f64).max(1.0));
                }
            }
        }
        rounds.orders.push(0);
        Ok(rounds)
    }

    /// All reps of one arm, then all of the next: what this does wrong is what it exists to show.
    pub fn arm_major(
        &self,
        arms: &mut [Arm],
        turns: &[usize],
        sizing: &Sizing,
        first_window: usize,
        rounds: &mut Rounds,
    ) -> Result<()> {
        for at in 0..arms.len() {
            for round in 0..turns.len() {
                self.watch.check()?;
                let ns = self.rep(arms, at, sizing, first_window + round)? as f64;
                rounds.times[at].push(ns.max(1.0));
            }
        }
        rounds.orders = turns.to_vec();
        Ok(())
    }
}
