//! The input as a stream of turns: who is timed over which operations, and in which order.

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::Serialize;

use super::Tail;
use super::recorder::Recorder;
use super::timed::{empty, result, timed};
use crate::machine::OperationClock;
use crate::race::block::{Bench, drawn_apart};
use crate::race::schedule::williams_orders;
use crate::race::{Arm, Checksum, Window};
use crate::{Error, Result};

/// A wish to have every operation timed by itself, besides the race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerOperation {
    /// Passes over the input in each placement; there are as many placements as a race has blocks at the least.
    pub replays: usize,
    /// Operations over which an arm is timed before the next one's turn.
    pub turn: usize,
    /// Parts of the input that are reported by themselves.
    pub parts: Vec<Part>,
}

impl Default for PerOperation {
    fn default() -> Self {
        PerOperation { replays: 1, turn: 1024, parts: Vec::new() }
    }
}

/// A named part of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its first operation.
    pub first: usize,
    /// How many operations it has.
    pub count: usize,
}

/// Longest turn: arms must take turns many times in a pass, and a stop must be heard.
pub const LONGEST_TURN: usize = 4096;
/// Most passes in a placement: 1,000 of 16,384 operations take a minute.
pub const MOST_REPLAYS: usize = 1000;

impl PerOperation {
    /// Refuses what can't be timed over an input of so many operations.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], naming the field.
    pub fn validate(&self, operations: usize) -> Result<()> {
        if !(1..=MOST_REPLAYS).contains(&self.replays) {
            return Err(Error::invalid("replays", self.replays, format!("wanted 1 to {MOST_REPLAYS}")));
        }
        if !(1..=LONGEST_TURN).contains(&self.turn) {
            return Err(Error::invalid("turn", self.turn, format!("wanted 1 to {LONGEST_TURN}")));
        }
        for part in &self.parts {
            let inside = part.first.checked_add(part.count).is_some_and(|end| end <= operations);
            if part.count == 0 || !inside {
                let value = format!("{} ({} from {})", part.name, part.count, part.first);
                let wanted = format!("wanted at least one operation, within the {operations} of the input");
                return Err(Error::invalid("parts", value, wanted));
            }
        }
        Ok(())
    }

    /// The turns of a pass, first operation and count; none of them crosses the edge of a part.
    pub(super) fn turns(&self, operations: usize) -> Vec<Window> {
        let ends = self.parts.iter().flat_map(|part| [part.first, part.first + part.count]);
        let mut edges: Vec<usize> = ends.chain([0, operations]).collect();
        edges.sort_unstable();
        edges.dedup();
        let stretches = edges.windows(2);
        stretches
            .flat_map(|edge| {
                let firsts = (edge[0]..edge[1]).step_by(self.turn);
                firsts.map(|first| Window { first, count: self.turn.min(edge[1] - first) })
            })
            .collect()
    }
}

/// Operations before a turn that the arm runs again, timed like the others and untold: after the other arms' turns the
/// caches and predictors are not what they would be in this arm's own stream. A list that moves hits to its front ends
/// up in the same order.
const LEAD: usize = 128;

/// The stream of one plan on its way through the arms. The empty arm comes last everywhere.
pub(super) struct Stream<'a> {
    bench: &'a Bench<'a>,
    wanted: &'a PerOperation,
    turns: Vec<Window>,
    orders: Vec<Vec<usize>>,
    /// For each arm, the checksum of each operation.
    expected: Vec<Vec<Checksum>>,
    recorders: Vec<Recorder>,
    placements: usize,
    counts: Vec<u64>,
}

impl<'a> Stream<'a> {
    pub fn prepare(bench: &'a Bench<'a>, wanted: &'a PerOperation) -> Result<Self> {
        let operations = bench.plan.source.operations();
        let expected = bench.expected_each()?;
        let arms = expected.len();
        let recorders =
            (0..arms).map(|_| Recorder::new(operations, &wanted.parts)).collect::<Result<Vec<_>>>()?;
        Ok(Stream {
            bench,
            wanted,
            turns: wanted.turns(operations),
            orders: williams_orders(arms),
            expected,
            recorders,
            placements: 0,
            counts: vec![0; wanted.turn.max(LEAD)],
        })
    }

    /// Builds everything anew and times all replays.
    pub fn placement<C: OperationClock>(&mut self, number: u64, clock: C) -> Result<()> {
        let (mut arms, mut placement) = self.bench.build(number)?;
        arms.push(empty());
        for (arm, layout) in arms.iter_mut().zip(drawn_apart(self.expected.len(), placement.random())) {
            arm.use_layout(layout);
        }
        // Each arm goes round the stream from a place of its own: over the same operations in the same turn, whoever came
        // first would warm code and data up for the others.
        let rounds = self.turns.len();
        let starts: Vec<usize> = arms.iter().map(|_| placement.random().random_range(0..rounds)).collect();
        // One round unmeasured: arms that learn from what they see begin as they would go on.
        for at in 0..rounds {
            for (arm, start) in arms.iter_mut().zip(&starts) {
                self.bench.watch.check()?;
                std::hint::black_box(arm.run(self.turns[(start + at) % rounds]));
            }
        }
        let mut orders: Vec<usize> = (0..self.orders.len()).collect();
        for at in 0..self.wanted.replays * rounds {
            // Drawn anew each time through: in a fixed one some arm would always follow the same other across the seam.
            if at % orders.len() == 0 {
                orders.shuffle(placement.random());
            }
            for position in 0..arms.len() {
                let arm = self.orders[orders[at % orders.len()]][position];
                self.bench.watch.check()?;
                self.turn(&mut arms[arm], arm, self.turns[(starts[arm] + at) % rounds], clock)?;
            }
        }
        for recorder in &mut self.recorders {
            recorder.end_of_placement(clock.ns_per_count());
        }
        self.placements += 1;
        Ok(())
    }

    /// One arm's turn.
    fn turn<C: OperationClock>(&mut self, arm: &mut Arm, at: usize, turn: Window, clock: C) -> Result<()> {
        let operations = self.bench.plan.source.operations();
        let lead = LEAD.min(operations);
        // The operations before the turn, from the end of the input where it has just begun.
        let wrapped = lead.saturating_sub(turn.first);
        let before = lead - wrapped;
        let leads = [(operations - wrapped, wrapped), (turn.first - before, before)];
        // Lent out: the side channels are noted in the recorder while the turn runs. They are read before the lead, since a
        // turn's first operation would else follow a system call, and one in a turn of 1,024 is just what p99.9 shows.
        let mut disturbed = self.recorders[at].disturbed;
        let timed = disturbed.during(|| {
            for (first, count) in leads.into_iter().filter(|(_, count)| *count > 0) {
                self.time(arm, at, Window { first, count }, clock)?;
            }
            self.time(arm, at, turn, clock)
        });
        timed?;
        self.recorders[at].disturbed = disturbed;
        self.recorders[at].turn(turn.first, &self.counts[..turn.count]);
        Ok(())
    }

    /// Times a window's operations into `self.counts` and insists on each result.
    fn time<C: OperationClock>(&mut self, arm: &mut Arm, at: usize, window: Window, clock: C) -> Result<()> {
        let expected = &self.expected[at][window.first..][..window.count];
        let wrong = timed(arm, window.first, expected, &mut self.counts[..window.count], clock);
        if wrong == 0 {
            return Ok(());
        }
        let name = self.bench.plan.entries.get(at).map_or("the empty arm", |entry| &entry.name);
        // Which one it was is found by doing it again; an arm that is wrong only sometimes is named all the same.
        let each = expected.iter().enumerate().map(|(step, expected)| {
            let first = window.first + step;
            (first, arm.run(Window { first, count: 1 }), *expected)
        });
        let (first, got, expected) = each.into_iter().find(|(_, got, expected)| got != expected).unwrap_or((
            window.first,
            Checksum(wrong ^ expected[0].0),
            expected[0],
        ));
        Err(Error::ChecksumMismatch {
            arm: name.into(),
            got: got.0,
            expected: expected.0,
            expected_by: "the reference".into(),
            first,
            count: 1,
        })
    }

    /// The figures of all arms, the empty one's last, and how many times each should have.
    pub fn finish<C: OperationClock>(self, clock: C) -> (Vec<Tail>, usize) {
        let (placements, replays) = (self.placements, self.wanted.replays);
        let finished = self
            .recorders
            .into_iter()
            .map(|recorder| recorder.finish(placements, replays, clock.ns_per_count(), clock.tick_ns()))
            .collect();
        (finished, placements * replays)
    }
}

impl Bench<'_> {
    /// For each arm, and the empty one after them, the checksum of each operation by itself.
    fn expected_each(&self) -> Result<Vec<Vec<Checksum>>> {
        let operations = self.plan.source.operations();
        let mut expected: Vec<Vec<Checksum>> = Vec::with_capacity(self.plan.entries.len() + 1);
        for (at, entry) in self.plan.entries.iter().enumerate() {
            let earlier = &self.plan.entries[..at];
            let known =
                earlier.iter().position(|other| std::sync::Arc::ptr_eq(&other.reference, &entry.reference));
            let mut each = crate::machine::memory::reserve("the result of each operation", operations)?;
            match known {
                Some(known) => each.extend_from_slice(&expected[known]),
                None => {
                    for first in 0..operations {
                        if first % 1024 == 0 {
                            self.watch.check()?;
                        }
                        let window = Window { first, count: 1 };
                        each.push(entry.reference.checksum(&self.plan.source, window));
                    }
                }
            }
            expected.push(each);
        }
        expected.push((0..operations).map(result).collect());
        Ok(expected)
    }
}
