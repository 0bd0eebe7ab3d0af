//! The set of handlers that a service has registered: keys, residual predicates, bodies, and the order.

use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use serde::Serialize;

use super::body::Body;
use super::foreign::{Foreign, Members};
use super::residual::Residual;
use super::{overlap, scheme};
use crate::race::Watch;
use crate::traffic::{Packet, key_counts};
use crate::{Error, Result};

/// Most handlers that a set can have: how many bodies are compiled.
pub const MAX_HANDLERS: usize = 1024;

/// What one handler matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct HandlerSpec {
    /// The protocol number that it wants.
    pub key: u16,
    /// What it wants besides.
    pub residual: Residual,
}

/// Handlers and their registration order. Cheap to clone, never changed after it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerSet {
    inner: Arc<Inner>,
}

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    specs: Vec<HandlerSpec>,
    /// Handler numbers in registration order.
    order: Vec<usize>,
    body: Body,
    /// Added to each handler's number where it signs a result: anything but 0 is sabotage.
    signature_shift: usize,
    /// Those of the handlers whose code comes from elsewhere; their numbers follow the built-in ones'.
    foreign: Vec<Members>,
}

impl HandlerSet {
    /// The kata's scheme: `n` handlers of which about `residual_share` share keys and test a byte of the payload
    /// besides. `seed` picks which, except at a share of 0.10, where the published rule (every `n % 10 == 7`) picks.
    /// See [`scheme`] for the rule.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for 0 or more than [`MAX_HANDLERS`] handlers, or a share outside 0…1.
    pub fn standard(n: usize, body: Body, residual_share: f64, seed: u64) -> Result<Self> {
        check_count(n)?;
        Self::from_specs(scheme::standard(n, residual_share, seed)?, body)
    }

    /// `n` handlers of which a share shares keys, `length` of them at the most to a key, each testing a byte of the
    /// payload for a range of its own: exactly one of a key's handlers matches a packet. `seed` picks which. The standard
    /// scheme has lists of three and four; this one says what longer ones cost. See [`scheme`].
    ///
    /// # Errors
    /// As [`HandlerSet::standard`], and for a length outside 1…[`scheme::LONGEST_LIST`].
    pub fn with_lists(n: usize, body: Body, residual_share: f64, length: usize, seed: u64) -> Result<Self> {
        check_count(n)?;
        Self::from_specs(scheme::lists(n, residual_share, length, seed)?, body)
    }

    /// Any keys and predicates, overlapping ones too; registered in the order given.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for 0 or more than [`MAX_HANDLERS`] handlers, or a predicate that can never hold.
    pub fn from_specs(specs: Vec<HandlerSpec>, body: Body) -> Result<Self> {
        check_count(specs.len())?;
        for spec in &specs {
            spec.residual.validate()?;
        }
        let order = (0..specs.len()).collect();
        Ok(HandlerSet {
            inner: Arc::new(Inner { specs, order, body, signature_shift: 0, foreign: Vec::new() }),
        })
    }

    /// One ordinary handler for each of the `k` most frequent keys of a capture (all of them, if it has fewer), ties
    /// to the smaller key; other packets stay unmatched. Registration order is a shuffle of the keys by `seed`, since
    /// nobody registers handlers in traffic order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] without packets, or for `k` of 0 or more than [`MAX_HANDLERS`];
    /// [`Error::Interrupted`] once `watch` is stopped.
    pub fn from_packets(packets: &[Packet], k: usize, body: Body, seed: u64, watch: &Watch) -> Result<Self> {
        check_count(k)?;
        if packets.is_empty() {
            return Err(Error::invalid("packets", "0 packets", "at least one packet to take keys from"));
        }
        let mut keys: Vec<u16> =
            key_counts(packets, watch)?.into_iter().take(k).map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let specs = keys.into_iter().map(|key| HandlerSpec { key, residual: Residual::None }).collect();
        Self::from_specs(specs, body)
    }

    /// The same handlers, with their numbers and bodies, registered in another order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `order` names each handler once.
    pub fn reordered(&self, order: &[usize]) -> Result<Self> {
        let mut seen = vec![false; self.len()];
        for &id in order {
            match seen.get_mut(id) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let wanted = format!("each of the {} handlers once", self.len());
                    return Err(Error::invalid("order", format!("… {id} …"), wanted));
                }
            }
        }
        if order.len() != self.len() {
            let wanted = format!("each of the {} handlers once", self.len());
            return Err(Error::invalid("order", format!("{} handlers", order.len()), wanted));
        }
        let inner = Inner {
            specs: self.inner.specs.clone(),
            order: order.to_vec(),
            body: self.body(),
            signature_shift: self.inner.signature_shift,
            foreign: self.inner.foreign.clone(),
        };
        Ok(HandlerSet { inner: Arc::new(inner) })
    }

    /// The same handlers, each of which signs its results with the next one's number: sabotage.
    pub(super) fn mislabelled(&self) -> Self {
        let Inner { specs, order, body, foreign, .. } = &*self.inner;
        let (specs, order, foreign) = (specs.clone(), order.clone(), foreign.clone());
        HandlerSet { inner: Arc::new(Inner { specs, order, body: *body, signature_shift: 1, foreign }) }
    }

    /// The same handlers with somebody else's behind them, in numbers and in registration order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where there would be more than [`MAX_HANDLERS`], or where one of them could never run
    /// because an earlier handler takes each of its packets; whatever `foreign` has to say against.
    pub(crate) fn with_foreign(&self, foreign: Arc<dyn Foreign>) -> Result<Self> {
        let members = Members::new(foreign, self.len())?;
        check_count(self.len() + members.specs.len())?;
        for HandlerSpec { key, .. } in &members.specs {
            let shadows = |(_, spec): &(usize, HandlerSpec)| spec.key == *key && spec.residual.is_none();
            if let Some((id, _)) = self.registered().find(shadows) {
                let claim = format!("key {key} of {}", members.handlers.name());
                let wanted = format!("a key that handler {id} doesn't take already: it would never run");
                return Err(Error::invalid("plugin", claim, wanted));
            }
        }
        let Inner { specs, order, body, signature_shift, foreign } = &*self.inner;
        let inner = Inner {
            specs: specs.iter().chain(&members.specs).copied().collect(),
            order: order.iter().copied().chain(self.len()..self.len() + members.specs.len()).collect(),
            body: *body,
            signature_shift: *signature_shift,
            foreign: foreign.iter().cloned().chain([members]).collect(),
        };
        Ok(HandlerSet { inner: Arc::new(inner) })
    }

    /// How many of the handlers are built in: those of the first numbers. The others' code comes from elsewhere.
    pub fn built_in(&self) -> usize {
        self.inner.foreign.first().map_or(self.len(), |members| members.first)
    }

    /// Who brought handlers of their own, and which numbers they have.
    pub(super) fn foreign(&self) -> &[Members] {
        &self.inner.foreign
    }

    /// Has the plugins among the handlers work on each packet that they claim, and holds them to their word: before any
    /// arm is timed, whose loops take what they get.
    ///
    /// # Errors
    /// [`Error::Plugin`] with the first answer that breaks the ABI's rules; [`Error::Interrupted`] once `watch` is
    /// stopped.
    pub fn try_plugins(&self, packets: &[Packet], watch: &Watch) -> Result<()> {
        for members in self.foreign() {
            let claimed = |packet: &Packet| members.specs.iter().position(|spec| spec.key == packet.protocol);
            for chunk in packets.chunks(PLUGIN_CHUNK) {
                watch.check()?;
                for packet in chunk {
                    if let Some(place) = claimed(packet) {
                        members.ask(place, packet)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The number that a handler's results are signed with: its own.
    pub(super) fn signature(&self, id: usize) -> u16 {
        ((id + self.inner.signature_shift) % self.len()) as u16
    }

    /// How many handlers; never 0.
    #[allow(clippy::len_without_is_empty, reason = "a set is never empty")]
    pub fn len(&self) -> usize {
        self.inner.specs.len()
    }

    /// What each handler matches, by its number.
    pub fn specs(&self) -> &[HandlerSpec] {
        &self.inner.specs
    }

    /// Handler numbers in registration order.
    pub fn order(&self) -> &[usize] {
        &self.inner.order
    }

    /// The handlers in registration order: number and what it matches.
    pub fn registered(&self) -> impl ExactSizeIterator<Item = (usize, HandlerSpec)> + '_ {
        self.order().iter().map(|&id| (id, self.specs()[id]))
    }

    /// Each handler's key, by its number.
    pub fn keys(&self) -> Vec<u16> {
        self.specs().iter().map(|spec| spec.key).collect()
    }

    /// How much code each handler is.
    pub fn body(&self) -> Body {
        self.inner.body
    }

    /// How many different keys are claimed.
    pub fn distinct_keys(&self) -> usize {
        let mut keys = self.keys();
        keys.sort_unstable();
        keys.dedup();
        keys.len()
    }

    /// How many handlers test more than their key.
    pub fn residual_count(&self) -> usize {
        self.specs().iter().filter(|spec| !spec.residual.is_none()).count()
    }

    /// Pairs of handlers, the smaller number first, that can both match one packet: between them order decides.
    pub fn overlaps(&self) -> Vec<(usize, usize)> {
        overlap::pairs(self.specs())
    }
}

/// Packets between two looks at the watch: what a plugin does with one is its own affair.
const PLUGIN_CHUNK: usize = 1024;

fn check_count(n: usize) -> Result<()> {
    if (1..=MAX_HANDLERS).contains(&n) {
        return Ok(());
    }
    Err(Error::invalid("handlers", n, format!("between 1 and {MAX_HANDLERS}, the bodies that are compiled")))
}
