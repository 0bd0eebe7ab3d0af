//! `traps.addresses`: bodies told apart by where they begin.

use std::sync::Arc;

use super::{configuration, table_twice};
use crate::dispatch::entry_points::{Behind, EntryPoints, distinct, span};
use crate::dispatch::{Body, HandlerSet, audit, ceiling};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Conditions, Entry, Experiment, Fact, Origin, Parameter, Plan, Role, Source, Trap,
    Unit, Value, Values, Watch,
};
use crate::traffic::{Law, Packet, Traffic};
use crate::{Result, race::Reference};

/// The experiment.
pub struct Addresses;

const ONE: &str = "one_entry";
const ALL: &str = "all_entries";

impl Experiment for Addresses {
    fn id(&self) -> &'static str {
        "traps.addresses"
    }

    fn title(&self) -> &'static str {
        "Trap: code judged by its addresses"
    }

    fn about(&self) -> &'static str {
        "Are these handlers' bodies different code, and how much of it is there? Comparing function addresses answers that \
         only if an address is where the body begins. A linker may hand out the address of a jump thunk, a framework that of \
         a wrapper: then addresses differ although the bodies are one, and their span says nothing of the bodies' size. In \
         this build a body's address is its own, so an address check would be right; the cause is therefore injected, entry \
         points in front of the bodies. In the wrong configuration one body lies behind all entry points, which by address \
         are as many bodies; in the right one each has its own. Both report what calling all of them costs more than calling \
         one. The check `bodies-distinct` runs them and compares results."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let which = configuration::injected_only();
        vec![which, table_twice::handlers(), table_twice::pool(card)]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: ONE, help: "calls the first entry point for each packet, looked up by its key" },
            ArmInfo { name: ALL, help: "calls an entry point by the packet's key" },
            ArmInfo { name: "one_entry_again", help: "control: the first entry point, built apart" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let handlers = values.size("handlers");
        let set = HandlerSet::standard(handlers, Body::Fat, 0.0, seed)?;
        let traffic = Traffic::new(Law::Uniform).unmatched(0.0).seed(seed);
        let packets = traffic.generate(values.size("pool"), &set.keys(), &watch.silent())?;
        let (behind, conditions) = match configuration::of(values) {
            configuration::INJECTED => (Behind::OneBody, Conditions::faulty()),
            _ => (Behind::OwnBody, Conditions::default()),
        };
        let one = Arc::new(EntryPoints::new(behind, handlers, true));
        let all = Arc::new(EntryPoints::new(behind, handlers, false));
        let entry = |name: &str, role: Role, arm: &Arc<EntryPoints>, claim| {
            let reference: Arc<dyn Reference> = arm.clone();
            let ceiling = Some(ceiling::fold());
            Entry { ceiling, ..Entry::new(name, role, arm.clone(), reference, claim) }
        };
        let entries = vec![
            entry(ONE, Role::Baseline, &one, "the first entry point"),
            entry(ALL, Role::Arm, &all, "all entry points"),
            entry("one_entry_again", Role::Control { against: ONE.into() }, &one, "the first entry point"),
        ];
        let checks = vec![behaviour_check(behind, handlers, &packets[0])];
        Ok(Plan {
            conditions,
            checks,
            patience: configuration::FEWEST_BLOCKS,
            ..Plan::new(Source::from_items(packets), entries)
        })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "bodies-distinct",
            share: 0.10,
            least: 0.0,
            injected: "entry points in front of one body, as jump thunks or a framework's wrappers are",
            cause: "an address check sees the entry points, whatever lies behind them",
        };
        lesson.of_injected(cells, |cell| {
            let handlers = handlers(cell);
            let behind = if cell.faulty { Behind::OneBody } else { Behind::OwnBody };
            let by_address = distinct(&behind.addresses(handlers));
            configuration::difference(cell, ALL, ONE, |ns| {
                format!(
                    "{by_address} bodies, by their addresses, cost {ns} ns a packet more than one (targets to guess \
                     included)"
                )
            })
        })
    }

    fn facts(&self, cells: &[Cell], card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        let Some(handlers) = cells.first().map(handlers) else { return Ok(Vec::new()) };
        let packet = Packet { protocol: 0, length: 32, flow: 0, payload: [7; 24] };
        let own = audit::process_addresses(&HandlerSet::standard(handlers, Body::Fat, 0.0, 0)?);
        let fact = |name: &str, text: String, value: usize, unit: &str| Fact {
            name: format!("addresses:{name}"),
            text,
            value: Some(value as f64),
            unit: unit.into(),
            origin: Origin::Counted,
        };
        let mut facts = Vec::new();
        for (name, behind) in [("one-body", Behind::OneBody), ("own-body", Behind::OwnBody)] {
            let addresses = behind.addresses(handlers);
            let results = distinct(&behind.values(handlers, &packet));
            let text = format!(
                "{name}: {} entry points at {} addresses, {} bytes from first to last; by what they compute, {results} \
                 bod{}",
                handlers,
                distinct(&addresses),
                span(&addresses),
                if results == 1 { "y" } else { "ies" }
            );
            facts.push(fact(name, text, results, "bodies"));
        }
        let cache = card.l1i_bytes().map_or(String::new(), |bytes| format!(" (the L1i has {bytes})"));
        let text = format!(
            "the bodies' own addresses: {} of {handlers} differ, {} bytes from first to last{cache}; here an address check \
             of the bodies themselves would be right",
            distinct(&own),
            span(&own)
        );
        facts.push(fact("bodies", text, span(&own), "bytes"));
        Ok(facts)
    }
}

fn handlers(cell: &Cell) -> usize {
    match cell.parameters.get("handlers") {
        Some(Value::Int(handlers)) => usize::try_from(*handlers).unwrap_or(0),
        _ => 0,
    }
}

/// Whether there is a body of its own behind each entry point, by what it computes.
fn behaviour_check(behind: Behind, count: usize, packet: &Packet) -> Check {
    let results = distinct(&behind.values(count, packet));
    let addresses = distinct(&behind.addresses(count));
    let detail = format!("{addresses} addresses, but {results} different results on the same packet");
    Check::new(
        "bodies-distinct",
        results == count,
        detail.replace(", but", if results == count { "," } else { ", but" }),
    )
}
