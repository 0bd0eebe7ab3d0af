//! A stream in two halves: the mix that a list was sorted for, then that mix again or an adversary's.

use super::traffic::{self, Workload};
use crate::dispatch::{HandlerSet, order, reference};
use crate::machine::{Card, memory};
use crate::race::{Check, Values, Watch};
use crate::traffic::{Law, Packet, Traffic};
use crate::{Error, Result};

/// Values of the parameter `shift`.
pub const SHIFTS: [&str; 2] = ["none", "adversary"];

/// Names of the halves.
pub const HALVES: [&str; 2] = ["before", "after"];

/// Handlers, the order sorted for the first half, and the packets of both.
pub struct Stream {
    pub set: HandlerSet,
    /// Handler numbers by how often each runs in the first half.
    pub sorted: Vec<usize>,
    pub packets: Vec<Packet>,
    /// Where the second half begins.
    pub shift: usize,
    pub checks: Vec<Check>,
}

/// The stream that `values` ask for.
///
/// Without a shift the first half is sent again, packet by packet: any difference between the halves is then the
/// measurement's.
///
/// # Errors
/// As a workload's; [`Error::InvalidArgument`] for a pool that has no two halves.
pub fn stream(values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Stream> {
    let pool = values.size("pool");
    if pool < 2 {
        let wanted = "wanted at least 2 packets: one before the shift and one after";
        return Err(Error::invalid("pool", pool, wanted));
    }
    let Workload { set, mut packets, checks, .. } = traffic::workload(values, seed, card, watch)?;
    packets.truncate(pool / 2);
    let shift = packets.len();
    let sorted = order::frequency_order(&set, &packets, watch)?;
    memory::room_for("the second half of the stream", shift, size_of::<Packet>())?;
    match values.text("shift") {
        "none" => packets.extend_from_within(..),
        _ => packets.extend(adversary(&set.reordered(&sorted)?, shift, seed, watch)?),
    }
    Ok(Stream { set, sorted, packets, shift, checks })
}

/// Share of the adversary's packets that carry a key which nobody claims.
const UNCLAIMED: f64 = 0.5;
/// Packets drawn at a time.
const DRAW: usize = 4096;
/// Keeps the adversary's draws apart from the mix's, which have the same seed.
const ADVERSARYS_STREAM: u64 = 0xad5e_75a2_7c15_9e37;

/// What costs a scan in this order the most: packets for its last handler, and packets that no handler knows, in equal
/// shares by chance. Each asks every handler.
fn adversary(sorted: &HandlerSet, wanted: usize, seed: u64, watch: &Watch) -> Result<Vec<Packet>> {
    let last = *sorted.order().last().expect("a set is never empty");
    let law = Traffic::new(Law::Hot { handler: last }).unmatched(UNCLAIMED);
    let mut packets = memory::reserve("the adversary's packets", wanted)?;
    for draw in 0_u64.. {
        let drawn = law
            .clone()
            .seed(seed ^ ADVERSARYS_STREAM ^ draw.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .generate(DRAW, &sorted.keys(), &watch.silent())?;
        // The last handler may share its key with others that come first; the payload decides.
        let dearest = drawn
            .into_iter()
            .filter(|packet| reference::running(sorted, packet).is_none_or(|running| running == last));
        packets.extend(dearest.take(wanted - packets.len()));
        if packets.len() == wanted {
            break;
        }
    }
    Ok(packets)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::catalogue;
    use crate::dispatch::{SelectionArm, SelectionRecipe};
    use crate::race::Value;
    use crate::run::cells;

    fn values(set: &[(&str, Value)]) -> Values {
        let given: BTreeMap<String, Vec<Value>> =
            set.iter().map(|(name, value)| (name.to_string(), vec![value.clone()])).collect();
        let experiment = catalogue::find("dispatch.tail").expect("there");
        cells(experiment, &given, &Card::read()).expect("cells").remove(0)
    }

    fn made(shift: &str, more: &[(&str, Value)]) -> Stream {
        let set = [&[("shift", Value::Text(shift.into())), ("pool", Value::Int(4001))], more].concat();
        stream(&values(&set), 3, &Card::read(), &Watch::new()).expect("a stream")
    }

    #[test]
    fn without_a_shift_the_first_half_comes_again() {
        let stream = made("none", &[]);
        assert_eq!((stream.shift, stream.packets.len()), (2000, 4000));
        let (before, after) = stream.packets.split_at(stream.shift);
        assert_eq!(before, after);
    }

    #[test]
    fn the_adversarys_packets_ask_every_handler_of_the_sorted_scan() {
        for (handlers, residual_share) in [(1, 0.1), (10, 0.1), (100, 0.1), (100, 1.0), (37, 0.0)] {
            let more = [("handlers", Value::Int(handlers)), ("residual_share", Value::Float(residual_share))];
            let stream = made("adversary", &more);
            let scan = SelectionRecipe::scan_ordered(&stream.set, stream.sorted.clone()).expect("a recipe");
            let probes = scan.pass(&stream.packets, &Watch::new()).expect("a pass").probes;
            let after = &probes[stream.shift..];
            assert!(after.iter().all(|&probes| probes as i64 == handlers), "{handlers}, {residual_share}");
            // Both kinds are there.
            let plain = SelectionRecipe::new(SelectionArm::Scan, &stream.set, None).expect("a recipe");
            let ran = plain.pass(&stream.packets[stream.shift..], &Watch::new()).expect("a pass").handlers;
            let nobody = ran.iter().filter(|&&handler| handler == 0xFFFF).count() as f64 / ran.len() as f64;
            assert!((0.4..0.95).contains(&nobody), "{nobody}");
        }
    }

    #[test]
    fn before_the_shift_is_the_mix_that_the_list_was_sorted_for() {
        let (calm, shifted) = (made("none", &[]), made("adversary", &[]));
        assert_eq!(calm.packets[..calm.shift], shifted.packets[..shifted.shift]);
        assert_eq!(calm.sorted, shifted.sorted);
        let (counts, _) =
            order::run_counts(&calm.set, &calm.packets[..calm.shift], &Watch::new()).expect("counts");
        assert!(calm.sorted.windows(2).all(|pair| counts[pair[0]] >= counts[pair[1]]));
    }

    #[test]
    fn a_pool_without_halves_is_refused_and_a_stop_is_heard() {
        let one = values(&[("pool", Value::Int(1))]);
        let refused = stream(&one, 0, &Card::read(), &Watch::new()).err().expect("refused").to_string();
        assert!(refused.starts_with("pool = 1: wanted at least 2"), "{refused}");
        let watch = Watch::new();
        watch.stop();
        assert!(matches!(stream(&values(&[]), 0, &Card::read(), &watch), Err(Error::Interrupted)));
    }
}
