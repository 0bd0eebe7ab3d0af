//! What a profile blames: the loop, the `matches` that it asks, the `process` that it runs.

use std::collections::HashMap;

use serde::Serialize;

use super::Events;
use super::profile::{Dump, Function};

/// A part of an arm's work. A profiler names functions; these are what the functions are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The arm's own loop, which is what a profile calls "dispatch": with everything inlined into it.
    Loop,
    /// Asking a handler whether a packet is its own.
    Matches,
    /// A handler's work.
    Process,
    /// Anything else.
    Other,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 4] = [Part::Loop, Part::Matches, Part::Process, Part::Other];
}

/// One part's costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PartCost {
    /// Which.
    pub part: Part,
    /// How often its functions were called from elsewhere: a jump table that ends in a body is one call with it.
    pub calls: u64,
    /// What its own functions cost.
    pub exclusive: Events,
    /// What they cost with everything that they called.
    pub inclusive: Events,
}

/// One function's costs; functions that differ in their type or constant parameters alone are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionCost {
    /// Its name, without its parameters.
    pub function: String,
    /// Its part.
    pub part: Part,
    /// How often it was called from elsewhere.
    pub calls: u64,
    /// Its own cost.
    pub exclusive: Events,
    /// With everything that it called.
    pub inclusive: Events,
}

/// Where a region's cost fell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// By part, every part once.
    pub parts: Vec<PartCost>,
    /// By function, the dearest first.
    pub functions: Vec<FunctionCost>,
}

/// Functions that are listed; the rest is in the parts.
const MOST_FUNCTIONS: usize = 20;

impl Profile {
    /// Sorts a dump's functions into parts. `harness` ends the name of the function that called the arm: what it called is
    /// the loop.
    pub(super) fn of(dump: &Dump, harness: &str) -> Profile {
        let names: Vec<String> = dump.functions.iter().map(|function| plain(&function.symbol)).collect();
        let mut parts: Vec<Part> = names.iter().map(|name| part_by_name(name)).collect();
        let is_harness = |at: usize| last_segment(&names[at]) == harness;
        for at in (0..names.len()).filter(|&at| is_harness(at)) {
            for call in &dump.functions[at].calls {
                parts[call.callee] = Part::Loop;
            }
        }
        // What calls the loop belongs to no part of the work but with its own few instructions.
        let by_part = grouped(&dump.functions, is_harness, |at| parts[at]);
        let cost = |part| by_part.iter().find(|(group, ..)| *group == part).map(|(_, cost)| *cost);
        let parts_cost = Part::ALL.map(|part| {
            let (calls, exclusive, inclusive) = cost(part).unwrap_or_default();
            PartCost { part, calls, exclusive, inclusive }
        });
        let mut functions: Vec<FunctionCost> =
            grouped(&dump.functions, |_| false, |at| (names[at].clone(), parts[at]))
                .into_iter()
                .map(|((function, part), (calls, exclusive, inclusive))| FunctionCost {
                    function,
                    part,
                    calls,
                    exclusive,
                    inclusive,
                })
                .collect();
        functions.sort_by(|a, b| {
            (b.exclusive.instructions, &a.function).cmp(&(a.exclusive.instructions, &b.function))
        });
        functions.truncate(MOST_FUNCTIONS);
        Profile { parts: parts_cost.to_vec(), functions }
    }
}

/// Calls, exclusive and inclusive cost of groups of functions. What happens within a group is neither a call of it nor, so,
/// cost twice; calls of functions that `leaves_out` names count as calls, and not in their caller's inclusive cost.
fn grouped<G: std::hash::Hash + Eq + Clone>(
    functions: &[Function],
    leaves_out: impl Fn(usize) -> bool,
    group: impl Fn(usize) -> G,
) -> Vec<(G, (u64, Events, Events))> {
    let mut groups: HashMap<G, (u64, Events, Events)> = HashMap::new();
    for (at, function) in functions.iter().enumerate() {
        let own = group(at);
        let mut called = Events::default();
        for call in &function.calls {
            let callee = group(call.callee);
            if callee != own {
                called += call.inclusive;
                groups.entry(callee).or_default().0 += call.count;
            }
        }
        let (_, exclusive, inclusive) = groups.entry(own).or_default();
        *exclusive += function.exclusive;
        *inclusive += function.exclusive;
        if !leaves_out(at) {
            *inclusive += called;
        }
    }
    groups.into_iter().collect()
}

/// A symbol's name without its hash and its parameters: `<dispatch::Generated as Handler>::matches` for all handlers.
fn plain(symbol: &str) -> String {
    // callgrind appends `'2` and so on to levels of a recursion.
    let symbol = symbol.split('\'').next().unwrap_or(symbol);
    // The alternate form leaves the hash out.
    without_parameters(&format!("{:#}", rustc_demangle::demangle(symbol)))
}

/// A path without what stands in angle brackets behind a name; brackets that begin a path, `<A as B>::c`, stay.
fn without_parameters(path: &str) -> String {
    let (mut kept, mut depth, mut before) = (String::with_capacity(path.len()), 0usize, ' ');
    for character in path.chars() {
        let follows_a_name = before.is_alphanumeric() || matches!(before, '_' | ':');
        match character {
            '<' if depth > 0 || follows_a_name => depth += 1,
            // The arrow of a function's type closes nothing.
            '>' if depth > 0 && before != '-' => depth -= 1,
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
        before = character;
    }
    kept.trim_end_matches(':').to_owned()
}

/// The last segment of a path.
fn last_segment(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn part_by_name(name: &str) -> Part {
    match last_segment(name) {
        // A residual predicate is what is left of `matches` once the key is settled.
        "matches" | "holds" => Part::Matches,
        "process" => Part::Process,
        _ => Part::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATCHES: &str = "_ZN110_$LT$nanokata..dispatch..generated..Generated$LT$_$C$P$GT$$u20$as$u20$nanokata..dispatch..handler..Handler$GT$7matches17h0123456789abcdefE";

    #[test]
    fn names_lose_hash_and_parameters() {
        let name = plain(MATCHES);
        assert!(name.ends_with(">::matches"), "{name}");
        assert_eq!(plain(&MATCHES.replace("0123", "4567")), name);
        assert_eq!(plain("a::b::replay::<x::Y, fn(A) -> B, 3>"), "a::b::replay");
        assert_eq!(plain("<a::G<5, b::Fat> as c::H>::process"), "<a::G as c::H>::process");
        assert_eq!(part_by_name("<a::B as c::D>::process"), Part::Process);
        assert_eq!(part_by_name("<a::matches as c::D>::other"), Part::Other);
        assert_eq!(plain("process'2"), "process");
    }

    fn dump() -> Dump {
        let matches = MATCHES;
        let again = MATCHES.replace("0123", "4567");
        Dump::parse(&format!(
            "events: Ir\nfn=x::measured\n0 5\ncfn=x::replay\ncalls=1 0\n0 95\n\
             fn=x::replay\n0 20\ncfn={matches}\ncalls=4 0\n0 12\ncfn={again}\ncalls=2 0\n0 6\n\
             cfn=y::process\ncalls=1 0\n0 57\n\
             fn={matches}\n0 12\nfn={again}\n0 6\nfn=y::process\n0 50\ncfn=y::step\ncalls=7 0\n0 7\nfn=y::step\n0 7\n"
        ))
        .expect("a dump")
    }

    #[test]
    fn the_loop_is_what_the_harness_called() {
        let profile = Profile::of(&dump(), "measured");
        let seen: Vec<(Part, u64, u64, u64)> = profile
            .parts
            .iter()
            .map(|cost| (cost.part, cost.calls, cost.exclusive.instructions, cost.inclusive.instructions))
            .collect();
        assert_eq!(
            seen,
            [
                (Part::Loop, 1, 20, 95),
                (Part::Matches, 6, 18, 18),
                (Part::Process, 1, 50, 57),
                (Part::Other, 7, 12, 12),
            ]
        );
        let exclusive: u64 = profile.parts.iter().map(|cost| cost.exclusive.instructions).sum();
        assert_eq!(exclusive, dump().sum().instructions);
    }

    #[test]
    fn functions_that_differ_in_parameters_are_one() {
        let profile = Profile::of(&dump(), "measured");
        let matches: Vec<&FunctionCost> =
            profile.functions.iter().filter(|cost| cost.part == Part::Matches).collect();
        assert_eq!(matches.len(), 1);
        assert_eq!((matches[0].calls, matches[0].exclusive.instructions), (6, 18));
        assert_eq!(profile.functions[0].function, "y::process");
    }

    #[test]
    fn without_the_harness_there_is_no_loop() {
        let profile = Profile::of(&dump(), "somebody_else");
        assert_eq!(profile.parts[0].exclusive, Events::default());
        assert_eq!(profile.parts[3].exclusive.instructions, 32);
    }
}
