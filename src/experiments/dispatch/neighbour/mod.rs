//! `dispatch.neighbour`: what a dispatch table costs somebody else.

mod arms;
mod keys;
mod lines;

use std::sync::Arc;
use std::time::Duration;

use arms::{AfterBurst, Meanwhile, Work};
use keys::Keys;

use super::traffic;
use crate::Result;
use crate::dispatch::{HandlerSet, NullRecipe, NullReference, ScanReference, SelectionArm, SelectionRecipe};
use crate::experiments::cache::chase::{self, Chase, Cycle, NODE_BYTES, Walk};
use crate::machine::{Card, memory};
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Origin, Parameter, Plan, Recipe,
    Reference, Role, Source, Status, Unit, Value, Values, Watch, contrast,
};
use crate::traffic::Packet;

/// The experiment.
pub struct Neighbour;

const PLACES: [&str; 2] = ["same_core", "other_core"];
const COMPACT: &str = "beside_table_compact";
const DIRECT16: &str = "beside_table_direct16";
const NULL: &str = "beside_null";
const NOBODY: &str = "beside_nobody";
const AGAIN: &str = "beside_table_compact_again";

/// One round of each order: where pages happen to lie decides much of what is evicted, so that many blocks say more than
/// long ones. Each rep is preceded by a burst that is several times longer.
const BLOCK: Duration = Duration::from_millis(1);
/// Times the fewest blocks.
const PATIENCE: usize = 3;
/// Starting and stopping the other core takes up to a microsecond; a rep of this length keeps that below 0.3 %.
const MIN_REP_BESIDE: Duration = Duration::from_micros(300);
const SMALLEST_SET: i64 = 64 << 10;
const LARGEST_SET: i64 = 256 << 20;

impl Experiment for Neighbour {
    fn id(&self) -> &'static str {
        "dispatch.neighbour"
    }

    fn title(&self) -> &'static str {
        "What a dispatch table costs somebody else"
    }

    fn about(&self) -> &'static str {
        "A table of a mebibyte may be as fast as one of 24 KiB and still cost: in the caches that others share. A \
         neighbour walks a random cycle through a working set of its own (half of the L2 by default), and only the \
         neighbour is timed. On the same core a burst of packets is dispatched, untimed, before each pass; on \
         another core packets are dispatched while the neighbour walks. What differs between the arms is the table \
         alone: packets, handlers and bodies are the same, and `beside_null` reads the packets without finding \
         anybody. A table costs its neighbour only the lines that are touched: with the kata's own keys, or with the \
         same handlers' keys spread over all 16 bits, that is a hundred slots of the big table; with random keys, as \
         in a port scan, it is as many as there are packets. How many lines each table's slots come to is counted \
         beside. Every burst is held against its reference. Control: the compact table once more, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerLoad
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let words = |words: &[&str]| words.iter().map(|word| Value::Text((*word).into())).collect::<Vec<_>>();
        let half_l2 = card.l2_bytes().unwrap_or(1 << 20) as i64 / 2;
        // Without a second core the question stays open, and a check says so.
        let places = if has_two_cores(card) { &PLACES[..] } else { &PLACES[..1] };
        vec![
            Parameter::new(
                "place",
                Kind::Choice { choices: PLACES.to_vec() },
                Value::Text(PLACES[0].into()),
                "where packets are dispatched: on the neighbour's core before each pass, or meanwhile on another",
            )
            .series(words(places)),
            Parameter::new(
                "keys",
                Kind::Choice { choices: Keys::NAMES.to_vec() },
                Value::Text(Keys::NAMES[0].into()),
                "the kata's keys, the same handlers' spread over 16 bits, or packets with random ones",
            )
            .series(words(&Keys::NAMES)),
            Parameter::new(
                "working_set",
                Kind::Int { low: SMALLEST_SET, high: LARGEST_SET },
                Value::Int(half_l2.clamp(SMALLEST_SET, LARGEST_SET)),
                "bytes that the neighbour walks over; half of this machine's L2 by default",
            )
            .unit("bytes")
            .series(vec![Value::Int(half_l2.clamp(SMALLEST_SET, LARGEST_SET))]),
            Parameter::new(
                "burst",
                Kind::Int { low: 1, high: 1 << 20 },
                Value::Int(4096),
                "packets that are dispatched before each pass, or over and over on the other core",
            )
            .unit("packets"),
            Parameter::new("handlers", traffic::handlers(), Value::Int(100), "how many handlers are registered"),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("fat".into()),
                "code of a handler: fat (about 1.8 KiB), tiny, or identical (all run one body: a trap)",
            ),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: COMPACT, help: "the neighbour beside a compact table (24 KiB and more)" },
            ArmInfo { name: DIRECT16, help: "the neighbour beside a table of 65,536 slots (1 MiB)" },
            ArmInfo { name: "beside_hash_map", help: "the neighbour beside std's HashMap" },
            ArmInfo {
                name: NULL,
                help: "the neighbour beside a loop that reads the packets and finds nobody",
            },
            ArmInfo { name: NOBODY, help: "the neighbour alone" },
            ArmInfo { name: AGAIN, help: "control: beside a second compact table, built apart" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let (set, packets) = burst(values, seed, watch)?;
        let bytes = values.size("working_set");
        memory::room_for(&format!("working_set = {bytes}"), 2 * bytes, 1)?;
        let cycle = Arc::new(Cycle::new(bytes / NODE_BYTES, seed, watch)?);
        let turn = cycle.nodes.len();
        let same_core = values.text("place") == PLACES[0];
        let entries = entries(&set, packets, &cycle, same_core)?;
        let passes = if same_core { 1 } else { (1usize << 18).div_ceil(turn) };
        let source = Source::from_items_with(cycle.nodes.clone(), turn * passes);
        let line = card.line_bytes();
        let detail = format!("nodes of {NODE_BYTES} bytes, lines of {line}");
        let checks = vec![Check::new("one-node-a-line", line == NODE_BYTES, detail)];
        let plan = Plan { checks, patience: Some(PATIENCE), ..Plan::new(source, entries) };
        Ok(match same_core {
            // A rep is one pass: in a second one the set would be back in the cache.
            true => Plan { rep_operations: Some(turn), block: Some(BLOCK), ..plan },
            false => Plan { helpers: 1, min_rep: Some(MIN_REP_BESIDE), ..plan },
        })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        let each = cells.iter().flat_map(|cell| {
            let at = setting(cell);
            let spoken = spoken(cell);
            [
                (DIRECT16, COMPACT, "direct16", "table_direct16 − table_compact"),
                (COMPACT, NULL, "compact", "table_compact − reading the packets"),
                (NULL, NOBODY, "packets", "reading the packets − nobody"),
            ]
            .map(|(more, less, name, what)| {
                let terms = [(1.0, cell, more), (-1.0, cell, less)];
                contrast::linear(&terms, format!("{name}:{at}"), format!("neighbour: {what}, {spoken}"))
            })
        });
        each.flatten().collect()
    }

    fn judge(&self, cells: &mut [Cell], card: &Card) -> Vec<Check> {
        let beside = |cell: &Cell| cell.parameters["place"] == Value::Text(PLACES[1].into());
        if cells.iter().any(beside) || has_two_cores(card) {
            return Vec::new();
        }
        vec![Check::not_applicable("other-core", "one core is allowed here: nobody can work beside")]
    }

    fn facts(&self, cells: &[Cell], _card: &Card, watch: &Watch) -> Result<Vec<Fact>> {
        let mut facts = Vec::new();
        let mut seen = Vec::new();
        for cell in cells {
            let keys = &cell.parameters["keys"];
            if !seen.contains(keys) {
                seen.push(keys.clone());
                facts.extend(lines_facts(cell, watch)?);
            }
        }
        facts.extend(cells.iter().filter_map(per_packet));
        Ok(facts)
    }
}

fn has_two_cores(card: &Card) -> bool {
    card.topology.distinct_cores(&card.allowed_cpus, 2).is_some()
}

/// A race's setting as a reader wants it.
fn spoken(cell: &Cell) -> String {
    let kib = match cell.parameters["working_set"] {
        Value::Int(bytes) => bytes >> 10,
        _ => 0,
    };
    let place = cell.parameters["place"].to_string().replace('_', " ");
    format!("{place}, {} keys, set of {kib} KiB", cell.parameters["keys"])
}

/// The same for names.
fn setting(cell: &Cell) -> String {
    let of = |name: &str| cell.parameters[name].to_string();
    format!("{}:{}:{}", of("place"), of("keys"), of("working_set"))
}

fn burst(values: &Values, seed: u64, watch: &Watch) -> Result<(HandlerSet, Vec<Packet>)> {
    let body = traffic::body(values.text("body"));
    let keys = Keys::named(values.text("keys"));
    keys::burst(keys, values.size("handlers"), body, values.size("burst"), seed, watch)
}

fn entries(
    set: &HandlerSet,
    packets: Vec<Packet>,
    cycle: &Arc<Cycle>,
    same_core: bool,
) -> Result<Vec<Entry>> {
    let packets = Source::from_items(packets);
    let reference = ScanReference::new(set);
    let selecting = |arm| -> Result<Option<Arc<Work>>> {
        let recipe = Arc::new(SelectionRecipe::new(arm, set, None)?);
        Ok(Some(Arc::new(Work::new(recipe, &reference, packets.clone()))))
    };
    let null = Work::new(Arc::new(NullRecipe::new(set)), &NullReference::new(set), packets.clone());
    let arms = [
        (COMPACT, Role::Baseline, selecting(SelectionArm::TableCompact)?),
        (DIRECT16, Role::Arm, selecting(SelectionArm::TableDirect16)?),
        ("beside_hash_map", Role::Arm, selecting(SelectionArm::HashMap)?),
        (NULL, Role::Arm, Some(Arc::new(null))),
        (NOBODY, Role::Arm, None),
        (AGAIN, Role::Control { against: COMPACT.into() }, selecting(SelectionArm::TableCompact)?),
    ];
    let chase = || Chase::new(Arc::clone(cycle), Walk::Random, 0);
    let walked: Arc<dyn Reference> = Arc::new(chase());
    let entry = |(name, role, work): (&str, Role, Option<Arc<Work>>)| {
        let recipe: Arc<dyn Recipe> = match same_core {
            true => Arc::new(AfterBurst { chase: chase(), work }),
            false => Arc::new(Meanwhile { chase: chase(), work }),
        };
        let ceiling = Some(chase::ceiling());
        Entry { ceiling, ..Entry::new(name, role, recipe, Arc::clone(&walked), "walk") }
    };
    Ok(arms.map(entry).into())
}

/// How many lines of each table's slots a burst comes to.
fn lines_facts(cell: &Cell, watch: &Watch) -> Result<Vec<Fact>> {
    let values = Values(cell.parameters.clone());
    let (_, packets) = burst(&values, cell.seed, watch)?;
    let keys = || packets.iter().map(|packet| packet.protocol);
    let footprint = cell.arm(COMPACT).and_then(|arm| arm.footprint_bytes).unwrap_or(0);
    let tables = [
        ("table_direct16", 1 << 16, SLOT_BYTES),
        ("table_compact", lines::slots_within(footprint, KEYED_SLOT_BYTES), KEYED_SLOT_BYTES),
    ];
    let facts = tables.map(|(table, slots, slot_bytes)| {
        let touched = lines::touched(keys(), slots, slot_bytes);
        let of = values.text("keys");
        let text = format!(
            "{of} keys: {} packets read {touched} lines of {table}'s slots, {:.1} KiB of its {:.0} KiB",
            packets.len(),
            (touched * lines::LINE_BYTES) as f64 / 1024.0,
            (slots * slot_bytes) as f64 / 1024.0
        );
        Fact {
            name: format!("touched:{of}:{table}"),
            text,
            value: Some(touched as f64),
            unit: "lines".into(),
            origin: Origin::Counted,
        }
    });
    Ok(facts.into())
}

/// A slot of `table_direct16`, and one of `table_compact`, which holds its key besides (both asserted where they are
/// declared).
const SLOT_BYTES: usize = 16;
const KEYED_SLOT_BYTES: usize = 24;

/// What the neighbour pays, shared out over the packets that were dispatched before its pass: what the big table's price a
/// packet leaves out.
fn per_packet(cell: &Cell) -> Option<Fact> {
    let here = cell.parameters["place"] == Value::Text(PLACES[0].into());
    let (Value::Int(bytes), Value::Int(burst)) = (&cell.parameters["working_set"], &cell.parameters["burst"])
    else {
        return None;
    };
    if !here || cell.status == Status::NoVerdict {
        return None;
    }
    let extra = contrast::over_blocks(&[(1.0, cell, DIRECT16), (-1.0, cell, COMPACT)])?;
    let loads = (*bytes as usize / NODE_BYTES) as f64;
    let shared = extra.map(|ns| ns * loads / *burst as f64);
    let text = format!(
        "{}: a pass of {loads} loads takes {:+.2} ns ({:.2}…{:.2}) for each packet of the burst more beside \
         table_direct16 than beside table_compact",
        spoken(cell),
        shared.estimate,
        shared.low,
        shared.high
    );
    Some(Fact {
        name: format!("a-packet:{}", setting(cell)),
        text,
        value: Some(shared.estimate),
        unit: "ns/packet".into(),
        origin: Origin::Computed,
    })
}

#[cfg(test)]
mod tests;
