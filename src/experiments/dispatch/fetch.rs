//! `dispatch.fetch`: what fetching code costs once it outgrows the instruction cache, with nothing to predict.

use std::sync::Arc;

use super::{control, traffic};
use crate::Result;
use crate::dispatch::straight::CALLS;
use crate::dispatch::{Body, HandlerSet, LineRecipe, LineReference, audit, ceiling, footprint};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Origin, Parameter, Plan, Role, Source,
    Unit, Value, Values, Watch, contrast,
};
use crate::traffic::{Law, Packet, Traffic};

/// The experiment.
pub struct CodeFetch;

const ONE: &str = "one_body";
const MANY: &str = "many_bodies";
/// Pool where the L2's size isn't known: a quarter of 1 MiB.
const USUAL_POOL: i64 = 8192;
/// What besides fetching may grow with the number of bodies, as a share of the whole rise, before that rise says
/// nothing about fetching.
const MOST_BESIDES: f64 = 0.5;

impl Experiment for CodeFetch {
    fn id(&self) -> &'static str {
        "dispatch.fetch"
    }

    fn title(&self) -> &'static str {
        "What fetching code costs when it outgrows the instruction cache"
    }

    fn about(&self) -> &'static str {
        "A straight line of 120 direct calls, one packet each: no call is indirect, so no target has to be guessed. \
         `many_bodies` deals its 120 call sites to k different bodies, `one_body` to a single one; both make the \
         same number of calls from the same number of sites over the same packets and the same object. What differs \
         is how much code a pass runs, so as k × body outgrows the L1 instruction cache, the rise is what fetching \
         it from the next level costs. It is fetching at its best: every next call is known, so a front end that \
         runs ahead can ask for code before it is needed. Bodies compute in four parallel chains, since one serial \
         chain would be slow enough to hide the fetching. Tiny bodies are the control: the same sites and the same \
         k, code that always fits; what rises with them is what k costs besides. That the calls are direct and the \
         bodies distinct is read from the machine code of the very copies that are timed. A cache of decoded \
         operations ends before the L1 instruction cache does, so the rise may begin early; the line has some KiB of \
         its own, the same for every k. Control: at k = 1 the two arms are the same."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let bodies = [1, 4, 8, 15, 20, 30, 60, 120].map(Value::Int).to_vec();
        let kinds = ["fat", "tiny"].map(|body| Value::Text(body.into())).to_vec();
        // Packets and code share the L2: a quarter leaves room for the longest line's bodies.
        let quarter_l2 = card.l2_bytes().map(|bytes| (bytes / 4 / size_of::<Packet>()) as i64);
        vec![
            Parameter::new(
                "bodies",
                Kind::Int { low: 1, high: CALLS as i64 },
                Value::Int(1),
                "k, how many different bodies the line calls: 1, 2, 4, 8, 12, 15, 20, 30, 60 or 120",
            )
            // Not monotonic: once all bodies are fetched anew each time, more of them change how far ahead fetching gets, by
            // some percent either way.
            .series(bodies),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("fat".into()),
                "code of a body: fat (about 1.8 KiB), tiny (the control), or identical (all sites call one: a trap)",
            )
            .series(kinds),
            Parameter::new(
                "pool",
                Kind::Int { low: 1, high: 1 << 20 },
                Value::Int(quarter_l2.unwrap_or(USUAL_POOL).clamp(1, 1 << 20)),
                "packets that every arm replays; a quarter of this machine's L2 by default",
            )
            .unit("packets"),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: ONE, help: "120 direct calls of one body" },
            ArmInfo { name: MANY, help: "120 direct calls of k bodies in turn" },
            ArmInfo { name: "one_body_again", help: "control: one_body, built apart" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let body = traffic::body(values.text("body"));
        let one = LineRecipe::new(body, 1)?;
        let many = LineRecipe::new(body, values.size("bodies"))?;
        let law = Traffic::new(Law::Uniform).unmatched(0.0).seed(seed);
        let packets = law.generate(values.size("pool"), &[0], &watch.silent())?;
        let arms = [
            (ONE, one, Role::Baseline, "one body"),
            (MANY, many, Role::Arm, "many bodies"),
            ("one_body_again", one, Role::Control { against: ONE.into() }, "one body"),
        ];
        let entries = arms.map(|(name, line, role, claim)| {
            let reference = Arc::new(LineReference::new(line));
            let entry = Entry::new(name, role, Arc::new(line), reference, claim);
            Entry { ceiling: Some(ceiling::fold()), ..entry }
        });
        let set = HandlerSet::standard(many.bodies(), body, 0.0, seed)?;
        let checks =
            vec![one.check(), many.check(), audit::bodies_check(&[&set])?, audit::pool_check(&packets, card)];
        Ok(Plan { checks, ..Plan::new(Source::from_items(packets), entries.to_vec()) })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        let mut contrasts: Vec<Contrast> =
            of_body(cells, "fat").into_iter().filter(|cell| bodies(cell) > 1).filter_map(rise).collect();
        let ends = (last(cells, "fat"), last(cells, "tiny"));
        contrasts.extend(ends.1.filter(|cell| bodies(cell) > 1).and_then(rise));
        if let (Some(fat), Some(tiny)) = ends
            && bodies(fat) == bodies(tiny)
            && bodies(fat) > 1
        {
            let terms = [(1.0, fat, MANY), (-1.0, fat, ONE), (-1.0, tiny, MANY), (1.0, tiny, ONE)];
            let what = format!("fetching code: the rise at {} bodies, fat − tiny", bodies(fat));
            contrasts.extend(contrast::linear(&terms, "fetching".into(), what));
        }
        contrasts
    }

    fn judge(&self, cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        let mut checks = Vec::new();
        for kind in Body::ALL.map(Body::name) {
            let alone = of_body(cells, kind).into_iter().find(|cell| bodies(cell) == 1);
            let Some(check) =
                alone.and_then(|cell| control::same(format!("control:one-line:{kind}"), cell, MANY))
            else {
                continue;
            };
            control::void(cells, &check, |cell| cell.parameters["body"] == Value::Text(kind.into()));
            checks.push(check);
        }
        let ends = (last(cells, "fat"), last(cells, "tiny"));
        if let (Some(fat), Some(tiny)) = (ends.0.and_then(rise), ends.1.and_then(rise)) {
            let check = control::beside("control:what-k-costs-besides".into(), &tiny, &fat, MOST_BESIDES);
            control::void(cells, &check, |_| true);
            checks.push(check);
        }
        checks
    }

    fn facts(&self, cells: &[Cell], card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        let mut kinds: Vec<&str> = cells.iter().filter_map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Ok(kinds.into_iter().map(|kind| line_fact(traffic::body(kind), cells, card)).collect())
    }
}

/// How much code the lines run, from the smallest footprint to the largest, beside the L1 instruction cache.
fn line_fact(body: Body, cells: &[Cell], card: &Card) -> Fact {
    let fact = |text, value| Fact {
        name: format!("line:{body}"),
        text,
        value,
        unit: "bytes".into(),
        origin: Origin::Counted,
    };
    let most = of_body(cells, body.name()).into_iter().map(bodies).max().unwrap_or(1);
    let line = LineRecipe::new(body, most as usize).map_err(|error| error.to_string());
    let code = line.and_then(|line| line.code()).map(|copies| copies[0].clone());
    let (line, each) = match (code, footprint::first_bytes(body, CALLS)) {
        (Ok(line), Ok(each)) => (line, each),
        (Err(reason), _) | (_, Err(reason)) => {
            return fact(format!("how much code the lines run can't be told here: {reason}"), None);
        }
    };
    let largest = line.bytes + line.called_bytes;
    let beside = card.l1i_bytes().map_or_else(String::new, |l1i| {
        format!(
            ", {:.1} times the L1 instruction cache ({} KiB), where {} such bodies fit beside the line",
            largest as f64 / l1i as f64,
            l1i >> 10,
            each.fit(l1i.saturating_sub(line.bytes))
        )
    });
    let text = format!(
        "a line is {:.1} KiB of its own, {body} bodies {:.0} bytes each; over {most} of them {:.0} KiB{beside}",
        line.bytes as f64 / 1024.0,
        each.each(),
        largest as f64 / 1024.0
    );
    fact(text, Some(each.each()))
}

fn bodies(cell: &Cell) -> i64 {
    match cell.parameters["bodies"] {
        Value::Int(bodies) => bodies,
        _ => 0,
    }
}

fn kind(cell: &Cell) -> Option<&str> {
    match &cell.parameters["body"] {
        Value::Text(kind) => Some(kind),
        _ => None,
    }
}

fn of_body<'a>(cells: &'a [Cell], body: &str) -> Vec<&'a Cell> {
    cells.iter().filter(|cell| kind(cell) == Some(body)).collect()
}

fn last<'a>(cells: &'a [Cell], body: &str) -> Option<&'a Cell> {
    of_body(cells, body).into_iter().max_by_key(|cell| bodies(cell))
}

/// What a pass over k bodies costs more than one over a single body.
fn rise(cell: &Cell) -> Option<Contrast> {
    let (kind, bodies) = (kind(cell)?, bodies(cell));
    let what = format!("{bodies} {kind} bodies − one");
    contrast::linear(&[(1.0, cell, MANY), (-1.0, cell, ONE)], format!("rise:{kind}:{bodies}"), what)
}
