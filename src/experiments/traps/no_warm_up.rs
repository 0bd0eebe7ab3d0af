//! `traps.no_warm_up`: the first run is the one that counts.

use std::time::Duration;

use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::Body;
use crate::machine::Card;
use crate::race::{ArmInfo, Cell, Conditions, Experiment, Parameter, Plan, Trap, Unit, Values, Watch};

/// The experiment.
pub struct NoWarmUp;

/// A short first look, as a quick benchmark takes it; still some hundred ticks of the clock.
const MIN_REP: Duration = Duration::from_micros(10);

impl Experiment for NoWarmUp {
    fn id(&self) -> &'static str {
        "traps.no_warm_up"
    }

    fn title(&self) -> &'static str {
        "Trap: no warm-up, the first run counts"
    }

    fn about(&self) -> &'static str {
        "What does a lookup cost? The wrong configuration times the first rep over freshly placed handlers, table and \
         packets, and nothing else: caches and address translations are cold, and the branch predictors know nothing of \
         what is to come. The right one discards a rep first, as every race does. A cold figure isn't wrong in itself (some \
         services run cold), but it isn't what was asked for. The check `warmed-up`, which every race has, compares the \
         first rep that counts with later ones."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![
            configuration::two(),
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
        let conditions = match configuration::of(values) {
            configuration::WRONG => Conditions { cold: true, ..Conditions::faulty() },
            _ => Conditions::default(),
        };
        Ok(Plan { conditions, min_rep: Some(MIN_REP), ..table_twice::plan(&set, packets, |recipe| recipe)? })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "warmed-up",
            share: 0.10,
            least: 0.0,
            injected: "",
            cause: "whoever runs first over fresh memory pays for bringing it in, once",
        };
        lesson.of(cells, |cell| {
            configuration::cost(cell, table_twice::TABLE, |ns| {
                format!("the table's lookup and call cost {ns} ns a packet")
            })
        })
    }
}
