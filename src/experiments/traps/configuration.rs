//! The parameter that all traps share, and how the wrong and the right race are read side by side.

use crate::race::trap::Reading;
use crate::race::{Answer, Bite, Cell, Kind, Parameter, Trap, Value, Values, contrast};

/// The faulty configuration as it stands.
pub const WRONG: &str = "wrong";
/// The faulty configuration with its cause injected: for traps that don't bite on every machine.
pub const INJECTED: &str = "injected";
/// The right one.
pub const RIGHT: &str = "right";

/// Traps end at the fewest blocks that the options allow: what they show is far beyond any margin.
pub const FEWEST_BLOCKS: Option<usize> = Some(1);

const NAME: &str = "configuration";

/// Of a trap that bites wherever it is set.
pub fn two() -> Parameter {
    parameter(&[WRONG, RIGHT])
}

/// Of a trap whose cause may have to be injected.
pub fn three() -> Parameter {
    parameter(&[WRONG, INJECTED, RIGHT])
}

/// Of a trap that no build here walks into by itself.
pub fn injected_only() -> Parameter {
    parameter(&[INJECTED, RIGHT])
}

fn parameter(which: &[&'static str]) -> Parameter {
    let all = which.iter().map(|name| Value::Text((*name).into())).collect();
    let help = match which {
        [INJECTED, RIGHT] => "the faulty configuration, its cause injected, or the right one",
        [_, _] => "the faulty configuration, or the right one",
        _ => "the faulty configuration as it stands, the same with its cause injected, or the right one",
    };
    Parameter::new(NAME, Kind::Choice { choices: which.to_vec() }, Value::Text(RIGHT.into()), help)
        .series(all)
}

/// Which configuration a cell is to be.
pub fn of(values: &Values) -> &str {
    values.text(NAME)
}

/// How a trap's cells are read: the check that has to fire, the least difference of the answers that counts as a bite (a share
/// of the right one, and in its own unit), what is injected, and why it bites.
pub struct Lesson<'a> {
    pub check: &'a str,
    pub share: f64,
    pub least: f64,
    pub injected: &'a str,
    pub cause: &'a str,
}

impl Lesson<'_> {
    /// Reads `answer` off the configurations; `None` where the wrong or the right one wasn't run.
    pub fn of(&self, cells: &[Cell], answer: impl Fn(&Cell) -> Option<Answer>) -> Option<Trap> {
        self.reading(find(cells, WRONG)?, find(cells, INJECTED), find(cells, RIGHT)?)
            .reveal(answer, self.cause)
    }

    /// The same where the cause is always injected.
    pub fn of_injected(&self, cells: &[Cell], answer: impl Fn(&Cell) -> Option<Answer>) -> Option<Trap> {
        let wrong = find(cells, INJECTED)?;
        let trap = self.reading(wrong, None, find(cells, RIGHT)?).reveal(answer, self.cause)?;
        let bite = if trap.bite == Bite::Yes { Bite::Injected } else { trap.bite };
        Some(Trap { bite, cause: format!("{}; injected: {}", trap.cause, self.injected), ..trap })
    }

    fn reading<'a>(&'a self, wrong: &'a Cell, injected: Option<&'a Cell>, right: &'a Cell) -> Reading<'a> {
        Reading {
            wrong,
            injected: injected.map(|cell| (cell, self.injected)),
            right,
            check: self.check,
            share: self.share,
            least: self.least,
        }
    }
}

fn find<'a>(cells: &'a [Cell], name: &str) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.parameters.get(NAME) == Some(&Value::Text(name.into())))
}

/// What an arm costs, as an answer; `say` makes the sentence of the figure.
pub fn cost(cell: &Cell, arm: &str, say: impl Fn(&str) -> String) -> Option<Answer> {
    let arm = cell.arm(arm)?;
    let (value, low, high) = (arm.median, arm.low, arm.high);
    Some(Answer { text: say(&spoken(value)), value, low, high, unit: spelt(cell), level: cell.median_level })
}

/// What an arm costs more than another, paired by block.
pub fn difference(cell: &Cell, arm: &str, other: &str, say: impl Fn(&str) -> String) -> Option<Answer> {
    let interval = contrast::over_blocks(&[(1.0, cell, arm), (-1.0, cell, other)])?;
    let (value, low, high) = (interval.estimate, interval.low, interval.high);
    Some(Answer { text: say(&spoken(value)), value, low, high, unit: spelt(cell), level: contrast::LEVEL })
}

/// By how many percent two instances of one arm differ.
pub fn apart(cell: &Cell, control: &str, say: impl Fn(&str) -> String) -> Option<Answer> {
    let arm = cell.arm(control)?;
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let (value, low, high) = (percent(arm.ratio?), percent(arm.ratio_low?), percent(arm.ratio_high?));
    Some(Answer { text: say(&spoken(value)), value, low, high, unit: "%".into(), level: cell.level })
}

fn spelt(cell: &Cell) -> String {
    serde_json::to_value(cell.unit).ok().and_then(|unit| unit.as_str().map(String::from)).unwrap_or_default()
}

/// A figure with the digits that it carries.
fn spoken(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}
