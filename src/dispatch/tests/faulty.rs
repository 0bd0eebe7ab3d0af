//! Mechanisms that are broken in their own code, not in the handlers beneath: each is noticed.

use std::marker::PhantomData;

use super::{uniform, whole};
use crate::Result;
use crate::dispatch::body::{Fat, Tiny};
use crate::dispatch::generated::Code;
use crate::dispatch::mechanism::{
    Direct, EnumMatch, Erased, FatPointer, StaticInlined, StaticMatch, Table, Target, Thin,
};
use crate::dispatch::replay;
use crate::dispatch::{
    Body, DirectReference, HandlerSet, HandlerSpec, MechanismArm, MechanismRecipe, ProposalArm,
    ProposalRecipe, Residual, ScanReference,
};
use crate::race::{Arm, Checksum, Input, Placement, Recipe, Reference, Source};

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// Each handler runs the next one's body, under its own number.
    Body,
    /// Handlers that test more than their key are run without the test.
    Untested,
}

struct Faulty<'a> {
    wrong: Wrong,
    arm: MechanismArm,
    set: &'a HandlerSet,
}

impl Recipe for Faulty<'_> {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        Ok(match (self.arm, self.set.body()) {
            (MechanismArm::DynTrait, _) => replay::dispatching(self.table::<FatPointer>(placement)?, input),
            (MechanismArm::Thin, _) => replay::dispatching(self.table::<Thin>(placement)?, input),
            (MechanismArm::Erased, _) => replay::dispatching(self.table::<Erased>(placement)?, input),
            (MechanismArm::EnumMatch, Body::Tiny) => {
                replay::dispatching(self.table::<EnumMatch<Tiny>>(placement)?, input)
            }
            (MechanismArm::EnumMatch, _) => {
                replay::dispatching(self.table::<EnumMatch<Fat>>(placement)?, input)
            }
            (MechanismArm::Direct, Body::Tiny) => {
                replay::dispatching(self.table::<Direct<Tiny>>(placement)?, input)
            }
            (MechanismArm::Direct, _) => replay::dispatching(self.table::<Direct<Fat>>(placement)?, input),
            // Its handlers are compiled in: the match of another set, and bodies of the other kind.
            (MechanismArm::StaticMatch, Body::Tiny) => {
                replay::dispatching(StaticMatch::<Fat, 50>(PhantomData), input)
            }
            (MechanismArm::StaticMatch, _) => {
                replay::dispatching(StaticMatch::<Tiny, 100>(PhantomData), input)
            }
            (MechanismArm::StaticInlined, Body::Tiny) => {
                replay::dispatching(StaticInlined::<Fat, 50>(PhantomData), input)
            }
            (MechanismArm::StaticInlined, _) => {
                replay::dispatching(StaticInlined::<Tiny, 100>(PhantomData), input)
            }
        })
    }
}

impl Faulty<'_> {
    fn table<T: Target>(&self, placement: &mut Placement) -> Result<Table<T>> {
        let (set, body) = (self.set, self.set.body());
        let code =
            |id: usize| Code::of(body, if self.wrong == Wrong::Body { (id + 1) % set.len() } else { id });
        let placed = set
            .registered()
            .map(|(id, spec)| T::place(code(id), id as u16, spec, placement))
            .collect::<Result<Vec<_>>>()?;
        let (targets, keep): (Vec<T>, _) = placed.into_iter().unzip();
        let claimed = if self.wrong == Wrong::Untested { untested(set) } else { set.clone() };
        Table::of(&claimed, &targets, keep, placement)
    }
}

/// The same without residual predicates: the first handler of a shared key takes all of its packets.
fn untested(set: &HandlerSet) -> HandlerSet {
    let bare = |spec: &HandlerSpec| HandlerSpec { residual: Residual::None, ..*spec };
    HandlerSet::from_specs(set.specs().iter().map(bare).collect(), set.body()).unwrap()
}

/// The same keys, each with the next handler.
fn rotated(set: &HandlerSet) -> HandlerSet {
    let mut specs = set.specs().to_vec();
    specs.rotate_right(1);
    HandlerSet::from_specs(specs, set.body()).unwrap()
}

fn run(recipe: &dyn Recipe, source: &Source) -> Checksum {
    let mut placement = Placement::new(3);
    let input = source.place(&mut placement).unwrap();
    recipe.build(&input, &mut placement).unwrap().run(whole(source))
}

#[test]
fn a_mechanism_that_runs_the_wrong_body_or_skips_tests_computes_something_else() {
    for body in [Body::Fat, Body::Tiny] {
        let set = HandlerSet::standard(100, body, 0.10, 7).unwrap();
        let source = Source::from_items(uniform(&set, 1000, 1));
        for arm in MechanismArm::ALL {
            let expected = match arm {
                MechanismArm::Direct => DirectReference::new(&set).checksum(&source, whole(&source)),
                _ => ScanReference::new(&set).checksum(&source, whole(&source)),
            };
            assert_eq!(run(&MechanismRecipe::new(arm, &set).unwrap(), &source), expected, "{arm}");
            let faulty = |wrong| run(&Faulty { wrong, arm, set: &set }, &source);
            assert_ne!(faulty(Wrong::Untested), expected, "{arm}");
            if arm == MechanismArm::Direct {
                // Its body is fixed: whose code an object belongs to means nothing to it.
                assert_eq!(faulty(Wrong::Body), expected);
            } else {
                assert_ne!(faulty(Wrong::Body), expected, "{arm}");
            }
        }
    }
}

#[test]
fn a_proposal_that_runs_the_wrong_body_or_skips_tests_computes_something_else() {
    for body in [Body::Fat, Body::Tiny] {
        let set = HandlerSet::standard(50, body, 0.10, 7).unwrap();
        let source = Source::from_items(uniform(&set, 1000, 1));
        let expected = ScanReference::new(&set).checksum(&source, whole(&source));
        for arm in ProposalArm::ALL {
            assert_eq!(run(&ProposalRecipe::new(arm, &set).unwrap(), &source), expected, "{arm}");
            let faulty = match arm {
                // Keys are constants: the loop for fewer handlers, and the bodies of the other kind.
                ProposalArm::StaticKeys => {
                    let other = if body == Body::Fat { Body::Tiny } else { Body::Fat };
                    [HandlerSet::standard(25, body, 0.10, 7), HandlerSet::standard(50, other, 0.10, 7)]
                        .map(Result::unwrap)
                }
                _ => [rotated(&set), untested(&set)],
            };
            for set in faulty {
                assert_ne!(run(&ProposalRecipe::new(arm, &set).unwrap(), &source), expected, "{arm}");
            }
        }
    }
}
