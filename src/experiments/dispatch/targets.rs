//! `dispatch.targets`: what an indirect call costs whose target must be guessed, with no code to fetch.

use std::sync::Arc;

use super::learning::{Learning, judged};
use super::{control, traffic};
use crate::Result;
use crate::dispatch::{
    HandlerSet, MAX_HANDLERS, TargetOrder, TargetsRecipe, TargetsReference, audit, ceiling, footprint,
};
use crate::machine::Card;
use crate::race::{
    ArmInfo, Cell, Check, Contrast, Entry, Experiment, Fact, Kind, Parameter, Plan, Role, Source, Unit,
    Value, Values, Watch, contrast,
};
use crate::traffic::{Law, Packet, Traffic};

/// The experiment.
pub struct CallTargets;

/// Pool where the L2's size isn't known: half of 1 MiB.
const USUAL_POOL: i64 = 16_384;

impl Experiment for CallTargets {
    fn id(&self) -> &'static str {
        "dispatch.targets"
    }

    fn title(&self) -> &'static str {
        "What an indirect call costs when its target varies"
    }

    fn about(&self) -> &'static str {
        "One call site, n targets, and a list that says whose turn it is: always the same one, all in turn, or one \
         drawn for each packet. All three run the same instructions over the same packets and handlers, and differ \
         in the numbers on the list; each has copies of the loop to itself, so that no call is predicted by what \
         another arm did there. The bodies are tiny, so that all of them fit the L1 instruction cache \
         together and nothing has to be fetched. A periodic order is predictable in principle; whether this \
         machine's predictor learns it is what the middle arm tells, and nothing elsewhere takes it for granted. \
         With one target the three are the same, which is checked. Random targets can't be learned: the list is \
         thousands long. A predictor that knows the last target alone is always wrong on a periodic order, and right \
         on one random call in n: then the periodic order is the dearer one. Control: the one-target arm, built apart."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let counts = [1, 2, 5, 10, 20, 50, 100].map(Value::Int).to_vec();
        let half_l2 = card.l2_bytes().map(|bytes| (bytes / 2 / size_of::<Packet>()) as i64);
        vec![
            Parameter::new(
                "targets",
                Kind::Int { low: 1, high: MAX_HANDLERS as i64 },
                Value::Int(100),
                "how many different functions the call site calls",
            )
            .series(counts)
            // The periodic order isn't listed: a short one may be learned, and a longer one not.
            .monotonic(vec!["random"]),
            Parameter::new(
                "body",
                Kind::Choice { choices: traffic::bodies() },
                Value::Text("tiny".into()),
                "code of a target: tiny, fat (about 1.8 KiB: then code has to be fetched too), or identical (a trap)",
            ),
            Parameter::new(
                "pool",
                Kind::Int { low: 1, high: 1 << 20 },
                Value::Int(half_l2.unwrap_or(USUAL_POOL).clamp(1, 1 << 20)),
                "packets that every arm replays; half of this machine's L2 by default",
            )
            .unit("packets"),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        let control = ArmInfo { name: "one_again", help: "control: the arm with one target, built apart" };
        let arms = TargetOrder::ALL.map(|order| ArmInfo { name: order.name(), help: order.help() });
        arms.into_iter().chain([control]).collect()
    }

    fn plan(&self, values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Plan> {
        let body = traffic::body(values.text("body"));
        let set = HandlerSet::standard(values.size("targets"), body, 0.0, seed)?;
        let law = Traffic::new(Law::Uniform).unmatched(0.0).seed(seed);
        let packets = law.generate(values.size("pool"), &[0], &watch.silent())?;
        let arms = TargetOrder::ALL.map(|order| {
            let role = if order == TargetOrder::One { Role::Baseline } else { Role::Arm };
            (order, order.name(), role)
        });
        let again = (TargetOrder::One, "one_again", Role::Control { against: "one".into() });
        let mut entries = Vec::new();
        for (order, name, role) in arms.into_iter().chain([again]) {
            let recipe = TargetsRecipe::new(&set, order, packets.len(), seed, watch)?;
            let reference = Arc::new(TargetsReference::new(&recipe));
            let entry = Entry::new(name, role, Arc::new(recipe), reference, order.name());
            entries.push(Entry { ceiling: Some(ceiling::fold()), ..entry });
        }
        let checks =
            vec![code_check(&set, card), audit::bodies_check(&[&set])?, audit::pool_check(&packets, card)];
        Ok(Plan { checks, ..Plan::new(Source::from_items(packets), entries) })
    }

    fn contrasts(&self, cells: &[Cell]) -> Vec<Contrast> {
        let several = cells.iter().filter(|cell| targets(cell) > 1);
        let Some(most) = several.max_by_key(|cell| targets(cell)) else { return Vec::new() };
        [TargetOrder::Periodic, TargetOrder::Random]
            .into_iter()
            .filter_map(|order| penalty(most, order.name()))
            .collect()
    }

    fn judge(&self, cells: &mut [Cell], _card: &Card) -> Vec<Check> {
        let mut checks = Vec::new();
        for order in [TargetOrder::Periodic, TargetOrder::Random] {
            let alone = cells.iter().find(|cell| targets(cell) == 1);
            let name = format!("control:one-target:{order}");
            if let Some(check) = alone.and_then(|cell| control::same(name, cell, order.name())) {
                control::void(cells, &check, |_| true);
                checks.push(check);
            }
        }
        checks
    }

    fn facts(&self, cells: &[Cell], _card: &Card, _watch: &Watch) -> Result<Vec<Fact>> {
        let several = cells.iter().filter(|cell| targets(cell) > 1);
        Ok(several.filter_map(|cell| Some(learned(cell)?.fact(targets(cell)))).collect())
    }
}

/// What the predictor makes of the periodic order in this race.
fn learned(cell: &Cell) -> Option<Learning> {
    Some(judged(penalty(cell, "periodic")?, penalty(cell, "random")?))
}

fn targets(cell: &Cell) -> i64 {
    match cell.parameters["targets"] {
        Value::Int(targets) => targets,
        _ => 0,
    }
}

/// What an order costs more than a single target.
fn penalty(cell: &Cell, order: &str) -> Option<Contrast> {
    let targets = targets(cell);
    let what = format!("{targets} targets, {order} − one");
    contrast::linear(&[(1.0, cell, order), (-1.0, cell, "one")], format!("{order}:{targets}"), what)
}

/// Whether all targets fit the L1 instruction cache: else it isn't their order alone that is measured.
fn code_check(set: &HandlerSet, card: &Card) -> Check {
    const NAME: &str = "targets-fit-l1i";
    let code = match footprint::process_bytes(set) {
        Ok(code) => code,
        Err(reason) => return Check::not_applicable(NAME, reason),
    };
    let Some(l1i) = card.l1i_bytes() else {
        return Check::not_applicable(NAME, "the size of the L1 instruction cache isn't known here");
    };
    let detail = format!(
        "{} bodies of {:.0} bytes, {:.1} KiB together; L1 instruction cache {} KiB",
        code.functions,
        code.each(),
        code.total as f64 / 1024.0,
        l1i >> 10
    );
    Check::new(NAME, code.total < l1i, detail)
}
