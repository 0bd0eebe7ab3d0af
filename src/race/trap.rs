//! What a trap shows: the wrong answer, the check that fires on it, and the right answer.

use serde::Serialize;

use super::report::{Cell, Check, Outcome};

/// An answer as it was measured in this run: a figure, and the sentence that one would write.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The sentence, the figure included.
    pub text: String,
    /// The figure.
    pub value: f64,
    /// Lower end of its interval; not finite where there were too few blocks.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Its unit.
    pub unit: String,
    /// Confidence level of the interval.
    pub level: f64,
}

/// Whether a faulty configuration led to a wrong answer on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bite {
    /// It did, as it stands.
    Yes,
    /// Not as it stands; its cause was injected on purpose, and then it did.
    Injected,
    /// It didn't: the two answers can't be told apart here.
    No,
}

/// A trap's outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Trap {
    /// The check that has to catch it; a family's name stands for all of the family.
    pub check: String,
    /// What the faulty configuration said.
    pub wrong: Answer,
    /// What the check saw of it.
    pub wrong_detail: String,
    /// Whether the check fired on it; not applicable where it can't be examined here.
    pub fires: Outcome,
    /// What the right configuration said.
    pub right: Answer,
    /// What the check saw of it.
    pub right_detail: String,
    /// Whether the check held there.
    pub holds: Outcome,
    /// Whether the faulty configuration led astray here.
    pub bite: Bite,
    /// What was injected, where that was; else what is known of why it bites or doesn't.
    pub cause: String,
}

/// The races of a trap, and how they are read.
pub struct Reading<'a> {
    /// The faulty configuration as it stands.
    pub wrong: &'a Cell,
    /// The faulty configuration with its cause injected, where there is one, and what is injected.
    pub injected: Option<(&'a Cell, &'a str)>,
    /// The right configuration.
    pub right: &'a Cell,
    /// The check that has to fire.
    pub check: &'a str,
    /// The least difference between the two answers that counts as a bite, relative to the right one's size; a figure that
    /// should be zero has none, and gives it in its own unit through [`Reading::least`].
    pub share: f64,
    /// The least difference that counts as a bite, in the answers' unit.
    pub least: f64,
}

impl Reading<'_> {
    /// Reads an answer off each race. `None` if a race doesn't hold it.
    pub fn reveal(&self, answer: impl Fn(&Cell) -> Option<Answer>, cause: &str) -> Option<Trap> {
        let (naked, right) = (answer(self.wrong)?, answer(self.right)?);
        let injected = self.injected.and_then(|(cell, what)| Some((cell, answer(cell)?, what)));
        let (cell, wrong, bite, cause) = match injected {
            _ if self.bites(&naked, &right) => (self.wrong, naked, Bite::Yes, cause.to_string()),
            Some((cell, wrong, what)) if self.bites(&wrong, &right) => {
                let cause = format!("as it stands it doesn't bite here ({}); injected: {what}", naked.text);
                (cell, wrong, Bite::Injected, cause)
            }
            _ => (self.wrong, naked, Bite::No, cause.to_string()),
        };
        let (seen_wrong, wrong_detail) = seen(cell, self.check, Outcome::Fired);
        let (seen_right, right_detail) = seen(self.right, self.check, Outcome::Failed);
        let judged = |seen: Outcome, wanted: Outcome| match seen {
            Outcome::NotApplicable => Outcome::NotApplicable,
            seen if seen == wanted => Outcome::Held,
            _ => Outcome::Failed,
        };
        Some(Trap {
            check: self.check.into(),
            wrong,
            wrong_detail,
            fires: judged(seen_wrong, Outcome::Fired),
            right,
            right_detail,
            holds: judged(seen_right, Outcome::Held),
            bite,
            cause,
        })
    }

    /// Whether the answers differ beyond both intervals, and by enough.
    fn bites(&self, wrong: &Answer, right: &Answer) -> bool {
        let apart = wrong.low > right.high || wrong.high < right.low;
        let difference = (wrong.value - right.value).abs();
        apart && difference >= self.least.max(self.share * right.value.abs())
    }
}

fn named(check: &Check, name: &str) -> bool {
    check.name == name || check.name.split(':').next() == Some(name)
}

/// How the check of that name came out, and what it saw: the first that came out as looked for, else the first there is.
/// One that isn't there has failed to be made.
fn seen(cell: &Cell, name: &str, looked_for: Outcome) -> (Outcome, String) {
    let own = || cell.checks.iter().filter(|check| named(check, name));
    match own().find(|check| check.outcome == looked_for).or_else(|| own().next()) {
        Some(check) => (check.outcome, check.detail.clone()),
        None => (Outcome::Failed, "it was never made".into()),
    }
}

impl Trap {
    /// Whether the instrument did its part: one check a direction. A check that doesn't fire where it has to, or does where it
    /// mustn't, is the failure.
    pub fn checks(&self) -> [Check; 2] {
        let fires = format!("{}: {}", self.check, self.wrong_detail);
        let holds = format!("{}: {}", self.check, self.right_detail);
        [
            Check { name: "trap-fires".into(), outcome: self.fires, detail: fires },
            Check { name: "trap-right-holds".into(), outcome: self.holds, detail: holds },
        ]
    }
}
