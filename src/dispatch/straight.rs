//! Straight lines of direct calls: code to fetch, and nothing to guess.
//!
//! A line is [`CALLS`] call sites one after another, each a direct call of one body. Over `k` bodies, site `s` calls
//! body `s % k`. Whatever `k` is, a pass executes the same number of calls from the same number of sites, with the same
//! data; no call is indirect, so no target has to be predicted from a register. What differs is how much distinct code
//! the calls run: `k` bodies.

use std::collections::BTreeSet;

use seq_macro::seq;

use super::body::{Fat, Program, Tiny};
use super::generated::{Code, Fields, Generated};
use super::machine_code::{self, MachineCode};
use super::{Body, Handler, HandlerSpec, Residual, reference};
use crate::race::placement::code_copies;
use crate::race::{
    Arm, CODE_COPIES, Check, Checksum, Input, Placed, Placement, Recipe, Reference, Source, Window,
    code_padding,
};
use crate::traffic::Packet;
use crate::{Error, Result};

/// Call sites of a line. Few enough that the sites' own code (some 40 bytes each) stays small beside an instruction
/// cache; enough for fat bodies to fill 32 KiB six times over; and a number with many divisors, so that each body of a
/// line is called equally often.
pub const CALLS: usize = 120;

/// The body that a site calls.
const fn called(site: usize, bodies: usize) -> usize {
    site % bodies
}

/// A line over some number of bodies.
trait Line: 'static {
    /// Calls body after body, a packet each, and folds what they return; stops at the last packet.
    fn run<P: Program, const COPY: usize>(object: &Fields, packets: &[Packet]) -> Checksum;
}

/// The line over `BODIES` of them.
struct Over<const BODIES: usize>;

macro_rules! lines {
    ($($bodies:literal)*) => {
        /// How many bodies a line can have: those that are compiled. Divisors of [`CALLS`].
        pub const BODIES: &[usize] = &[$($bodies),*];

        $(
            const _: () = assert!(CALLS.is_multiple_of($bodies));

            impl Line for Over<$bodies> {
                #[inline(never)]
                fn run<P: Program, const COPY: usize>(object: &Fields, packets: &[Packet]) -> Checksum {
                    code_padding::<COPY>();
                    let mut packets = packets.iter();
                    let mut checksum = Checksum::EMPTY;
                    loop {
                        // A window may end anywhere in the line. A branch that is never taken but once costs a slot,
                        // the same at each site; a jump into the line would be indirect.
                        seq!(SITE in 0..120 {
                            let Some(packet) = packets.next() else { return checksum };
                            let outcome = object_of::<{ called(SITE, $bodies) }, P>(object).process(packet);
                            // One object, so one number: folding it would only lengthen the sites.
                            checksum = checksum.fold(outcome.value, 0);
                        });
                    }
                }
            }
        )*

        /// The loops of the line over `bodies` bodies; `None` if it isn't compiled.
        fn loops<P: Program>(bodies: usize) -> Option<Loops> {
            match bodies {
                $($bodies => Some(Loops {
                    replay: code_copies!(replay, P, $bodies),
                    lines: code_copies!(address, P, $bodies).map(|address| address()),
                }),)*
                _ => None,
            }
        }
    };
}

lines!(1 2 4 8 12 15 20 30 60 120);

/// The same object, read by the code of handler `N`.
#[inline(always)]
fn object_of<const N: usize, P: Program>(object: &Fields) -> &Generated<N, P> {
    // SAFETY: a `Generated` is a transparent wrapper of `Fields`, whatever its number and program.
    unsafe { &*std::ptr::from_ref(object).cast::<Generated<N, P>>() }
}

/// One line in each code layout: the loop to be called, and where the line itself lies.
struct Loops {
    replay: [fn(&mut State, Window) -> Checksum; CODE_COPIES],
    lines: [usize; CODE_COPIES],
}

struct State {
    object: Placed<Fields>,
    input: Input,
}

#[inline(never)]
fn replay<P: Program, const BODIES: usize, const COPY: usize>(state: &mut State, window: Window) -> Checksum
where
    Over<BODIES>: Line,
{
    // The bounds check is out here, so that the line's own code calls nothing but bodies.
    let packets = &state.input.items::<Packet>()[window.first..window.first + window.count];
    <Over<BODIES> as Line>::run::<P, COPY>(&state.object, packets)
}

fn address<P: Program, const BODIES: usize, const COPY: usize>() -> usize
where
    Over<BODIES>: Line,
{
    <Over<BODIES> as Line>::run::<P, COPY> as fn(&Fields, &[Packet]) -> Checksum as usize
}

/// How to build a line; it computes what [`LineReference`] says.
#[derive(Debug, Clone, Copy)]
pub struct LineRecipe {
    body: Body,
    bodies: usize,
}

/// What a line's machine code consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCode {
    /// Bytes of the line's own code.
    pub bytes: usize,
    /// Direct calls.
    pub calls: usize,
    /// How many different functions they call.
    pub called: usize,
    /// Calls and jumps through a register or memory.
    pub indirect: usize,
    /// Bytes of the functions called.
    pub called_bytes: usize,
}

impl LineRecipe {
    /// A line over `bodies` bodies of a kind. [`Body::Identical`] calls one and the same from each site: a trap.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a number of bodies that isn't among [`BODIES`].
    pub fn new(body: Body, bodies: usize) -> Result<Self> {
        if BODIES.contains(&bodies) {
            return Ok(LineRecipe { body, bodies });
        }
        let known: Vec<String> = BODIES.iter().map(usize::to_string).collect();
        let wanted = format!("wanted one of {}: divisors of the line's {CALLS} calls", known.join(", "));
        Err(Error::invalid("bodies", bodies, wanted))
    }

    /// How many bodies.
    pub fn bodies(&self) -> usize {
        self.bodies
    }

    fn loops(&self) -> Loops {
        let loops = match self.body {
            Body::Fat => loops::<Fat>(self.bodies),
            Body::Tiny => loops::<Tiny>(self.bodies),
            Body::Identical => loops::<Fat>(1),
        };
        loops.expect("compiled: `new` looked it up")
    }

    /// The machine code of the line in each layout.
    ///
    /// # Errors
    /// The reason why it can't be had here: no symbols, or no x86-64 code.
    pub fn code(&self) -> std::result::Result<Vec<LineCode>, String> {
        self.loops().lines.iter().map(|&line| line_code(line)).collect()
    }

    /// Whether the line is what it claims to be, read from its machine code: [`CALLS`] direct calls of as many
    /// different bodies as were asked for, and nothing indirect.
    pub fn check(&self) -> Check {
        let name = format!("straight-line:{}:{}", self.body, self.bodies);
        let copies = match self.code() {
            Ok(copies) => copies,
            Err(reason) => return Check::not_applicable(name, reason),
        };
        let straight = |code: &LineCode| (code.calls, code.called, code.indirect) == (CALLS, self.bodies, 0);
        let odd = copies.iter().find(|&code| !straight(code));
        let shown = odd.unwrap_or(&copies[0]);
        let detail = format!(
            "{} direct calls of {} bodies, {} indirect, {} bytes of its own; {} copies",
            shown.calls,
            shown.called,
            shown.indirect,
            shown.bytes,
            copies.len()
        );
        Check::new(name, odd.is_none(), detail)
    }
}

fn line_code(line: usize) -> std::result::Result<LineCode, String> {
    let MachineCode { bytes, calls, indirect } = machine_code::decode(line)?;
    let distinct: BTreeSet<u64> = calls.iter().copied().collect();
    let sizes = distinct.iter().map(|&body| machine_code::bytes_in_file(body));
    let called_bytes = sizes.sum::<std::result::Result<usize, String>>()?;
    Ok(LineCode { bytes, calls: calls.len(), called: distinct.len(), indirect, called_bytes })
}

impl Recipe for LineRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        // One object for all bodies: which of them runs makes no difference to the data that are touched.
        let anybody = HandlerSpec { key: 0, residual: Residual::None };
        let object = placement.place(Code::of(self.body, 0).fields(0, anybody))?;
        Ok(Arm::with_layouts(State { object, input: input.clone() }, self.loops().replay))
    }

    /// Bytes of code that a pass runs: the line and the bodies that it calls.
    fn footprint_bytes(&self) -> Option<usize> {
        let code = self.code().ok()?.into_iter().next()?;
        Some(code.bytes + code.called_bytes)
    }
}

/// What a line must compute: packet `i` of a window goes to body `i % CALLS % bodies`.
#[derive(Debug, Clone, Copy)]
pub struct LineReference {
    line: LineRecipe,
}

impl LineReference {
    /// For that line.
    pub fn new(line: LineRecipe) -> Self {
        LineReference { line }
    }
}

impl Reference for LineReference {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let packets = &source.items::<Packet>()[window.first..][..window.count];
        let mut checksum = Checksum::EMPTY;
        for (at, packet) in packets.iter().enumerate() {
            let body = at % CALLS % self.line.bodies;
            checksum = checksum.fold(reference::value(self.line.body, body, packet), 0);
        }
        checksum
    }
}
