//! `sharing.line`: two words of two threads, nearer and nearer.

use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::machine::Card;
use crate::race::{
    ArmInfo, Ceiling, Entry, Experiment, Kind, Parameter, Plan, Role, Source, Unit, Value, Values, Watch,
};
use crate::sharing::line::{APART_BYTES, Line, LineRecipe, LineReference, MOST_BYTES, Mode};

/// The experiment.
pub struct LineDistance;

/// Starting and stopping the helper takes up to half a microsecond; a rep of this length keeps that below 0.2 %.
const MIN_REP: Duration = Duration::from_micros(300);

impl Experiment for LineDistance {
    fn id(&self) -> &'static str {
        "sharing.line"
    }

    fn title(&self) -> &'static str {
        "Two words of two threads at a chosen distance"
    }

    fn about(&self) -> &'static str {
        "Does a thread pay for another thread's word that merely lies near its own? Two pinned threads each use a \
         word of their own in one aligned block. The distance between the words is read at run time, so all arms \
         execute the same instructions and only addresses differ. `near` is the distance in question, `apart` is \
         512 bytes, `same_word` is what true sharing costs. In the control the other thread spins without writing: \
         then distance can't matter, and it must read zero. In mode `writer_reader` the measured thread loads its \
         word in a dependent chain while the other stores to its own, so the unit is the latency of a load; in \
         `both_add` each adds to its own word by a relaxed load and store."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerIteration
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        let line = card.line_bytes() as i64;
        let distances = [4, line / 2, line - 4, line, 2 * line, 4 * line].map(Value::Int).to_vec();
        vec![
            Parameter::new(
                "distance",
                Kind::Int { low: 4, high: MOST_BYTES as i64 },
                Value::Int(4),
                "bytes from the measured thread's word to the other's; a multiple of 4",
            )
            .unit("bytes")
            .series(distances),
            Parameter::new(
                "mode",
                Kind::Choice { choices: Mode::NAMES.to_vec() },
                Value::Text("writer_reader".into()),
                "what the threads do",
            ),
        ]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: "apart", help: "the words 512 bytes apart: no line can hold both" },
            ArmInfo { name: "near", help: "the words at the distance in question" },
            ArmInfo { name: "same_word", help: "both threads use one word: true sharing, the upper bound" },
            ArmInfo { name: "apart_quiet", help: "512 bytes apart, and the other thread doesn't write" },
            ArmInfo {
                name: "near_quiet",
                help: "control: at the distance, and the other thread doesn't write",
            },
        ]
    }

    fn plan(&self, values: &Values, _seed: u64, _card: &Card, _watch: &Watch) -> Result<Plan> {
        let mode = Mode::named(values.text("mode"))?;
        let distance = values.size("distance");
        let control = Role::Control { against: "apart_quiet".into() };
        let arms = [
            ("apart", APART_BYTES, true, Role::Baseline),
            ("near", distance, true, Role::Arm),
            ("same_word", 0, true, Role::Arm),
            ("apart_quiet", APART_BYTES, false, Role::Arm),
            ("near_quiet", distance, false, control),
        ];
        let ceiling = Ceiling {
            min_cycles: match mode {
                // A load that hits L1 in a dependent chain: 3 cycles at the least on any core known (Apple
                // Firestorm; 4 to 5 on x86, Agner Fog's instruction tables).
                Mode::WriterReader => 3.0,
                // A loop that stores once an iteration: two stores a cycle at the most (Zen 3 and later, Golden
                // Cove; Agner Fog's microarchitecture manual).
                Mode::BothAdd => 0.5,
            },
            formula: match mode {
                Mode::WriterReader => "each load waits for the one before: an L1 hit's latency".into(),
                Mode::BothAdd => "one store an iteration, at most two a cycle".into(),
            },
            source: "Agner Fog's instruction tables and microarchitecture manual".into(),
        };
        let reference = Arc::new(LineReference);
        let entries = arms.into_iter().map(|(name, distance_bytes, writes, role)| {
            let recipe = Arc::new(LineRecipe::new(Line { mode, distance_bytes, writes })?);
            let ceiling = Some(ceiling.clone());
            Ok(Entry { ceiling, ..Entry::new(name, role, recipe, reference.clone(), "steps") })
        });
        // Far more steps than a rep holds; nothing is stored for them.
        let source = Source::without_items(1 << 24);
        let entries = entries.collect::<Result<_>>()?;
        Ok(Plan { helpers: 1, min_rep: Some(MIN_REP), ..Plan::new(source, entries) })
    }
}
