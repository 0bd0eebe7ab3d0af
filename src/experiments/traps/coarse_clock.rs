//! `traps.coarse_clock`: reps shorter than the clock's tick.

use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::Body;
use crate::machine::{Card, Clock};
use crate::race::{
    ArmInfo, Cell, Conditions, Experiment, Kind, Parameter, Plan, Trap, Unit, Value, Values, Watch,
};

/// The experiment.
pub struct CoarseClock;

impl Experiment for CoarseClock {
    fn id(&self) -> &'static str {
        "traps.coarse_clock"
    }

    fn title(&self) -> &'static str {
        "Trap: a clock whose tick is longer than a rep"
    }

    fn about(&self) -> &'static str {
        "How long does a lookup take by a clock that ticks once a millisecond? Both configurations run the same race of a \
         table against itself; the wrong one reads the time through a coarse tick, so that most reps take no time at all \
         and a few take a whole tick. The median is then zero, whatever the arm costs. The check `tick`, which every race \
         has, compares the shortest rep with the tick that it sees for itself."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![
            configuration::two(),
            Parameter::new(
                "tick_us",
                Kind::Int { low: 100, high: 16_000 },
                Value::Int(1000),
                "tick of the coarse clock; many timers of operating systems have 1,000 to 15,600 µs",
            )
            .unit("µs"),
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
        let conditions = match configuration::of(values) {
            configuration::WRONG => {
                let tick_ns = values.int("tick_us").unsigned_abs() * 1000;
                Conditions { clock: Some(Clock::coarse(tick_ns)), ..Conditions::faulty() }
            }
            _ => Conditions::default(),
        };
        Ok(Plan { conditions, ..table_twice::plan(&set, packets, |recipe| recipe)? })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "tick",
            share: 0.05,
            least: 0.0,
            injected: "",
            cause: "a rep that is shorter than a tick reads zero, and now and then a whole tick",
        };
        lesson.of(cells, |cell| {
            configuration::cost(cell, table_twice::TABLE, |ns| {
                format!("the table's lookup and call cost {ns} ns a packet")
            })
        })
    }
}
