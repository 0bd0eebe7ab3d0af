//! Expected probes by exact enumeration, to stand beside the counted ones.

use std::collections::BTreeMap;

use super::{HandlerSet, Residual, SelectionArm};
use crate::{Error, Result};

/// Most single steps that are enumerated for a whole set: some 20 ms. A step is one predicate looked at for one thing that
/// is read (a payload byte, the flow), in one combination of what those things can be.
const MOST_STEPS: usize = 1 << 24;

/// Expected probes a packet for `arm` over `set`, where a share `unmatched` of packets has a key that nobody claims and
/// each other packet carries the key of handler `h` with a probability proportional to `weights[h]`, its payload bytes
/// and flow uniform and independent. Exact: every value that the predicates can tell apart is enumerated.
///
/// For `scan_ordered` give the set in the order that it is sorted to ([`HandlerSet::reordered`]). `None` for the arms
/// that organise themselves, and where predicates of one key read so many bytes that enumeration is out of reach.
///
/// # Errors
/// [`Error::InvalidArgument`] unless there is one finite weight of 0 or more for each handler, not all of them 0, and
/// `unmatched` is a share.
pub fn expected_probes(
    arm: SelectionArm,
    set: &HandlerSet,
    weights: &[f64],
    unmatched: f64,
) -> Result<Option<f64>> {
    check(set, weights, unmatched)?;
    if arm.organises_itself() {
        return Ok(None);
    }
    let by_key = by_key(set, |id| weights[id]);
    let is_table =
        matches!(arm, SelectionArm::TableDirect16 | SelectionArm::TableCompact | SelectionArm::HashMap);
    let (mut sum, mut steps_left) = (0.0, MOST_STEPS);
    for key in by_key.values() {
        let Some(law) = first_match_law(&key.handlers, &mut steps_left) else { return Ok(None) };
        let cost = if is_table { table_probes(key, &law) } else { scan_probes(key, &law, set.len()) };
        sum += key.weight * cost;
    }
    let for_nobody = if is_table { 1.0 } else { set.len() as f64 };
    let matched = sum / weights.iter().sum::<f64>();
    Ok(Some((1.0 - unmatched) * matched + unmatched * for_nobody))
}

/// How often each handler runs, by its number, as a share of all packets, of traffic as for [`expected_probes`]. What is
/// missing from 1 are the packets that nobody takes. `None` where enumeration is out of reach.
///
/// # Errors
/// As [`expected_probes`].
pub fn run_shares(set: &HandlerSet, weights: &[f64], unmatched: f64) -> Result<Option<Vec<f64>>> {
    check(set, weights, unmatched)?;
    let scale = (1.0 - unmatched) / weights.iter().sum::<f64>();
    let (mut shares, mut steps_left) = (vec![0.0; set.len()], MOST_STEPS);
    for key in by_key(set, |id| weights[id]).values() {
        let Some(law) = first_match_law(&key.handlers, &mut steps_left) else { return Ok(None) };
        for (&(place, _), chance) in key.handlers.iter().zip(law) {
            shares[set.order()[place - 1]] = key.weight * scale * chance;
        }
    }
    Ok(Some(shares))
}

/// The handlers of each key, in registration order, with their weights' sum.
fn by_key(set: &HandlerSet, weight: impl Fn(usize) -> f64) -> BTreeMap<u16, Key> {
    let mut by_key = BTreeMap::<u16, Key>::new();
    for (place, (id, spec)) in (1..).zip(set.registered()) {
        let key = by_key.entry(spec.key).or_default();
        key.weight += weight(id);
        key.handlers.push((place, spec.residual));
    }
    by_key
}

/// The most tests that a table makes for any key and payload; see [`super::worst::most_probes`].
pub(super) fn most_tests(set: &HandlerSet) -> usize {
    let mut steps_left = MOST_STEPS;
    let keys = by_key(set, |_| 0.0);
    keys.values().map(|key| most_tests_of(key, &mut steps_left)).max().expect("a set is never empty")
}

fn most_tests_of(key: &Key, steps_left: &mut usize) -> usize {
    let candidates = candidates(key);
    match first_match_law(&key.handlers, steps_left) {
        // Possible, however unlikely: probabilities here are sums of products of 1/256 and 1/64. That nobody matches is
        // what is left of 1, where rounding can only make something of nothing: the bound stays one.
        Some(law) if law.iter().sum::<f64>() >= 1.0 => {
            law.iter().take(candidates).rposition(|&chance| chance > 0.0).map_or(candidates, |at| at + 1)
        }
        _ => candidates,
    }
}

/// Handlers of a key that a table tests at the most: none where an ordinary one comes first, and none after one.
fn candidates(key: &Key) -> usize {
    match key.handlers.iter().position(|(_, residual)| residual.is_none()) {
        Some(0) => 0,
        Some(ordinary) => ordinary + 1,
        None => key.handlers.len(),
    }
}

fn check(set: &HandlerSet, weights: &[f64], unmatched: f64) -> Result<()> {
    if weights.len() != set.len() {
        let wanted = format!("one for each of {} handlers", set.len());
        return Err(Error::invalid("weights", format!("{} weights", weights.len()), wanted));
    }
    if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        return Err(Error::invalid("weights", weight, "finite weights of 0 or more"));
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        return Err(Error::invalid("weights", "all 0", "at least one above 0"));
    }
    if !(0.0..=1.0).contains(&unmatched) {
        return Err(Error::invalid("unmatched", unmatched, "a share between 0 and 1"));
    }
    Ok(())
}

/// The handlers of one key: place in the list from 1, and predicate, in registration order.
#[derive(Default)]
struct Key {
    weight: f64,
    handlers: Vec<(usize, Residual)>,
}

/// A scan asks everybody up to the first match, and everybody where there is none.
fn scan_probes(key: &Key, law: &[f64], handlers: usize) -> f64 {
    let nobody = 1.0 - law.iter().sum::<f64>();
    let found: f64 = key.handlers.iter().zip(law).map(|(&(place, _), chance)| chance * place as f64).sum();
    found + nobody * handlers as f64
}

/// A table looks one slot up, and tests candidates up to the first match unless an ordinary handler comes first.
fn table_probes(key: &Key, law: &[f64]) -> f64 {
    let candidates = candidates(key);
    if candidates == 0 {
        return 1.0;
    }
    let nobody = 1.0 - law.iter().sum::<f64>();
    let tests: f64 = law.iter().zip(1..).map(|(chance, tests)| chance * tests as f64).sum();
    1.0 + tests + nobody * candidates as f64
}

/// What a predicate reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Byte(usize),
    Flow,
}

fn read(residual: Residual) -> Option<Read> {
    match residual {
        Residual::None | Residual::Opaque => None,
        Residual::Flow { .. } => Some(Read::Flow),
        Residual::Mask { .. } | Residual::Range { .. } => residual.offset().map(Read::Byte),
    }
}

/// Whether a predicate holds for one value of what it reads.
fn accepts(residual: Residual, value: u8) -> bool {
    match residual {
        Residual::None => true,
        Residual::Mask { mask, value: wanted, .. } => value & mask == wanted,
        Residual::Range { low, high, .. } => (low..=high).contains(&value),
        Residual::Flow { active } => active >> value & 1 == 1,
        // `first_match_law` gives up before it asks.
        Residual::Opaque => false,
    }
}

/// For each handler of a key, the probability that it is the first to match; `None` where that takes more steps than are
/// left.
fn first_match_law(handlers: &[(usize, Residual)], steps_left: &mut usize) -> Option<Vec<f64>> {
    if handlers.iter().any(|&(_, residual)| residual == Residual::Opaque) {
        return None;
    }
    let mut reads: Vec<Read> = handlers.iter().filter_map(|&(_, residual)| read(residual)).collect();
    reads.sort_unstable();
    reads.dedup();
    // Finding the atoms looks at each predicate for each value.
    *steps_left = steps_left.checked_sub(256 * reads.len() * handlers.len())?;
    // For each thing that is read: which sets of predicates its values satisfy, and how likely each set is.
    let atoms: Vec<Vec<(Vec<bool>, f64)>> = reads.iter().map(|&read| atoms(handlers, read)).collect();
    let combinations = atoms.iter().try_fold(1_usize, |product, atoms| product.checked_mul(atoms.len()))?;
    let steps = combinations.checked_mul(handlers.len() * reads.len().max(1))?;
    *steps_left = steps_left.checked_sub(steps)?;
    let mut law = vec![0.0; handlers.len()];
    for combination in 0..combinations {
        let mut rest = combination;
        let mut chance = 1.0;
        let mut holds = vec![true; handlers.len()];
        for atoms in &atoms {
            let (satisfied, probability) = &atoms[rest % atoms.len()];
            rest /= atoms.len();
            chance *= probability;
            for (holds, satisfied) in holds.iter_mut().zip(satisfied) {
                *holds &= satisfied;
            }
        }
        if let Some(first) = holds.iter().position(|&holds| holds) {
            law[first] += chance;
        }
    }
    Some(law)
}

/// The sets of predicates that values of one byte (or of the flow's class) satisfy, each with its probability; those
/// that read something else count as satisfied.
fn atoms(handlers: &[(usize, Residual)], what: Read) -> Vec<(Vec<bool>, f64)> {
    let values: u16 = if what == Read::Flow { 64 } else { 256 };
    let mut atoms = BTreeMap::<Vec<bool>, f64>::new();
    for value in 0..values {
        let satisfied = handlers
            .iter()
            .map(|&(_, residual)| read(residual) != Some(what) || accepts(residual, value as u8))
            .collect();
        *atoms.entry(satisfied).or_default() += 1.0 / f64::from(values);
    }
    atoms.into_iter().collect()
}
