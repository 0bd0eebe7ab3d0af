//! `traps.arm_major`: all reps of one arm, then all of the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::Body;
use crate::machine::Card;
use crate::race::{
    Arm, ArmInfo, Cell, Conditions, Experiment, Input, Kind, Order, Parameter, Placement, Plan, Recipe, Trap,
    Unit, Value, Values, Watch, Window,
};

/// The experiment.
pub struct ArmMajor;

impl Experiment for ArmMajor {
    fn id(&self) -> &'static str {
        "traps.arm_major"
    }

    fn title(&self) -> &'static str {
        "Trap: all reps of one arm, then all of the next"
    }

    fn about(&self) -> &'static str {
        "Is a table faster than itself? Both arms are the same table. Run one after the other, whoever comes last pays for \
         whatever drifts meanwhile: a core that clocks down as it heats, a neighbour that wakes up. Interleaved rep by rep in \
         balanced order the drift is common to both and cancels. Where the core keeps its clock, the cause is injected: each \
         call does a little more work than the one before, as a core that clocks down would take longer; the right \
         configuration has the same drift and must read zero all the same. The check `order`, which every race has, fires \
         on the order itself."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![
            configuration::three(),
            Parameter::new(
                "drift",
                Kind::Float { low: 0.01, high: 1.0 },
                Value::Float(0.20),
                "share by which an injected drift has slowed the arms down once it is at its worst",
            ),
            table_twice::handlers(),
            table_twice::body(Body::Tiny),
            table_twice::pool(card),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        table_twice::arms()
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let (set, packets) = table_twice::workload(values, values.size("pool"), seed, watch)?;
        let drift = values.float("drift");
        let calls = Arc::new(AtomicUsize::new(0));
        let drifting = |inner: Arc<dyn Recipe>| -> Arc<dyn Recipe> {
            Arc::new(Drifting { inner, calls: Arc::clone(&calls), most: drift })
        };
        let order = Some(Order::ArmMajor);
        Ok(match configuration::of(values) {
            configuration::WRONG => Plan {
                conditions: Conditions { order, ..Conditions::faulty() },
                ..table_twice::plan(&set, packets, |recipe| recipe)?
            },
            configuration::INJECTED => Plan {
                conditions: Conditions { order, ..Conditions::faulty() },
                ..table_twice::plan(&set, packets, drifting)?
            },
            _ => Plan { conditions: Conditions::default(), ..table_twice::plan(&set, packets, drifting)? },
        })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "order",
            share: 0.0,
            least: 1.0,
            injected: "a drift, common to both arms and to both orders",
            cause: "arms that run one after the other meet different moments of the machine",
        };
        lesson.of(cells, |cell| {
            configuration::apart(cell, table_twice::AGAIN, |percent| {
                format!("a table differs from itself by {percent} %")
            })
        })
    }
}

/// A recipe whose arms slow down from call to call, all of a block together: each call replays a growing part of its window
/// once more beforehand.
struct Drifting {
    inner: Arc<dyn Recipe>,
    /// Calls of this block's arms so far.
    calls: Arc<AtomicUsize>,
    /// Share of a window that is replayed again at the worst.
    most: f64,
}

/// Calls until the drift is at its worst: a block of two arms has some 160 reps of 50 µs.
const CALLS_TO_WORST: usize = 160;

impl Recipe for Drifting {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        // A block begins at full speed.
        self.calls.store(0, Ordering::Relaxed);
        let inner = self.inner.build(input, placement)?;
        let drift = (Arc::clone(&self.calls), self.most);
        Ok(Arm::around(inner, drift, |(inner, (calls, most)), window| {
            let so_far = calls.fetch_add(1, Ordering::Relaxed).min(CALLS_TO_WORST);
            let share = *most * so_far as f64 / CALLS_TO_WORST as f64;
            let again = Window { count: (window.count as f64 * share) as usize, ..window };
            std::hint::black_box(inner.run(again));
            inner.run(window)
        }))
    }
}
