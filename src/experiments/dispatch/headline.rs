//! Whether the proposals leave the search's cost where it was: the sentence that follows from a race's intervals.

use crate::dispatch::ProposalArm;
use crate::race::contrast::{self, Term};
use crate::race::{Cell, Fact, Origin, Status};

/// Below this share of what the table gains, a proposal doesn't touch the search; above, it does.
pub const TOUCHES: f64 = 0.10;

/// What a proposal gains, held against the table's gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touch {
    /// Less than [`TOUCHES`] of it, with the whole interval.
    Leaves,
    /// More, with the whole interval.
    Touches,
    /// The interval holds both.
    Unresolved,
}

/// The sentence for one race. `None` where an arm that it needs isn't there, or too few blocks are.
pub fn headline(cell: &Cell) -> Option<Fact> {
    let handlers = &cell.parameters["handlers"];
    let gained = |arm| Some(contrast::over_blocks(&[(1.0, cell, "scan"), (-1.0, cell, arm)])?.estimate);
    let table = contrast::over_blocks(&[(1.0, cell, "scan"), (-1.0, cell, "table_compact")])?;
    let name = format!("headline:{handlers}");
    let fact = |text, value| Fact { name, text, value, unit: "share".into(), origin: Origin::Computed };
    let no_verdict = |why: &str| format!("{handlers} handlers: nothing is said of the headline, since {why}");
    if cell.status == Status::NoVerdict {
        return Some(fact(no_verdict("this race has no verdict"), None));
    }
    if !(table.low > 0.0 && table.high.is_finite()) {
        return Some(fact(no_verdict("the table's gain over the scan isn't resolved"), None));
    }
    let mut judged: Vec<(ProposalArm, f64, Touch)> = Vec::new();
    for arm in ProposalArm::ALL.into_iter().filter(|arm| cell.arm(arm.name()).is_some()) {
        judged.push((arm, gained(arm.name())? / table.estimate, touch(cell, arm.name())?));
    }
    // What the compiler makes of a proposal when it may merge the predicates is a different search, not a cheaper call.
    let merged = |arm: ProposalArm| matches!(arm, ProposalArm::EnumInlined | ProposalArm::StaticKeys);
    let (merging, judged): (Vec<_>, Vec<_>) = judged.into_iter().partition(|(arm, _, _)| merged(*arm));
    let listed = |wanted: Touch| {
        let list: Vec<String> = judged
            .iter()
            .filter(|(_, _, touch)| *touch == wanted)
            .map(|(arm, share, _)| format!("{arm} {:.0} %", 100.0 * share))
            .collect();
        list.join(", ")
    };
    let (touches, leaves, open) = (listed(Touch::Touches), listed(Touch::Leaves), listed(Touch::Unresolved));
    let verdict = match (touches.as_str(), open.as_str()) {
        ("", "") => "none of the proposals touches the search".to_string(),
        ("", _) => "whether a proposal touches the search isn't resolved".into(),
        _ => "cheaper calls do touch the search".into(),
    };
    let mut text = format!(
        "{handlers} handlers: {verdict}. Of the {:.1} {} that the table gains over the scan, proposals gain",
        table.estimate,
        cell_unit(cell)
    );
    let parts = [
        (touches, "more than a tenth"),
        (leaves, "less than a tenth"),
        (open, "an unresolved share around a tenth"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(list, _)| !list.is_empty())
        .map(|(list, what)| format!("{what}: {list}"))
        .collect();
    text.push(' ');
    text.push_str(&parts.join("; "));
    if !merging.is_empty() {
        let list: Vec<String> =
            merging.iter().map(|(arm, share, _)| format!("{arm} {:.0} %", 100.0 * share)).collect();
        text.push_str(&format!("; where the compiler may merge the predicates: {}", list.join(", ")));
    }
    let most = judged.iter().map(|(_, share, _)| *share).fold(f64::NAN, f64::max);
    Some(fact(text, most.is_finite().then_some(most)))
}

/// Gain of the arm less [`TOUCHES`] of the table's gain, paired by block.
fn touch(cell: &Cell, arm: &str) -> Option<Touch> {
    let terms: [Term; 3] =
        [(1.0 - TOUCHES, cell, "scan"), (-1.0, cell, arm), (TOUCHES, cell, "table_compact")];
    let interval = contrast::over_blocks(&terms)?;
    Some(match (interval.low > 0.0, interval.high < 0.0) {
        (true, _) => Touch::Touches,
        (_, true) => Touch::Leaves,
        _ => Touch::Unresolved,
    })
}

fn cell_unit(cell: &Cell) -> String {
    serde_json::to_value(cell.unit).ok().and_then(|unit| unit.as_str().map(str::to_owned)).unwrap_or_default()
}
