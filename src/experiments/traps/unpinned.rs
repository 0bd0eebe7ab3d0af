//! `traps.unpinned`: a thread that may be moved.

use std::sync::Arc;

use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::Body;
use crate::machine::{Card, Pin, affinity};
use crate::race::{
    Arm, ArmInfo, Cell, Conditions, Experiment, Input, Kind, Parameter, Placement, Plan, Recipe, Trap, Unit,
    Value, Values, Watch,
};

/// The experiment.
pub struct Unpinned;

impl Experiment for Unpinned {
    fn id(&self) -> &'static str {
        "traps.unpinned"
    }

    fn title(&self) -> &'static str {
        "Trap: a thread that isn't pinned"
    }

    fn about(&self) -> &'static str {
        "What does a lookup cost, when the system may move the thread in the middle of it? A moved thread leaves its caches \
         and its predictors behind, and on a machine with two kinds of core it goes on at another speed. The wrong \
         configuration leaves the thread free and keeps every rep, also those in which it was moved or held up. Where the \
         system leaves it in peace (an idle machine, a short run), the cause is injected: it is moved to another of its CPUs \
         as reps begin. The check `placement`, which every race has, reads back where each rep began and ended."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![
            configuration::three(),
            Parameter::new(
                "moves_every",
                Kind::Int { low: 1, high: 1000 },
                Value::Int(1),
                "reps from one injected move to the next",
            ),
            table_twice::handlers(),
            table_twice::body(Body::Fat),
            table_twice::pool(card),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        table_twice::arms()
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let (set, packets) = table_twice::workload(values, values.size("pool"), seed, watch)?;
        let free = Conditions { unpinned: true, keeps_disturbed: true, ..Conditions::faulty() };
        let every = values.size("moves_every");
        let moved = |inner: Arc<dyn Recipe>| -> Arc<dyn Recipe> { Arc::new(Moved { inner, every }) };
        Ok(match configuration::of(values) {
            configuration::WRONG => {
                Plan { conditions: free, ..table_twice::plan(&set, packets, |recipe| recipe)? }
            }
            configuration::INJECTED => Plan { conditions: free, ..table_twice::plan(&set, packets, moved)? },
            _ => Plan {
                conditions: Conditions::default(),
                ..table_twice::plan(&set, packets, |recipe| recipe)?
            },
        })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "placement",
            share: 0.05,
            least: 0.0,
            injected: "the thread is moved to another of its CPUs as reps begin, as a scheduler would move it",
            cause: "whoever is moved or held up pays for it, and nothing tells which rep that was",
        };
        lesson.of(cells, |cell| {
            configuration::cost(cell, table_twice::TABLE, |ns| {
                format!("the table's lookup and call cost {ns} ns a packet")
            })
        })
    }
}

/// A recipe whose arms are moved to the next allowed CPU every few calls, as they begin.
struct Moved {
    inner: Arc<dyn Recipe>,
    every: usize,
}

impl Recipe for Moved {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let inner = self.inner.build(input, placement)?;
        let state = (self.every, 0usize, affinity::allowed_cpus()?);
        Ok(Arm::around(inner, state, |(inner, (every, calls, cpus)), window| {
            *calls += 1;
            if calls.is_multiple_of(*every) {
                let next = cpus.iter().position(|&cpu| Some(cpu) != affinity::current_cpu());
                // There, and free again at once: the pin's guard gives the former mask back. Where there is no other CPU, or
                // threads can't be pinned, nothing moves, and the trap says that it doesn't bite.
                drop(next.map(|at| Pin::to(cpus[at])));
            }
            inner.run(window)
        }))
    }
}
