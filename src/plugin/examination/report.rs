//! What is reported while it happens, since the process may not live to tell later.

use serde::Serialize;

use super::Stage;
use crate::binary::Export;
use crate::race::Outcome;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The library was read.
    Library {
        /// SHA-256 of its bytes, in hexadecimal.
        sha256: String,
        /// What other libraries can see of it.
        exports: Vec<Export>,
    },
    /// A stage begins: if nothing follows, the process ended in it.
    Begin {
        /// Which.
        stage: Stage,
    },
    /// A stage is through.
    End {
        /// Which.
        stage: Stage,
        /// What came out.
        outcome: Outcome,
        /// What was seen, with the values.
        detail: String,
    },
    /// Nothing more will follow.
    Done,
}

/// What a stage found: what to say of it if it holds, or if it doesn't.
pub type Finding = Result<String, String>;

/// Says what happens to whoever listens.
pub struct Reporter<'a> {
    listener: &'a mut dyn FnMut(&Event),
}

impl<'a> Reporter<'a> {
    /// Reports to `listener`.
    pub fn new(listener: &'a mut dyn FnMut(&Event)) -> Reporter<'a> {
        Reporter { listener }
    }

    /// Says something.
    pub fn say(&mut self, event: &Event) {
        (self.listener)(event);
    }

    /// A stage that doesn't apply, and why.
    pub fn skip(&mut self, stage: Stage, reason: impl Into<String>) {
        self.say(&Event::End { stage, outcome: Outcome::NotApplicable, detail: reason.into() });
    }

    /// A stage whose work makes something that later ones need; `None` ends the examination.
    pub fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce() -> Result<(T, String), String>,
    ) -> Option<T> {
        self.say(&Event::Begin { stage });
        let (made, finding) = match work() {
            Ok((made, detail)) => (Some(made), Ok(detail)),
            Err(detail) => (None, Err(detail)),
        };
        self.end(stage, finding);
        made
    }

    /// A stage that later ones can do without.
    pub fn check(&mut self, stage: Stage, work: impl FnOnce() -> Finding) {
        self.say(&Event::Begin { stage });
        let finding = work();
        self.end(stage, finding);
    }

    /// The same where the system may not tell; what came out.
    pub fn seen(&mut self, stage: Stage, look: impl FnOnce() -> Option<Finding>) -> Outcome {
        self.say(&Event::Begin { stage });
        match look() {
            Some(finding) => self.end(stage, finding),
            None => {
                self.skip(stage, "this system doesn't tell");
                Outcome::NotApplicable
            }
        }
    }

    /// What a stage that has begun found.
    pub fn end(&mut self, stage: Stage, finding: Finding) -> Outcome {
        let (outcome, detail) = match finding {
            Ok(detail) => (Outcome::Held, detail),
            Err(detail) => (Outcome::Failed, detail),
        };
        self.say(&Event::End { stage, outcome, detail });
        outcome
    }
}
