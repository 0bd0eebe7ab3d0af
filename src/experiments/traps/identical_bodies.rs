//! `traps.identical_bodies`: a hundred handlers that are one.

use super::{calling, configuration, table_twice};
use crate::Result;
use crate::dispatch::{Body, HandlerSet, audit};
use crate::machine::Card;
use crate::race::{ArmInfo, Cell, Conditions, Experiment, Parameter, Plan, Trap, Unit, Values, Watch};
use crate::traffic::{Law, Traffic};

/// The experiment.
pub struct IdenticalBodies;

/// Share of residual handlers (the public kata's).
const RESIDUAL_SHARE: f64 = 0.10;

impl Experiment for IdenticalBodies {
    fn id(&self) -> &'static str {
        "traps.identical_bodies"
    }

    fn title(&self) -> &'static str {
        "Trap: handlers whose bodies are one and the same"
    }

    fn about(&self) -> &'static str {
        "What does it cost that a hundred handlers are a hundred pieces of code? The wrong configuration registers as many \
         handlers, but all run one body, as identical-code folding or a careless template leaves them: the program is still \
         correct, and its figures look plausible. The right one gives each a body of its own, of the same size. Both report \
         the call of the selected handler less the direct call of one body. The check `bodies-distinct`, which every \
         dispatch race has, runs all bodies on the same packets and counts the different results."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![configuration::two(), table_twice::handlers(), table_twice::pool(card)]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        calling::arms()
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let (body, conditions) = match configuration::of(values) {
            configuration::WRONG => (Body::Identical, Conditions::faulty()),
            _ => (Body::Fat, Conditions::default()),
        };
        let set = HandlerSet::standard(values.size("handlers"), body, RESIDUAL_SHARE, seed)?;
        let traffic = Traffic::new(Law::Uniform).seed(seed);
        let packets = traffic.generate(values.size("pool"), &set.keys(), &watch.silent())?;
        let checks = vec![audit::bodies_check(&[&set])?];
        Ok(Plan { conditions, checks, ..calling::plan(&set, packets)? })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "bodies-distinct",
            share: 0.20,
            least: 0.0,
            injected: "",
            cause: "one body fits any cache and is one target, however many handlers share it",
        };
        lesson.of(cells, |cell| {
            let handlers = cell.parameters.get("handlers").map(ToString::to_string).unwrap_or_default();
            calling::gap(cell, |ns| {
                format!("running {handlers} handlers' code costs {ns} ns a packet more than running one's")
            })
        })
    }
}
