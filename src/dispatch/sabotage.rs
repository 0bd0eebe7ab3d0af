//! Arms that are wrong on purpose: whoever checks results shows with them that it would notice.
//!
//! Faults of finding are faults of the handlers that an arm is built over, so that the very code of the arm runs; faults
//! of reading are faults of the packets that it is given, and of running of the windows: those suit any arm.

use std::sync::Arc;

use super::{HandlerSet, HandlerSpec, Residual, ScanReference};
use crate::Result;
use crate::race::{
    Arm, Broken, Checksum, Entry, Fault, Input, Placement, Recipe, Reference, Settle, Source, Window,
};
use crate::traffic::Packet;

/// `entry` of a plan with `fault` built in; or why it can't have it.
///
/// # Errors
/// A reason, for people.
pub fn broken(entry: &Entry, fault: Fault, source: &Source) -> Result<Broken, String> {
    let as_given = || (Arc::clone(&entry.recipe), Arc::clone(&entry.reference));
    match fault {
        Fault::SkipResidual | Fault::WrongOrder | Fault::WrongHandlerId => entry.recipe.broken(fault),
        Fault::ConstantResult | Fault::DropPacket => {
            let (recipe, reference) = as_given();
            let becomes = Arc::new(Misrun { inner: reference, fault });
            Ok(Broken { recipe: Arc::new(Misrun { inner: recipe, fault }), becomes, sound: None })
        }
        Fault::StalePayload | Fault::SwappedKey => {
            if !source.holds::<Packet>() {
                return Err("it replays no packets".into());
            }
            let packets = misread(source.items(), fault);
            let (recipe, reference) = as_given();
            let source = Source::from_items(packets);
            let becomes = Arc::new(Misread { inner: reference, source: source.clone() });
            Ok(Broken { recipe: Arc::new(Misread { inner: recipe, source }), becomes, sound: None })
        }
    }
}

/// An arm over handlers that have gone wrong, made by `build`: for recipes over a [`HandlerSet`]. `keeps_order` says whether
/// the arm asks handlers in registration order. `becomes` is the plain reference over the wrong handlers.
///
/// # Errors
/// A reason why this arm can't have the fault.
pub fn broken_over(
    set: &HandlerSet,
    fault: Fault,
    keeps_order: bool,
    build: impl Fn(&HandlerSet) -> Result<Arc<dyn Recipe>>,
    plain: impl Fn(&HandlerSet) -> Arc<dyn Reference>,
) -> Result<Broken, String> {
    let build = |set: &HandlerSet| build(set).map_err(|error| error.to_string());
    let wrong = |set: HandlerSet| Ok(Broken { recipe: build(&set)?, becomes: plain(&set), sound: None });
    match fault {
        _ if set.built_in() < set.len() => Err("a plugin's handlers can't be made wrong from here".into()),
        Fault::SkipResidual if set.residual_count() == 0 => {
            Err(format!("none of its {} handlers tests more than its key", set.len()))
        }
        Fault::SkipResidual => wrong(forgetting_residuals(set)),
        Fault::WrongHandlerId if set.len() < 2 => Err("it has one handler only".into()),
        Fault::WrongHandlerId => wrong(set.mislabelled()),
        Fault::WrongOrder if !keeps_order => Err("it doesn't keep the registration order by design".into()),
        Fault::WrongOrder if set.len() < 2 => Err("it has one handler only".into()),
        Fault::WrongOrder => {
            let overlapping = overlapping(set);
            let reversed: Vec<usize> = overlapping.order().iter().rev().copied().collect();
            let reversed = overlapping.reordered(&reversed).map_err(|error| error.to_string())?;
            let sound = Some((build(&overlapping)?, plain(&overlapping)));
            Ok(Broken { sound, ..wrong(reversed)? })
        }
        other => Err(format!("{other} isn't a fault of handlers")),
    }
}

/// What most arms over a set compute.
pub fn plain_scan(set: &HandlerSet) -> Arc<dyn Reference> {
    Arc::new(ScanReference::new(set))
}

/// The same handlers, except that those which test more than their key never match.
fn forgetting_residuals(set: &HandlerSet) -> HandlerSet {
    let never = Residual::Flow { active: 0 };
    edited(set, |_, spec| match spec.residual {
        Residual::None => spec,
        _ => HandlerSpec { residual: never, ..spec },
    })
}

/// The same handlers in pairs of one key, of which only the earlier one tests anything more: every packet that it takes the
/// later one would take as well.
fn overlapping(set: &HandlerSet) -> HandlerSet {
    let order = set.order().to_vec();
    edited(set, |id, spec| {
        let place = order.iter().position(|&other| other == id).expect("each handler has a place");
        if place % 2 == 0 {
            return HandlerSpec { residual: Residual::Mask { offset: 0, mask: 1, value: 0 }, ..spec };
        }
        HandlerSpec { key: set.specs()[order[place - 1]].key, residual: Residual::None }
    })
}

fn edited(set: &HandlerSet, edit: impl Fn(usize, HandlerSpec) -> HandlerSpec) -> HandlerSet {
    let specs = set.specs().iter().enumerate().map(|(id, &spec)| edit(id, spec)).collect();
    HandlerSet::from_specs(specs, set.body())
        .and_then(|edited| edited.reordered(set.order()))
        .expect("as many handlers in the same order, with predicates that are made here")
}

/// The packets as an arm with that fault sees them.
fn misread(packets: &[Packet], fault: Fault) -> Vec<Packet> {
    let last = packets.last().map_or([0; 24], |packet| packet.payload);
    let before = std::iter::once(last).chain(packets.iter().map(|packet| packet.payload));
    let both = packets.iter().zip(before);
    both.map(|(&packet, before)| match fault {
        Fault::StalePayload => Packet { payload: before, ..packet },
        _ => Packet { protocol: packet.protocol.swap_bytes(), ..packet },
    })
    .collect()
}

/// An arm that reads its packets wrongly, or what it computes.
struct Misread<T> {
    inner: T,
    source: Source,
}

impl Recipe for Misread<Arc<dyn Recipe>> {
    fn build(&self, _input: &Input, placement: &mut Placement) -> Result<Arm> {
        let seen = self.source.place(placement)?;
        self.inner.build(&seen, placement)
    }

    fn settle(&self) -> Settle {
        self.inner.settle()
    }
}

impl Reference for Misread<Arc<dyn Reference>> {
    fn checksum(&self, _source: &Source, window: Window) -> Checksum {
        self.inner.checksum(&self.source, window)
    }
}

/// An arm that doesn't run what it is asked to, or what it computes.
struct Misrun<T> {
    inner: T,
    fault: Fault,
}

/// A constant that no fold of anything is likely to be.
const CONSTANT: Checksum = Checksum(42);

fn short(window: Window) -> Window {
    Window { count: window.count - 1, ..window }
}

impl Recipe for Misrun<Arc<dyn Recipe>> {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let inner = self.inner.build(input, placement)?;
        Ok(match self.fault {
            Fault::DropPacket => Arm::around(inner, (), |(inner, ()), window| inner.run(short(window))),
            _ => Arm::around(inner, (), |_, _| CONSTANT),
        })
    }

    fn settle(&self) -> Settle {
        self.inner.settle()
    }
}

impl Reference for Misrun<Arc<dyn Reference>> {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        match self.fault {
            Fault::DropPacket => self.inner.checksum(source, short(window)),
            _ => CONSTANT,
        }
    }
}
