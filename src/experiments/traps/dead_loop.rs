//! `traps.dead_loop`: a loop that the optimiser has removed.

use std::sync::Arc;

use super::{configuration, table_twice};
use crate::Result;
use crate::dispatch::body::{Fat, Program, Tiny};
use crate::dispatch::{Body, HandlerSet, reference};
use crate::machine::Card;
use crate::race::placement::code_copies;
use crate::race::{
    Arm, ArmInfo, Ceiling, Cell, Checksum, Conditions, Entry, Experiment, Input, Parameter, Placement, Plan,
    Recipe, Reference, Role, Source, Trap, Unit, Values, Watch, Window, code_padding,
};
use crate::traffic::{Law, Packet, Traffic};

/// The experiment.
pub struct DeadLoop;

const TINY: &str = "tiny";
const FAT: &str = "fat";

impl Experiment for DeadLoop {
    fn id(&self) -> &'static str {
        "traps.dead_loop"
    }

    fn title(&self) -> &'static str {
        "Trap: a loop that the optimiser removed"
    }

    fn about(&self) -> &'static str {
        "What does a body of 48 rounds cost, and what one of 2? The wrong configuration computes each packet's value and uses \
         it for nothing; the compiler sees that nobody would notice, and leaves no loop. Such an arm has no result to check, \
         so it declares a count instead, and no checksum can catch it. The right one folds each value into the checksum. The \
         check `ceiling`, which each arm with a known least cost has, holds the figure against what the multiplications \
         alone must take. Bodies are inlined here, as in a loop that one would write."
    }

    fn unit(&self) -> Unit {
        Unit::NsPerPacket
    }

    fn parameters(&self, card: &Card) -> Vec<Parameter> {
        vec![configuration::two(), table_twice::pool(card)]
    }

    fn arms(&self) -> Vec<ArmInfo> {
        vec![
            ArmInfo { name: TINY, help: "2 rounds over each packet's payload" },
            ArmInfo { name: FAT, help: "48 rounds over each packet's payload" },
            ArmInfo { name: "tiny_again", help: "control: the tiny arm, built apart" },
        ]
    }

    fn plan(&self, values: &Values, seed: u64, _card: &Card, watch: &Watch) -> Result<Plan> {
        let set = HandlerSet::standard(2, Body::Tiny, 0.0, seed)?;
        let traffic = Traffic::new(Law::Uniform).seed(seed);
        let packets = traffic.generate(values.size("pool"), &set.keys(), &watch.silent())?;
        let wrong = configuration::of(values) == configuration::WRONG;
        let conditions = if wrong { Conditions::faulty() } else { Conditions::default() };
        let entry = |name: &str, role: Role, body: Body| {
            let arm = Arc::new(Rounds { body, folds: !wrong });
            let claim = if body == Body::Fat { "fat values" } else { "tiny values" };
            Entry { ceiling: Some(least(body)), ..Entry::new(name, role, arm.clone(), arm, claim) }
        };
        let entries = vec![
            entry(TINY, Role::Baseline, Body::Tiny),
            entry(FAT, Role::Arm, Body::Fat),
            entry("tiny_again", Role::Control { against: TINY.into() }, Body::Tiny),
        ];
        Ok(Plan {
            conditions,
            patience: configuration::FEWEST_BLOCKS,
            ..Plan::new(Source::from_items(packets), entries)
        })
    }

    fn trap(&self, cells: &[Cell]) -> Option<Trap> {
        let lesson = configuration::Lesson {
            check: "ceiling:fat",
            share: 0.20,
            least: 0.0,
            injected: "",
            cause: "nothing used the values, so nothing computed them",
        };
        lesson.of(cells, |cell| {
            configuration::cost(cell, FAT, |ns| format!("a body of 48 rounds costs {ns} ns a packet"))
        })
    }
}

/// Multiplications that a core starts in a cycle at the most: two (Apple's; one on x86): Agner Fog's instruction tables;
/// D. Johnson's measurements of Firestorm.
const MULTIPLIES_A_CYCLE: f64 = 2.0;

fn least(body: Body) -> Ceiling {
    Ceiling {
        min_cycles: body.rounds() as f64 / MULTIPLIES_A_CYCLE,
        formula: format!("{} multiplications, two a cycle", body.rounds()),
        source: "Agner Fog's instruction tables".into(),
    }
}

/// An arm that computes handler 0's value of each packet, as recipe and as reference.
struct Rounds {
    body: Body,
    /// Whether the values are used.
    folds: bool,
}

impl Recipe for Rounds {
    fn build(&self, input: &Input, _placement: &mut Placement) -> Result<Arm> {
        let input = input.clone();
        Ok(match (self.body, self.folds) {
            (Body::Tiny, true) => Arm::with_layouts(input, code_copies!(folded, Tiny)),
            (Body::Tiny, false) => Arm::with_layouts(input, code_copies!(discarded, Tiny)),
            (_, true) => Arm::with_layouts(input, code_copies!(folded, Fat)),
            (_, false) => Arm::with_layouts(input, code_copies!(discarded, Fat)),
        })
    }
}

fn counted(window: Window) -> Checksum {
    Checksum::EMPTY.fold(window.count as u64, 0)
}

#[inline(never)]
fn folded<P: Program, const COPY: usize>(input: &mut Input, window: Window) -> Checksum {
    code_padding::<COPY>();
    let packets = &input.items::<Packet>()[window.first..window.first + window.count];
    packets.iter().fold(Checksum::EMPTY, |sum, packet| sum.fold(P::value::<0>(&packet.payload), 0))
}

#[inline(never)]
fn discarded<P: Program, const COPY: usize>(input: &mut Input, window: Window) -> Checksum {
    code_padding::<COPY>();
    for packet in &input.items::<Packet>()[window.first..window.first + window.count] {
        // Computed, and used for nothing: this is the trap.
        let _value = P::value::<0>(&packet.payload);
    }
    counted(window)
}

impl Reference for Rounds {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        if !self.folds {
            return counted(window);
        }
        let packets = &source.items::<Packet>()[window.first..][..window.count];
        packets
            .iter()
            .fold(Checksum::EMPTY, |sum, packet| sum.fold(reference::value(self.body, 0, packet), 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_loop_are_what_their_references_say() {
        let packets: Vec<Packet> = (0..100u8)
            .map(|n| Packet { protocol: 0, length: 32, flow: 0, payload: [n.wrapping_mul(37); 24] })
            .collect();
        let source = Source::from_items(packets);
        let window = Window { first: 3, count: 50 };
        for body in [Body::Tiny, Body::Fat] {
            for folds in [true, false] {
                let arm = Rounds { body, folds };
                let mut placement = Placement::new(1);
                let input = source.place(&mut placement).expect("placed");
                let mut built = arm.build(&input, &mut placement).expect("built");
                assert_eq!(built.run(window), arm.checksum(&source, window), "{body} {folds}");
            }
        }
        let value = |folds| Rounds { body: Body::Tiny, folds }.checksum(&source, window);
        assert_ne!(value(true), value(false));
    }
}
