//! What follows from the races together: the share that sorting captures, permutation by permutation, and its spread.

use super::captured;
use super::permutations::{SELECTIONS, rigged};
use crate::race::contrast::LEVEL;
use crate::race::statistics::{Interval, sign_interval};
use crate::race::{Cell, Check, Contrast, Fact, Origin, Status, Value};

/// What the published kata found at 95/5 (an i9-13980HX), with one permutation.
const PUBLISHED_SHARE: f64 = 0.94;
/// Two races of the same arms on the same packets must agree on the share within this.
const AGREEMENT: f64 = 0.02;

fn text<'a>(cell: &'a Cell, name: &str) -> &'a str {
    match &cell.parameters[name] {
        Value::Text(text) => text,
        _ => "",
    }
}

fn permutation(cell: &Cell) -> i64 {
    match cell.parameters["permutation"] {
        Value::Int(permutation) => permutation,
        _ => 0,
    }
}

fn is_of_all(cell: &Cell) -> bool {
    text(cell, "selections") == SELECTIONS[0]
}

/// Each traffic once, in order.
fn traffics(cells: &[Cell]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for cell in cells {
        let traffic = text(cell, "traffic");
        if !found.contains(&traffic) {
            found.push(traffic);
        }
    }
    found
}

/// The races of one traffic that the share is taken from: one a permutation, or the one race where there are none.
fn of_traffic<'a>(cells: &'a [Cell], traffic: &str) -> Vec<&'a Cell> {
    let own: Vec<&Cell> = cells.iter().filter(|cell| text(cell, "traffic") == traffic).collect();
    let permuted: Vec<&Cell> = own.iter().copied().filter(|cell| !is_of_all(cell)).collect();
    if permuted.is_empty() { own } else { permuted }
}

/// The share of each race, and its median over permutations where there are several.
pub fn contrasts(cells: &[Cell]) -> Vec<Contrast> {
    let mut contrasts = Vec::new();
    for traffic in traffics(cells) {
        let races = of_traffic(cells, traffic);
        let several = races.len() > 1;
        let mut shares = Vec::new();
        for &cell in &races {
            let Some(share) = captured::measured(cell) else { continue };
            let void = cell.status == Status::NoVerdict;
            if !void {
                shares.push(share.estimate);
            }
            let (name, of) = match several {
                true => {
                    let at = permutation(cell);
                    (format!("captured:{traffic}:{at}"), format!("{traffic}, permutation {at}"))
                }
                false => (format!("captured:{traffic}"), traffic.to_string()),
            };
            contrasts.push(contrast(
                name,
                format!("share of the win that sorting captures: {of}"),
                share,
                void,
            ));
        }
        if several && !shares.is_empty() {
            let what = format!("share of the win that sorting captures: {traffic}, median of permutations");
            let spread = sign_interval(&shares, LEVEL);
            contrasts.push(contrast(format!("captured:{traffic}"), what, spread, false));
        }
    }
    contrasts
}

fn contrast(name: String, what: String, share: Interval, void: bool) -> Contrast {
    let Interval { estimate: value, low, high } = share;
    Contrast { name, what, value, low, high, unit: "share".into(), level: LEVEL, margin: 0.0, void }
}

/// The race of all arms and the race of three, on the same packets, have to agree: if not, the share depends on who else
/// runs, and says nothing.
pub fn judge(cells: &mut [Cell]) -> Vec<Check> {
    let mut checks = Vec::new();
    let pairs: Vec<(usize, usize)> = (0..cells.len())
        .flat_map(|all| (0..cells.len()).map(move |three| (all, three)))
        .filter(|&(all, three)| {
            let (all, three) = (&cells[all], &cells[three]);
            is_of_all(all)
                && !is_of_all(three)
                && text(all, "traffic") == text(three, "traffic")
                && permutation(all) == permutation(three)
        })
        .collect();
    for (all, three) in pairs {
        let traffic = text(&cells[all], "traffic").to_string();
        let name = format!("control:captured:{traffic}");
        let apart = captured::apart(&cells[all], &cells[three]).filter(|apart| apart.low.is_finite());
        let Some(apart) = apart else {
            checks.push(Check::not_applicable(name, "too few blocks that both races have in common"));
            continue;
        };
        let percent = |share: f64| 100.0 * share;
        let detail = format!(
            "beside all arms and beside two the share differs by {:+.1} ({:+.1}…{:+.1}) points, margin ±{:.0}",
            percent(apart.estimate),
            percent(apart.low),
            percent(apart.high),
            percent(AGREEMENT)
        );
        let check = if -AGREEMENT <= apart.low && apart.high <= AGREEMENT {
            Check::new(name, true, detail)
        } else if apart.low <= AGREEMENT && -AGREEMENT <= apart.high {
            Check::not_applicable(name, format!("too wide to read zero: {detail}"))
        } else {
            for cell in cells.iter_mut().filter(|cell| text(cell, "traffic") == traffic) {
                cell.void(format!("{name}: {detail}"));
            }
            Check::new(name, false, detail)
        };
        checks.push(check);
    }
    checks
}

/// The spread over permutations in words, what the rigged generator would have said, and what was published.
pub fn facts(cells: &[Cell]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for traffic in traffics(cells) {
        let races = of_traffic(cells, traffic);
        if rigged(traffic).1 {
            facts.extend(races.first().map(|cell| rigged_fact(traffic, cell)));
        } else if races.len() > 1 {
            facts.push(spread_fact(traffic, &races));
        }
    }
    if cells.iter().any(is_as_published) {
        facts.push(Fact {
            name: "published:skewed".into(),
            text: format!(
                "95/5: {:.0} %, from one permutation on an i9-13980HX; where that one put the two busy handlers isn't said",
                100.0 * PUBLISHED_SHARE
            ),
            value: Some(PUBLISHED_SHARE),
            unit: "share".into(),
            origin: Origin::Published,
        });
    }
    facts
}

fn is_as_published(cell: &Cell) -> bool {
    text(cell, "traffic") == "skewed"
        && cell.parameters.get("share") == Some(&Value::Float(0.95))
        && cell.parameters.get("top") == Some(&Value::Int(2))
        && cell.parameters.get("handlers") == Some(&Value::Int(100))
}

/// Least, median and most.
fn range(mut values: Vec<f64>) -> Option<[f64; 3]> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (!values.is_empty()).then(|| [least, crate::race::statistics::median(&mut values), most])
}

fn spread_fact(traffic: &str, races: &[&Cell]) -> Fact {
    let held = || races.iter().filter(|cell| cell.status == Status::Held);
    let measured = range(held().filter_map(|cell| Some(captured::measured(cell)?.estimate)).collect());
    let probes = range(races.iter().filter_map(|cell| captured::in_probes(cell)).collect());
    let spoken = |range: Option<[f64; 3]>| match range {
        Some([least, middle, most]) => {
            format!("{:.0} % to {:.0} %, median {:.0} %", 100.0 * least, 100.0 * most, 100.0 * middle)
        }
        None => "none: the table wins nothing, or no race has a verdict".into(),
    };
    let text = format!(
        "{traffic}: over {} of {} permutations sorting captures {} of what the table wins; in probes {}",
        held().count(),
        races.len(),
        spoken(measured),
        spoken(probes)
    );
    let value = measured.map(|[_, middle, _]| middle);
    Fact { name: format!("spread:{traffic}"), text, value, unit: "share".into(), origin: Origin::Computed }
}

fn rigged_fact(traffic: &str, cell: &Cell) -> Fact {
    let share = (cell.status == Status::Held).then(|| captured::measured(cell)).flatten();
    let said = match share {
        Some(share) => format!("sorting captures {:.0} % of the win", 100.0 * share.estimate),
        None => "the table wins nothing to capture, or nothing is resolved".into(),
    };
    let text = format!(
        "{traffic}: ranks stand in the list as they are, sorted beforehand; of such packets one would conclude: {said}"
    );
    let value = share.map(|share| share.estimate);
    Fact { name: format!("rigged:{traffic}"), text, value, unit: "share".into(), origin: Origin::Computed }
}
