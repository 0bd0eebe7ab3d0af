//! What all races of this area replay: packets for the example plugins' four handlers.

use crate::Result;
use crate::dispatch::{HandlerSet, audit, input_audit};
use crate::experiments::dispatch::traffic;
use crate::machine::Card;
use crate::plugin::crossing::handler_set;
use crate::race::{Check, Kind, Parameter, Value, Values, Watch};
use crate::traffic::{Law, Packet, Traffic};

/// Traffic to one handler: every branch and every call is predicted, and what is left is the boundary.
pub(super) const HOT: &str = "hot";
/// Traffic to all of them alike.
const UNIFORM: &str = "uniform";

/// Which packets come.
pub(super) fn traffic_parameter() -> Parameter {
    Parameter::new(
        "traffic",
        Kind::Choice { choices: vec![HOT, UNIFORM] },
        Value::Text(HOT.into()),
        "which of the four handlers packets are for: always the same one, or each of them alike",
    )
}

/// How many.
pub(super) fn pool_parameter(card: &Card) -> Parameter {
    let shared = traffic::parameters(card).into_iter().find(|parameter| parameter.name == "pool");
    shared.expect("dispatch experiments have a pool")
}

/// Packets, the handlers that they are for, and what was found out about them.
pub(super) struct Input {
    pub set: HandlerSet,
    pub packets: Vec<Packet>,
    pub checks: Vec<Check>,
}

/// Draws packets for handlers whose keys begin at `first`.
pub(super) fn draw(values: &Values, first: u16, seed: u64, card: &Card, watch: &Watch) -> Result<Input> {
    let set = handler_set(first)?;
    let name = values.text("traffic");
    let law = match name {
        UNIFORM => Law::Uniform,
        // The third: neither the first that a comparison meets nor the one that tests further.
        _ => Law::Hot { handler: set.len() / 2 },
    };
    // The host's table has seen to it that nothing gets here whose key wasn't claimed.
    let traffic = Traffic::new(law).unmatched(0.0).seed(seed);
    let packets = traffic.generate(values.size("pool"), &set.keys(), &watch.silent())?;
    let mut checks = vec![audit::pool_check(&packets, card)];
    checks.extend(input_audit::checks(&set, &packets, Some(name), watch)?);
    Ok(Input { set, packets, checks })
}
