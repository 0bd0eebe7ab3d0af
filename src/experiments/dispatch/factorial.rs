//! The factorial of `dispatch.icache`: targets × code, its effects, and the controls that must read zero.

use super::control;
use super::learning::{Learning, judged};
use crate::race::{Cell, Check, Contrast, Value, contrast};

/// The arm whose gap is the finding.
const DYN: &str = "dyn_trait";
/// The arm that has neither cause.
const DIRECT: &str = "direct";
/// How large the control's gap may be beside the finding's.
const MOST_OF_CONTROL: f64 = 0.1;

/// The cells by their two factors.
pub struct Factorial<'a> {
    cells: &'a [Cell],
    /// Traffic with varying targets, in the order of the cells.
    laws: Vec<String>,
}

impl<'a> Factorial<'a> {
    /// The factorial of these cells, as far as they are there.
    pub fn of(cells: &'a [Cell]) -> Self {
        let mut laws: Vec<String> =
            cells.iter().map(law).filter(|law| !matches!(law.as_str(), "hot" | "worst")).collect();
        let mut seen = Vec::new();
        laws.retain(|law| {
            !seen.contains(law) && {
                seen.push(law.clone());
                true
            }
        });
        Factorial { cells, laws }
    }

    fn cell(&self, body: &str, traffic: &str) -> Option<&'a Cell> {
        let of_body = |cell: &&Cell| cell.parameters["body"] == Value::Text(body.into());
        self.cells.iter().filter(of_body).find(|cell| law(cell) == traffic)
    }

    /// What an arm costs more under this traffic than with one handler.
    fn gap(&self, arm: &str, body: &str, traffic: &str, name: &str, what: String) -> Option<Contrast> {
        let (mixed, hot) = (self.cell(body, traffic)?, self.cell(body, "hot")?);
        contrast::linear(&[(1.0, mixed, arm), (-1.0, hot, arm)], format!("{name}:{traffic}"), what)
    }

    /// Effects and interactions, the control's gap beside them, and what a one-handler benchmark shows.
    pub fn contrasts(&self) -> Vec<Contrast> {
        let mut found = Vec::new();
        for law in &self.laws {
            found.extend(self.gap(
                DYN,
                "tiny",
                law,
                "targets",
                format!("targets vary, tiny bodies: {law} − hot"),
            ));
            found.extend(self.gap(
                DYN,
                "fat",
                law,
                "both",
                format!("targets and code vary, fat bodies: {law} − hot"),
            ));
            found.extend(self.interaction(law));
            found.extend(self.gap(
                DIRECT,
                "fat",
                law,
                "control",
                format!("control: direct, {law} − hot, fat"),
            ));
        }
        if let Some(law) = self.laws.iter().find(|law| *law != "periodic") {
            found.extend(self.main_effects(law));
        }
        found.extend(self.one_handler());
        found
    }

    fn interaction(&self, law: &str) -> Option<Contrast> {
        let terms = [
            (1.0, self.cell("fat", law)?, DYN),
            (-1.0, self.cell("fat", "hot")?, DYN),
            (-1.0, self.cell("tiny", law)?, DYN),
            (1.0, self.cell("tiny", "hot")?, DYN),
        ];
        let what = format!("interaction, fetching: fat's gap − tiny's, {law}");
        contrast::linear(&terms, format!("interaction:{law}"), what)
    }

    /// Each factor's effect, averaged over the other's two levels. That of code holds the larger bodies' own work too,
    /// as their name says: more code that runs is more work.
    fn main_effects(&self, law: &str) -> Vec<Contrast> {
        let effect = |name: &str, what: String, signs: [f64; 4]| {
            let terms = [
                (0.5 * signs[0], self.cell("fat", law)?, DYN),
                (0.5 * signs[1], self.cell("fat", "hot")?, DYN),
                (0.5 * signs[2], self.cell("tiny", law)?, DYN),
                (0.5 * signs[3], self.cell("tiny", "hot")?, DYN),
            ];
            contrast::linear(&terms, format!("main:{name}:{law}"), what)
        };
        let targets = format!("main effect of targets: {law} − hot");
        let code = format!("main effect of code and its work: fat − tiny, {law} and hot");
        [effect("targets", targets, [1.0, -1.0, 1.0, -1.0]), effect("code", code, [1.0, 1.0, -1.0, -1.0])]
            .into_iter()
            .flatten()
            .collect()
    }

    fn one_handler(&self) -> Option<Contrast> {
        let hot = self.cell("fat", "hot")?;
        let what = "the one-handler benchmark: dyn − direct, hot, fat".into();
        contrast::linear(&[(1.0, hot, DYN), (-1.0, hot, DIRECT)], "one-handler".into(), what)
    }

    /// The controls, each with the body and the traffic whose cell falls with it.
    pub fn controls(&self) -> Vec<(String, String, Check)> {
        let mut judged = Vec::new();
        for law in &self.laws {
            for body in ["fat", "tiny"] {
                let control = self.gap(DIRECT, body, law, "control", format!("direct, {law} − hot"));
                let effect = self.gap(DYN, body, law, "gap", format!("dyn_trait, {law} − hot"));
                if let (Some(control), Some(effect)) = (control, effect) {
                    let name = format!("control:direct:{body}:{law}");
                    let check = control::beside(name, &control, &effect, MOST_OF_CONTROL);
                    judged.push((body.to_string(), law.clone(), check));
                }
            }
        }
        judged
    }

    /// What the predictor makes of all handlers in turn, by the tiny cells, whose code fits; `None` without them.
    pub fn learning(&self) -> Option<Learning> {
        let gap = |law| self.gap(DYN, "tiny", law, "gap", format!("{law} − hot"));
        Some(judged(gap("periodic")?, gap("uniform")?))
    }
}

/// A cell's traffic.
fn law(cell: &Cell) -> String {
    cell.parameters["traffic"].to_string()
}
