//! `traps.one_handler`: a call is priced with one handler only.

use super::{calling, configuration, table_twice};
use crate::Result;
use crate::dispatch::{Body, HandlerSet, input_audit};
use crate::machine::Card;
use crate::race::{ArmInfo, Cell, Conditions, Experiment, Parameter, Plan, Trap, Unit, Values, Watch};
use crate::traffic::{Law, Traffic};

/// The experiment.
pub struct OneHandler;

/// Share of residual handlers (the public kata's).
const RESIDUAL_SHARE: f64 = 0.10;

impl Experiment for OneHandler {
    fn id(&self) -> &'static str {
        "traps.one_handler"
    }

    fn title(&self) -> &'static str {
        "Trap: a virtual call priced with one handler"
    }

    fn about(&self) -> &'static str {
        "What does a call through a vtable cost? Most benchmarks of it call one object over and over: the target never \
         changes, the predictor knows it, and its code stays where it is. The wrong configuration sends every packet to one \
         handler, the right one to all of them in a random order; both report the call through the vtable less the direct \
         call. The check `several-targets` counts the handlers that the packets reach."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![
            configuration::two(),
            table_twice::handlers(),
            table_twice::body(Body::Tiny),
            table_twice::pool(card),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        calling::arms()
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let handlers = values.size("handlers");
        let set = HandlerSet::standard(handlers, values.text("body").parse()?, RESIDUAL_SHARE, seed)?;
        let (law, conditions) = match configuration::of(values) {
            configuration::WRONG => (Law::Hot { handler: handlers / 2 }, Conditions::faulty()),
            _ => (Law::Uniform, Conditions::default()),
        };
        let packets =
            Traffic::new(law).seed(seed).generate(values.size("pool"), &set.keys(), &watch.silent())?;
        let checks = vec![input_audit::targets_check(&set, &packets, None, watch)?];
        Ok(Plan { conditions, checks, ..calling::plan(&set, packets)? })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "several-targets",
            share: 0.20,
            least: 0.0,
            injected: "",
            cause: "with one target there is nothing to predict",
        };
        lesson.of(cells, |cell| {
            calling::gap(cell, |ns| format!("a call through the vtable costs {ns} ns more than a direct one"))
        })
    }
}
