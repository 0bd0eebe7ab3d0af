//! The handlers and packets of a dispatch experiment, from its parameters.

use std::collections::HashSet;
use std::path::Path;

use crate::Result;
use crate::dispatch::{Body, HandlerSet, HandlerSpec, MAX_HANDLERS, Residual, audit, input_audit};
use crate::machine::{Card, memory};
use crate::race::{Check, Kind, Parameter, Value, Values, Watch};
use crate::traffic::{self, KeyRule, Law, Packet, Traffic};

/// Pool of the published kata: 32,768 packets, 1 MiB.
const PUBLISHED_POOL: i64 = 32_768;
/// Largest pool: 256 MiB, far past any L2. Each block copies it, which must not take long between two looks at the watch.
const LARGEST_POOL: i64 = 1 << 23;
/// Laws that a traffic parameter takes.
pub const LAWS: [&str; 6] = ["uniform", "zipf", "skewed", "worst", "hot", "periodic"];
const KEY_RULES: [&str; 2] = ["ip_protocol", "destination_port"];

/// Handlers, packets, and what was found out about them before anything is timed.
pub struct Workload {
    pub set: HandlerSet,
    pub packets: Vec<Packet>,
    /// Exact weights by handler, where the traffic follows a law; `None` for a capture.
    pub weights: Option<Vec<f64>>,
    pub unmatched: f64,
    pub checks: Vec<Check>,
}

/// Bodies that a workload parameter takes: `identical` is a trap.
pub fn bodies() -> Vec<&'static str> {
    Body::ALL.iter().map(|body| body.name()).collect()
}

/// How many handlers: whole numbers up to what is compiled.
pub fn handlers() -> Kind {
    Kind::Int { low: 1, high: MAX_HANDLERS as i64 }
}

/// The parameters that all dispatch experiments share, besides handlers, body and traffic themselves.
pub fn parameters(card: &Card) -> Vec<Parameter> {
    // Half of the L2, so that pool, tables and objects stay in it together.
    let half_l2 = card.l2_bytes().map(|bytes| (bytes / 2 / size_of::<Packet>()) as i64);
    vec![
        Parameter::new(
            "exponent",
            Kind::Float { low: 0.0, high: 20.0 },
            Value::Float(1.1),
            "of zipf: weight 1/(rank+1)^exponent",
        ),
        Parameter::new(
            "share",
            Kind::Float { low: 0.0, high: 1.0 },
            Value::Float(0.95),
            "of skewed: share of the top ranks together",
        ),
        Parameter::new(
            "top",
            Kind::Int { low: 1, high: MAX_HANDLERS as i64 },
            Value::Int(2),
            "of skewed: how many top ranks",
        ),
        Parameter::new(
            "period",
            Kind::Int { low: 1, high: MAX_HANDLERS as i64 },
            Value::Int(4),
            "of periodic: packets until the order repeats",
        ),
        Parameter::new(
            "unmatched",
            Kind::Float { low: 0.0, high: 1.0 },
            Value::Float(traffic::DEFAULT_UNMATCHED),
            "share of packets that no handler knows",
        ),
        Parameter::new(
            "residual_share",
            Kind::Float { low: 0.0, high: 1.0 },
            Value::Float(0.10),
            "share of handlers that test more than their key",
        ),
        Parameter::new(
            "shuffle",
            Kind::Flag,
            Value::Flag(true),
            "whether ranks go to handlers by a drawn permutation; false is the rigged generator",
        ),
        Parameter::new(
            "pool",
            Kind::Int { low: 1, high: LARGEST_POOL },
            Value::Int(half_l2.unwrap_or(PUBLISHED_POOL).clamp(1, LARGEST_POOL)),
            "packets that every arm replays; half of this machine's L2 by default",
        )
        .unit("packets"),
        Parameter::new(
            "key",
            Kind::Choice { choices: KEY_RULES.to_vec() },
            Value::Text(KEY_RULES[0].into()),
            "of a capture: what a packet's key is",
        ),
    ]
}

/// The traffic parameter: a law's name, or a capture's path.
pub fn traffic(default: &str) -> Parameter {
    Parameter::new(
        "traffic",
        Kind::ChoiceOrFile { choices: LAWS.to_vec() },
        Value::Text(default.into()),
        "law that draws the packets, or the path of a pcap or pcapng file",
    )
}

/// Makes the workload that `values` ask for.
pub fn workload(values: &Values, seed: u64, card: &Card, watch: &Watch) -> Result<Workload> {
    let body = body(values.text("body"));
    let handlers = values.size("handlers");
    let name = values.text("traffic");
    let law = law(name, values, handlers);
    let asked_for = law.is_some().then_some(name);
    let mut workload = match law {
        Some(law) => drawn(law, values, body, handlers, seed, watch)?,
        None => captured(Path::new(name), values, body, handlers, seed, watch)?,
    };
    workload.checks.extend(audit::checks(&[&workload.set], &workload.packets, card, watch)?);
    workload.checks.extend(input_audit::checks(&workload.set, &workload.packets, asked_for, watch)?);
    Ok(workload)
}

/// The body of that name, which the parameter has accepted.
pub fn body(name: &str) -> Body {
    Body::ALL.into_iter().find(|body| body.name() == name).expect("a declared choice")
}

/// The law of that name; `None` for a capture's path.
pub fn law(name: &str, values: &Values, handlers: usize) -> Option<Law> {
    Some(match name {
        "uniform" => Law::Uniform,
        "zipf" => Law::Zipf { exponent: values.float("exponent") },
        "skewed" => Law::Skewed { share: values.float("share"), top: values.size("top") },
        "worst" => Law::Worst,
        // The middle one: neither the best nor the worst place in a list.
        "hot" => Law::Hot { handler: handlers / 2 },
        "periodic" => Law::Periodic { period: values.size("period") },
        _ => return None,
    })
}

fn drawn(
    law: Law,
    values: &Values,
    body: Body,
    handlers: usize,
    seed: u64,
    watch: &Watch,
) -> Result<Workload> {
    let set = HandlerSet::standard(handlers, body, values.float("residual_share"), seed)?;
    over(set, law, values, seed, seed, watch)
}

/// Packets by a law over handlers of the caller's own; `permutation_seed` draws which of them holds which rank. Audits are
/// left to the caller.
pub fn over(
    set: HandlerSet,
    law: Law,
    values: &Values,
    seed: u64,
    permutation_seed: u64,
    watch: &Watch,
) -> Result<Workload> {
    let handlers = set.len();
    let unmatched = values.float("unmatched");
    let traffic = Traffic::new(law)
        .unmatched(unmatched)
        .seed(seed)
        .permutation_seed(permutation_seed)
        .shuffle(values.flag("shuffle"));
    let weights = traffic.handler_weights(handlers)?;
    let packets = traffic.generate(values.size("pool"), &set.keys(), &watch.silent())?;
    Ok(Workload { set, packets, weights: Some(weights), unmatched, checks: Vec::new() })
}

/// A capture's own packets, repeated or cut to the pool, and handlers for its most frequent keys; where it has fewer
/// keys than handlers were asked for, the rest claim keys that it never uses, as in a service that knows more
/// protocols than it sees.
pub fn captured(
    path: &Path,
    values: &Values,
    body: Body,
    handlers: usize,
    seed: u64,
    watch: &Watch,
) -> Result<Workload> {
    let rule = match values.text("key") {
        "destination_port" => KeyRule::DestinationPort,
        _ => KeyRule::IpProtocol,
    };
    let capture = traffic::read_capture(path, rule, &watch.silent())?;
    let seen = HandlerSet::from_packets(&capture.packets, handlers, body, seed, watch)?;
    let mut specs = seen.specs().to_vec();
    let used: HashSet<u16> =
        traffic::key_counts(&capture.packets, watch)?.into_iter().map(|(key, _)| key).collect();
    let unused = (0..=u16::MAX).filter(|key| !used.contains(key));
    specs
        .extend(unused.take(handlers - specs.len()).map(|key| HandlerSpec { key, residual: Residual::None }));
    // Spread the seen keys over the list: appended as they are, the unused ones would all stand behind.
    shuffle(&mut specs, seed);
    let set = HandlerSet::from_specs(specs, body)?;
    let pool = values.size("pool");
    let packets = repeated(&capture.packets, pool, watch)?;
    let claimed: HashSet<u16> = set.keys().into_iter().collect();
    let counts = traffic::key_counts(&packets, watch)?;
    let unmatched: u64 =
        counts.iter().filter(|(key, _)| !claimed.contains(key)).map(|&(_, count)| count).sum();
    let detail = format!(
        "{} frames, {} without a key, {} with payload beyond {} bytes; {} keys seen, {} handlers; {}",
        capture.frames,
        capture.skipped,
        capture.cut_payloads,
        traffic::packet::PAYLOAD_BYTES,
        used.len(),
        set.len(),
        if capture.packets.len() < pool { "repeated to fill the pool" } else { "cut to the pool" }
    );
    let unmatched = unmatched as f64 / packets.len() as f64;
    Ok(Workload {
        set,
        packets,
        weights: None,
        unmatched,
        checks: vec![Check::new("capture", capture.skipped <= capture.packets.len(), detail)],
    })
}

/// Packets copied between two looks at the watch: some 0.2 ms of work.
const CHUNK: usize = 64 * 1024;

/// `packets` from the beginning, over and over, until there are `pool` of them.
fn repeated(packets: &[Packet], pool: usize, watch: &Watch) -> Result<Vec<Packet>> {
    let mut filled = memory::reserve(&format!("a pool of {pool} packets"), pool)?;
    let mut rest = packets.iter().copied().cycle().take(pool);
    while filled.len() < pool {
        watch.check()?;
        filled.extend(rest.by_ref().take(CHUNK));
    }
    Ok(filled)
}

fn shuffle(specs: &mut [HandlerSpec], seed: u64) {
    use rand::seq::SliceRandom;
    use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
    specs.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn three() -> Vec<Packet> {
        [6, 17, 1].map(|protocol| Packet { protocol, length: 0, flow: 0, payload: [0; 24] }).to_vec()
    }

    #[test]
    fn a_capture_is_repeated_or_cut() {
        let keys = |pool| {
            let pool = repeated(&three(), pool, &Watch::new()).unwrap();
            pool.iter().map(|packet| packet.protocol).collect::<Vec<u16>>()
        };
        assert_eq!(keys(2), [6, 17]);
        assert_eq!(keys(7), [6, 17, 1, 6, 17, 1, 6]);
        let many = keys(2 * CHUNK + 5);
        assert!(many.len() == 2 * CHUNK + 5 && many.chunks(3).all(|some| [6, 17, 1].starts_with(some)));
    }

    #[test]
    fn a_pool_past_the_memory_is_refused_and_a_stop_is_heard() {
        assert!(matches!(repeated(&three(), 1 << 55, &Watch::new()), Err(Error::OutOfMemory { .. })));
        let watch = Watch::new();
        watch.stop();
        assert!(matches!(repeated(&three(), 10, &watch), Err(Error::Interrupted)));
    }
}
