//! What is known beside the factorial of `dispatch.icache`: code against cache, and what its cells can tell apart.

use super::factorial::Factorial;
use super::learning::Verdict;
use super::traffic;
use crate::dispatch::{Body, footprint};
use crate::machine::Card;
use crate::race::{Cell, Fact, Origin, Value};

/// Gap of the published kata from hot to Zipf traffic, nanoseconds a packet, least and most over its mechanisms.
const PUBLISHED_GAP: (f64, f64) = (33.0, 37.0);

/// All of them.
pub fn facts(cells: &[Cell], card: &Card) -> Vec<Fact> {
    let mut facts = Vec::new();
    let handlers = cells.first().map_or(0, |cell| match cell.parameters["handlers"] {
        Value::Int(handlers) => handlers as usize,
        _ => 0,
    });
    for kind in Body::ALL.map(Body::name) {
        if cells.iter().any(|cell| cell.parameters["body"] == Value::Text(kind.into())) {
            facts.push(code(traffic::body(kind), handlers, card));
        }
    }
    facts.extend(order(cells, handlers));
    if !is_published(cells, handlers) {
        return facts;
    }
    facts.push(Fact {
        name: "published:gap".into(),
        text: format!(
            "published (C++, i9-13980HX, 176 KiB of handlers on 32 KiB): {} to {} ns from hot to Zipf traffic, its \
             direct control +0.10",
            PUBLISHED_GAP.0, PUBLISHED_GAP.1
        ),
        value: Some((PUBLISHED_GAP.0 + PUBLISHED_GAP.1) / 2.0),
        unit: "ns/packet".into(),
        origin: Origin::Published,
    });
    facts
}

/// Whether this run has what the published figures are of: a hundred fat handlers, one target against Zipf's.
fn is_published(cells: &[Cell], handlers: usize) -> bool {
    let has = |law: &str| {
        let wanted = [("body", "fat"), ("traffic", law)];
        cells.iter().any(|cell| {
            wanted.iter().all(|(name, value)| cell.parameters[*name] == Value::Text((*value).into()))
        })
    };
    handlers == 100 && has("hot") && has("zipf")
}

/// Handlers' code over the L1 instruction cache, and how many fit.
fn code(body: Body, handlers: usize, card: &Card) -> Fact {
    let (text, value) = match (footprint::first_bytes(body, handlers), card.l1i_bytes()) {
        (Err(reason), _) => (format!("how much code the handlers are can't be told here: {reason}"), None),
        (Ok(code), None) => {
            let known =
                format!("{handlers} {body} handlers run {:.1} KiB of code", code.total as f64 / 1024.0);
            (format!("{known}; the size of the L1 instruction cache isn't known here"), None)
        }
        (Ok(code), Some(l1i)) => {
            let times = code.total as f64 / l1i as f64;
            let fit = code.fit(l1i);
            let fits = if fit >= code.functions { "all fit".into() } else { format!("{fit} fit") };
            let text = format!(
                "{handlers} {body} handlers: {} functions of {:.0} bytes, {:.1} KiB, {times:.2} times the L1 \
                 instruction cache ({} KiB): {fits} at once",
                code.functions,
                code.each(),
                code.total as f64 / 1024.0,
                l1i >> 10
            );
            (text, Some(times))
        }
    };
    Fact { name: format!("code:{body}"), text, value, unit: String::new(), origin: Origin::Counted }
}

/// Whether the predictor learns all handlers in turn, and what the cell of fat bodies in turn therefore is.
fn order(cells: &[Cell], handlers: usize) -> Vec<Fact> {
    let Some(learning) = Factorial::of(cells).learning() else { return Vec::new() };
    let meaning = match learning.verdict {
        Verdict::Learned => {
            "targets are guessed right in turn, so the interaction under periodic traffic is fetching code alone"
        }
        Verdict::Partly => {
            "targets are guessed right in part, so no cell has guessed targets beside code that must be fetched; \
             dispatch.fetch has fetching alone, with every next call known"
        }
        Verdict::NotLearned => {
            "targets in turn are guessed no better than at random, so no cell has guessed targets beside code that \
             must be fetched: the interaction is fetching after wrong guesses; dispatch.fetch has fetching alone, \
             with every next call known"
        }
        Verdict::NotResolved => {
            "whether targets in turn are guessed isn't resolved, so nothing is said of code fetched beside guessed \
             targets; dispatch.fetch has fetching alone"
        }
    };
    let separates = Fact {
        name: "order:separates".into(),
        text: meaning.into(),
        value: None,
        unit: String::new(),
        origin: Origin::Computed,
    };
    vec![learning.fact(handlers as i64), separates]
}
