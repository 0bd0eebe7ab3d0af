//! Reads what callgrind wrote: exclusive and inclusive costs by function.
//!
//! The format is documented in valgrind's manual ("Callgrind Format Specification"): text, a header, then cost lines below
//! the function that they belong to, a call's inclusive cost below its `calls=` line, and names that are written once and
//! numbered after that. Nothing is read but functions, calls and costs.

use std::collections::HashMap;

use super::Events;
use crate::{Error, Result};

/// One dump: its total and its functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dump {
    /// What triggered it, as the dump says.
    pub trigger: String,
    /// What callgrind says that the region cost.
    pub totals: Events,
    /// The functions that cost anything or were called.
    pub functions: Vec<Function>,
}

/// One function's costs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Function {
    /// Its symbol, as linked.
    pub symbol: String,
    /// Its own code's cost.
    pub exclusive: Events,
    /// What it called, by the callee's place in the list.
    pub calls: Vec<Call>,
}

/// All calls of one function from one place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    /// The callee's place in the list of functions.
    pub callee: usize,
    /// How often.
    pub count: u64,
    /// What the callee cost during them, with everything that it called.
    pub inclusive: Events,
}

impl Dump {
    /// Reads a dump.
    ///
    /// # Errors
    /// [`Error::NotMeasurable`] with the line that isn't understood: another version of the format.
    pub fn parse(text: &str) -> Result<Dump> {
        let mut reader = Reader { positions: 1, ..Reader::default() };
        for (at, line) in text.lines().enumerate() {
            reader.line(line.trim_end()).map_err(|why| Error::NotMeasurable {
                what: "callgrind's output".into(),
                reason: format!("line {} ({line:?}) {why}; this reads format version 1", at + 1),
            })?;
        }
        Ok(reader.dump)
    }

    /// Own costs of all functions: what [`Dump::totals`] must equal.
    pub fn sum(&self) -> Events {
        self.functions.iter().fold(Events::default(), |sum, function| sum + function.exclusive)
    }
}

#[derive(Default)]
struct Reader {
    dump: Dump,
    /// Events of a cost line, in order.
    events: Vec<String>,
    /// Numbers of a cost line before the costs.
    positions: usize,
    /// Functions by object and symbol: two objects may each have their `init`.
    places: HashMap<(String, String), usize>,
    /// Names by number: of functions, and of objects.
    functions: HashMap<u64, String>,
    objects: HashMap<u64, String>,
    object: String,
    /// The object of the next callee, where it isn't the caller's.
    callee_object: Option<String>,
    current: Option<usize>,
    callee: Option<usize>,
    /// How often the callee was called, where the next cost line is that of the calls.
    calls: Option<u64>,
}

type Outcome<T> = std::result::Result<T, &'static str>;

impl Reader {
    fn line(&mut self, line: &str) -> Outcome<()> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '*')) {
            return self.costs(line);
        }
        // A specification line, `fn=(3) name`, has its equals sign before any blank; a header, `cmd: a b=c`, a colon.
        let (key, value, specification) = match (line.find('='), line.find(": ")) {
            (Some(equals), colon) if colon.is_none_or(|colon| equals < colon) => {
                (&line[..equals], &line[equals + 1..], true)
            }
            (_, Some(colon)) => (&line[..colon], &line[colon + 2..], false),
            (_, None) => (line.trim_end_matches(':'), "", false),
        };
        if specification { self.specification(key, value) } else { self.header(key, value) }
    }

    fn header(&mut self, key: &str, value: &str) -> Outcome<()> {
        match key {
            "version" if value.trim() != "1" => return Err("names another version"),
            "events" => self.events = value.split_whitespace().map(str::to_owned).collect(),
            "positions" => self.positions = value.split_whitespace().count(),
            "totals" => self.dump.totals = self.events_from(value.split_whitespace())?,
            "desc" => {
                if let Some(trigger) = value.strip_prefix("Trigger: ") {
                    self.dump.trigger = trigger.to_owned();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn specification(&mut self, key: &str, value: &str) -> Outcome<()> {
        match key {
            "ob" => self.object = named(&mut self.objects, value)?,
            "cob" => self.callee_object = Some(named(&mut self.objects, value)?),
            "fn" => {
                let symbol = named(&mut self.functions, value)?;
                self.current = Some(self.place(self.object.clone(), symbol));
            }
            "cfn" => {
                let symbol = named(&mut self.functions, value)?;
                let object = self.callee_object.take().unwrap_or_else(|| self.object.clone());
                self.callee = Some(self.place(object, symbol));
            }
            "calls" => {
                let count = value.split_whitespace().next().and_then(|count| count.parse().ok());
                self.calls = Some(count.ok_or("has no number of calls")?);
            }
            // Files, and jumps (only with --collect-jumps).
            "fl" | "fi" | "fe" | "cfi" | "cfl" | "jump" | "jcnd" | "jfi" | "jfn" => {}
            _ => return Err("specifies something unknown"),
        }
        Ok(())
    }

    fn costs(&mut self, line: &str) -> Outcome<()> {
        let cost = self.events_from(line.split_whitespace().skip(self.positions))?;
        let current = self.current.ok_or("is a cost of no function")?;
        match self.calls.take() {
            Some(count) => {
                let callee = self.callee.ok_or("is a call of no function")?;
                self.dump.functions[current].calls.push(Call { callee, count, inclusive: cost });
            }
            None => self.dump.functions[current].exclusive += cost,
        }
        Ok(())
    }

    /// Costs in the order of the header's events; zeros at the end are left out.
    fn events_from<'a>(&self, numbers: impl Iterator<Item = &'a str>) -> Outcome<Events> {
        let mut events = Events::default();
        for (at, number) in numbers.enumerate() {
            let number: u64 = number.parse().map_err(|_| "has something else than a count")?;
            let event = self.events.get(at).ok_or("has more counts than the header has events")?;
            if let Some(field) = events.field(event) {
                *field += number;
            }
        }
        Ok(events)
    }

    fn place(&mut self, object: String, symbol: String) -> usize {
        let functions = &mut self.dump.functions;
        *self.places.entry((object, symbol.clone())).or_insert_with(|| {
            functions.push(Function { symbol, ..Function::default() });
            functions.len() - 1
        })
    }
}

/// Resolves `(7) name` (and remembers it), `(7)`, or a name that isn't numbered.
fn named(known: &mut HashMap<u64, String>, value: &str) -> Outcome<String> {
    let Some((number, name)) = value.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Ok(value.to_owned());
    };
    let Ok(number) = number.parse() else {
        // `(below main)` is a name.
        return Ok(value.to_owned());
    };
    match name.trim() {
        "" => known.get(&number).cloned().ok_or("names a number that wasn't given a name"),
        name => {
            known.insert(number, name.to_owned());
            Ok(name.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Made by hand after the manual's own example, with compressed names and positions.
    const SAMPLE: &str = "\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd: program --option=1
desc: Trigger: Client Request: arm

positions: line
events: Ir Dr I1mr Bi Bim
summary: 1420 20 9 12 3

ob=(1) core.so
fl=(1) ???
fn=(1) measured
0 20
cfn=(2) looping
calls=1 0
0 1400 20 9 12 3

fn=(2)
0 300 10 2
cfn=(3) matches
calls=10 0
0 100
+3 500 0 2 10 1
cob=(2) other.so
cfn=(4) process
calls=2 0
* 500 10 5 2 2

fn=(3)
0 100

ob=(2)
fn=(4)
-3 500 10 5 2 2

totals: 1420 20 9 12 3
";

    fn inclusive(function: &Function) -> Events {
        function.calls.iter().fold(function.exclusive, |sum, call| sum + call.inclusive)
    }

    fn sample() -> Dump {
        Dump::parse(SAMPLE).expect("a dump")
    }

    #[test]
    fn costs_are_exclusive_calls_inclusive() {
        let dump = sample();
        assert_eq!(dump.trigger, "Client Request: arm");
        let names: Vec<&str> = dump.functions.iter().map(|function| function.symbol.as_str()).collect();
        assert_eq!(names, ["measured", "looping", "matches", "process"]);
        let instructions: Vec<(u64, u64)> = dump
            .functions
            .iter()
            .map(|function| (function.exclusive.instructions, inclusive(function).instructions))
            .collect();
        assert_eq!(instructions, [(20, 1420), (800, 1400), (100, 100), (500, 500)]);
        let looping = &dump.functions[1];
        assert_eq!(
            looping.calls.iter().map(|call| (call.callee, call.count)).collect::<Vec<_>>(),
            [(2, 10), (3, 2)]
        );
        assert_eq!((looping.exclusive.indirect_mispredicts, looping.exclusive.i1_misses), (1, 4));
        assert_eq!(dump.sum(), dump.totals);
    }

    #[test]
    fn a_line_that_is_lost_breaks_the_sum() {
        let lost = SAMPLE.replace("+3 500 0 2 10 1\n", "");
        let dump = Dump::parse(&lost).expect("still a dump");
        assert_ne!(dump.sum(), dump.totals);
    }

    #[test]
    fn the_same_name_in_two_objects_is_two_functions() {
        let text = "events: Ir\nob=(1) a\nfn=(1) init\n0 1\nob=(2) b\nfn=(1)\n0 2\n";
        assert_eq!(Dump::parse(text).expect("a dump").functions.len(), 2);
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        for (text, why) in [
            ("version: 2\n", "another version"),
            ("events: Ir\n0 5\n", "no function"),
            ("events: Ir\nfn=(1) a\n0 x\n", "else than a count"),
            ("events: Ir\nfn=(1) a\n0 1 2\n", "more counts"),
            ("events: Ir\nfn=(9)\n", "wasn't given a name"),
            ("events: Ir\nfn=(1) a\ncalls=x 0\n", "number of calls"),
            ("events: Ir\nfn=(1) a\ncalls=1 0\n0 4\n", "call of no function"),
            ("zz=(1) a\n", "something unknown"),
        ] {
            let error = Dump::parse(text).expect_err(text).to_string();
            assert!(error.contains(why) && error.contains("line"), "{text:?}: {error}");
        }
    }

    #[test]
    fn names_in_brackets_are_names() {
        let dump = Dump::parse("events: Ir\nfn=(1) (below main)\n0 1\nfn=plain\n0 2\n").expect("a dump");
        assert_eq!(dump.functions[0].symbol, "(below main)");
        assert_eq!(dump.functions[1].symbol, "plain");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(events: Ir\n)?([a-z]{1,4}[=:] ?\\(?[0-9]?\\)?[a-z ]{0,4}\n|[0-9+*-]{1,3} [0-9 ]{0,6}\n){0,12}") {
            let _ = Dump::parse(&text);
        }

        #[test]
        fn exclusive_costs_add_up(costs in proptest::collection::vec((0usize..5, 0u64..1 << 40), 0..50)) {
            let mut text = String::from("positions: line\nevents: Ir\n");
            for (function, cost) in &costs {
                text += &format!("fn=f{function}\n0 {cost}\n");
            }
            let sum = costs.iter().map(|(_, cost)| cost).sum::<u64>();
            prop_assert_eq!(Dump::parse(&text).expect("a dump").sum().instructions, sum);
        }
    }
}
