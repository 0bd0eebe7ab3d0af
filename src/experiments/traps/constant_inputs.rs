//! `traps.constant_inputs`: every packet carries the same payload.

use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::{Body, HandlerSet, input_audit};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Conditions, Experiment, Kind, Parameter, Plan, Trap, Unit, Value, Values, Watch,
};
use crate::traffic::{Law, Traffic};

/// The experiment.
pub struct ConstantInputs;

impl Experiment for ConstantInputs {
    fn id(&self) -> &'static str {
        "traps.constant_inputs"
    }

    fn title(&self) -> &'static str {
        "Trap: inputs that are all the same"
    }

    fn about(&self) -> &'static str {
        "What does a table cost whose handlers test a byte of the payload besides their key? The wrong configuration gives \
         all packets one payload (a buffer filled with zeros, say), so that a key always leads to the same handler, by the \
         same tests with the same outcomes. The right one draws payloads. Keys are the same in both. The check \
         `payloads-vary` counts the different payloads among packets that are decided by one."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![
            configuration::two(),
            table_twice::handlers(),
            table_twice::body(Body::Tiny),
            Parameter::new(
                "residual_share",
                Kind::Float { low: 0.05, high: 1.0 },
                Value::Float(1.0),
                "share of handlers that test more than their key",
            ),
            table_twice::pool(card),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        table_twice::arms()
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let (body, share) = (values.text("body").parse()?, values.float("residual_share"));
        let set = HandlerSet::standard(values.size("handlers"), body, share, seed)?;
        let traffic = Traffic::new(Law::Uniform).seed(seed);
        let mut packets = traffic.generate(values.size("pool"), &set.keys(), &watch.silent())?;
        let conditions = match configuration::of(values) {
            configuration::WRONG => {
                packets.iter_mut().for_each(|packet| packet.payload = [0; 24]);
                Conditions::faulty()
            }
            _ => Conditions::default(),
        };
        let checks = vec![input_audit::payloads_check(&set, &packets, watch)?];
        Ok(Plan { conditions, checks, ..table_twice::plan(&set, packets, |recipe| recipe)? })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "payloads-vary",
            share: 0.05,
            least: 0.0,
            injected: "",
            cause: "tests whose outcome never changes are predicted and never tried twice",
        };
        lesson.of(cells, |cell| {
            configuration::cost(cell, table_twice::TABLE, |ns| {
                format!("a lookup with a test of the payload costs {ns} ns a packet, its call included")
            })
        })
    }
}
