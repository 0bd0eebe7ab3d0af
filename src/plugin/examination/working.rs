//! A plugin at work on packets: what it says of them, and what it does besides.

use std::ffi::c_void;

use super::lease::Lease;
use super::report::Reporter;
use super::subject::undefined;
use super::{Stage, Subject, traffic};
use crate::plugin::abi;
use crate::traffic::Packet;

/// Packets, and what an instance made of each: `None` where it took it for not its own.
#[derive(Debug)]
pub struct Seen {
    /// Claim's place and packet.
    pub packets: Vec<(usize, Packet)>,
    /// What was computed.
    pub values: Vec<Option<u64>>,
}

/// Lends an instance packets that it claims; `None` where what it says can't be relied on.
pub fn claimed(
    subject: &Subject,
    instance: *mut c_void,
    lease: &mut Lease,
    reporter: &mut Reporter<'_>,
) -> Option<Seen> {
    let packets = traffic::claimed(&subject.claims);
    let mut touched = None;
    let mut values = Vec::with_capacity(packets.len());
    let worked = reporter.stage(Stage::Process, || {
        for (place, packet) in &packets {
            let (answer, wrote) = subject.process(lease, instance, packet, 0);
            touched = touched
                .take()
                .or(wrote.map(|what| format!("{what}, for a packet of key {}", packet.protocol)));
            values.push(subject.judge(*place, &answer)?);
        }
        let taken = values.iter().flatten().count();
        Ok(((), format!("{} packets: {taken} processed, {} not its own", values.len(), values.len() - taken)))
    });
    reporter.check(Stage::Packet, || match touched {
        None => Ok("packets and what lies behind them and the results stayed as they were".into()),
        Some(what) => Err(format!("it wrote {what}; packets are lent to be read")),
    });
    worked.map(|()| Seen { packets, values })
}

/// Lends it packets that it doesn't claim: the host won't, but a table that is wrong might.
pub fn unclaimed(subject: &Subject, instance: *mut c_void, lease: &mut Lease, reporter: &mut Reporter<'_>) {
    reporter.check(Stage::Unclaimed, || {
        let (mut refused, mut failed, mut taken) = (0, 0, 0);
        for packet in traffic::unclaimed(&subject.claims) {
            match subject.process(lease, instance, &packet, 0).0.status {
                abi::OK => taken += 1,
                abi::NOT_MINE => refused += 1,
                status if status > 0 => return Err(undefined(status, packet.protocol)),
                _ => failed += 1,
            }
        }
        Ok(format!(
            "survived: {refused} told to be not its own, {failed} errors, {taken} taken for its own; none is ever lent"
        ))
    });
}

/// Lends it the same packets again, twice, with other bytes in the results beforehand.
pub fn again(
    subject: &Subject,
    instance: *mut c_void,
    lease: &mut Lease,
    seen: &Seen,
    reporter: &mut Reporter<'_>,
) {
    reporter.check(Stage::Determinism, || {
        for ((place, packet), first) in seen.packets.iter().zip(&seen.values) {
            for before in [u64::MAX, 0x5555_5555_5555_5555] {
                let (answer, _) = subject.process(lease, instance, packet, before);
                let value = subject.judge(*place, &answer)?;
                if value == Some(before) && *first == Some(0) {
                    return Err(format!("value isn't written for a packet of key {}", packet.protocol));
                }
                same(packet, *first, value)?;
            }
        }
        Ok(format!("{} packets gave the same results three times", seen.packets.len()))
    });
}

/// Lends it each packet in memory of its own, and takes that back before the next. What was lent is returned: as long as
/// it isn't given to the system, nothing else takes its place.
pub fn lent(
    subject: &Subject,
    instance: *mut c_void,
    seen: &Seen,
    reporter: &mut Reporter<'_>,
) -> Vec<Lease> {
    let mut leases = Vec::new();
    reporter.check(Stage::Lent, || {
        for ((place, packet), first) in seen.packets.iter().zip(&seen.values).take(64) {
            let mut lease = Lease::roomy()?;
            let (answer, _) = subject.process(&mut lease, instance, packet, 0);
            lease.take_back()?;
            leases.push(lease);
            same(packet, *first, subject.judge(*place, &answer)?)?;
        }
        Ok(format!("{} packets taken back after their calls; none was missed", leases.len()))
    });
    leases
}

/// Lends it packets with nothing behind them.
pub fn bounds(
    subject: &Subject,
    instance: *mut c_void,
    seen: &Seen,
    reporter: &mut Reporter<'_>,
) -> Option<Lease> {
    let mut lease = None;
    reporter.check(Stage::Bounds, || {
        let tight = lease.insert(Lease::tight()?);
        for ((place, packet), first) in seen.packets.iter().zip(&seen.values) {
            let (answer, _) = subject.process(tight, instance, packet, 0);
            same(packet, *first, subject.judge(*place, &answer)?)?;
        }
        Ok("payloads, views and results with no memory behind them".into())
    });
    lease
}

/// Two instances at work in turn, one of which ends before the other.
pub fn instances(
    subject: &Subject,
    instance: *mut c_void,
    lease: &mut Lease,
    seen: &Seen,
    reporter: &mut Reporter<'_>,
) {
    reporter.check(Stage::Instances, || {
        let other = subject.create().map_err(|said| format!("the second time {said}"))?;
        let count = seen.packets.len();
        let mut one = |instance, at: usize| {
            let (place, packet) = &seen.packets[at];
            let (answer, _) = subject.process(lease, instance, packet, 0);
            same(packet, seen.values[at], subject.judge(*place, &answer)?)
        };
        for at in 0..count {
            one(instance, at)?;
            one(other, count - 1 - at)?;
        }
        subject.destroy(other);
        (0..count).try_for_each(|at| one(instance, at))?;
        Ok("two at work in turn, and one after the other's end, compute what one alone does".into())
    });
}

/// Whether a packet came out as it did the first time.
pub fn same(packet: &Packet, first: Option<u64>, now: Option<u64>) -> Result<(), String> {
    let said = |value: Option<u64>| value.map_or("not its own".into(), |value| format!("{value:#x}"));
    if first == now {
        return Ok(());
    }
    Err(format!(
        "{} for a packet of key {}, then {} for the same packet",
        said(first),
        packet.protocol,
        said(now)
    ))
}
