//! No objects and no table: the packet's key is matched straight to the bodies, all known when it is compiled.

use std::marker::PhantomData;

use seq_macro::seq;

use super::copies::mark_copy;
use crate::dispatch::body::{Fat, Program};
use crate::dispatch::generated::Generated;
use crate::dispatch::replay::Dispatch;
use crate::dispatch::scheme::{
    FIRST_SHARED_KEY, PUBLISHED_HANDLERS, PUBLISHED_SHARE, groups, published, published_residual,
};
use crate::dispatch::{Body, Handler, HandlerSet, MAX_HANDLERS, Outcome, UNSUPPORTED};
use crate::traffic::Packet;

/// For how many handlers a static match was compiled: a key can be matched only where it is known by then.
pub const KNOWN_SIZES: [usize; 5] = [10, 25, 50, PUBLISHED_HANDLERS, MAX_HANDLERS];

/// For how many it was compiled with bodies that may be inlined: a match over a thousand such takes the compiler minutes.
pub const INLINED_SIZES: [usize; 4] = [10, 25, 50, PUBLISHED_HANDLERS];

// The keys that are written out below.
const _: () = assert!(FIRST_SHARED_KEY == 900 && groups(published_residual(MAX_HANDLERS)) == 26);

/// Why no match over this set's keys can have been compiled for these sizes; `None` if one was.
pub(in crate::dispatch) fn unknown(set: &HandlerSet, sizes: &[usize]) -> Option<String> {
    let list = || sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if !sizes.contains(&set.len()) {
        return Some(format!(
            "keys are matched only where they were known when it was compiled: for {} handlers, not for {}",
            list(),
            set.len()
        ));
    }
    if set.body() == Body::Identical {
        return Some("each key leads to its own handler's body: none was compiled for identical ones".into());
    }
    let scheme = HandlerSet::standard(set.len(), set.body(), PUBLISHED_SHARE, 0);
    if scheme.as_ref().ok() != Some(set) {
        return Some(format!(
            "keys are matched only where they were known when it was compiled: those of the kata's scheme with \
             residual_share {PUBLISHED_SHARE}, in its own order; these came at run time"
        ));
    }
    None
}

/// No handler's number: past all that are compiled.
const ABSENT: usize = 1027;

/// The first of these handlers whose predicate holds, in this order; their key is known to be right. The test is the same
/// direct call as in the table's selection.
macro_rules! first {
    ($packet:ident, $handlers:ident, $program:ident, $process:ident, [$($n:ident),*]) => {{
        $(if const { $n < $handlers } {
            let handler = handler::<$n, $handlers, $program>();
            if handler.fields().residual().holds($packet) {
                return handler.$process($packet);
            }
        })*
        UNSUPPORTED
    }};
}

/// How a case of the match runs its body.
trait Run {
    /// The case of a key that is one handler's alone.
    fn only<const N: usize, P: Program>(handler: &'static Generated<N, P>, packet: &Packet) -> Outcome;

    /// The case of a shared key: the first of these handlers whose residual predicate holds. Those past `HANDLERS` aren't
    /// there.
    fn first<
        const A: usize,
        const B: usize,
        const C: usize,
        const D: usize,
        const HANDLERS: usize,
        P: Program,
    >(
        packet: &Packet,
    ) -> Outcome;
}

/// By a jump to the same body that all mechanisms call.
struct OutOfLine;

impl Run for OutOfLine {
    #[inline(always)]
    fn only<const N: usize, P: Program>(handler: &'static Generated<N, P>, packet: &Packet) -> Outcome {
        handler.process(packet)
    }

    // Out of line: one copy of the tests serves all loops.
    #[inline(never)]
    fn first<
        const A: usize,
        const B: usize,
        const C: usize,
        const D: usize,
        const HANDLERS: usize,
        P: Program,
    >(
        packet: &Packet,
    ) -> Outcome {
        first!(packet, HANDLERS, P, process, [A, B, C, D])
    }
}

/// By code that is the compiler's to inline, share and merge.
struct Inlined;

impl Run for Inlined {
    #[inline(always)]
    fn only<const N: usize, P: Program>(handler: &'static Generated<N, P>, packet: &Packet) -> Outcome {
        handler.process_inlined(packet)
    }

    #[inline(always)]
    fn first<
        const A: usize,
        const B: usize,
        const C: usize,
        const D: usize,
        const HANDLERS: usize,
        P: Program,
    >(
        packet: &Packet,
    ) -> Outcome {
        first!(packet, HANDLERS, P, process_inlined, [A, B, C, D])
    }
}

/// Handler `N` of `HANDLERS`, a constant.
const fn handler<const N: usize, const HANDLERS: usize, P: Program>() -> &'static Generated<N, P> {
    const { &Generated::<N, P>::known(published(HANDLERS, N)) }
}

/// Handler `N`, if it is one of `HANDLERS` and the key is its own alone.
#[inline(always)]
fn only<const N: usize, const HANDLERS: usize, P: Program, R: Run>(packet: &Packet) -> Outcome {
    if const { N < HANDLERS && published(HANDLERS, N).residual.is_none() } {
        R::only(handler::<N, HANDLERS, P>(), packet)
    } else {
        UNSUPPORTED
    }
}

seq!(N in 0..100 {
    /// The kata's published keys, up to a hundred handlers: three shared keys, dealt in turn.
    #[inline(always)]
    fn published_keys<P: Program, R: Run, const HANDLERS: usize>(packet: &Packet) -> Outcome {
        match packet.protocol {
            #(N => only::<N, HANDLERS, P, R>(packet),)*
            900 => R::first::<27, 57, 87, ABSENT, HANDLERS, P>(packet),
            901 => R::first::<7, 37, 67, 97, HANDLERS, P>(packet),
            902 => R::first::<17, 47, 77, ABSENT, HANDLERS, P>(packet),
            _ => UNSUPPORTED,
        }
    }
});

seq!(N in 0..1024 {
    /// All that are compiled: shared keys above the ordinary ones.
    #[inline(always)]
    fn all_keys<P: Program, R: Run>(packet: &Packet) -> Outcome {
        match packet.protocol {
            #(N => only::<N, MAX_HANDLERS, P, R>(packet),)*
            shared => shared_keys::<P, R>(shared, packet),
        }
    }
});

seq!(G in 0..26 {
    #[allow(clippy::identity_op, clippy::erasing_op, reason = "the first group, written out")]
    #[inline(always)]
    fn shared_keys<P: Program, R: Run>(key: u16, packet: &Packet) -> Outcome {
        match key.wrapping_sub(MAX_HANDLERS as u16) {
            // Dealt like cards to 26 groups; every tenth handler from 7 on is residual.
            #(G => R::first::<
                { 10 * G + 7 }, { 10 * (G + 26) + 7 }, { 10 * (G + 52) + 7 }, { 10 * (G + 78) + 7 }, MAX_HANDLERS, P,
            >(packet),)*
            _ => UNSUPPORTED,
        }
    }
});

#[inline(always)]
fn keys<P: Program, R: Run, const HANDLERS: usize>(packet: &Packet) -> Outcome {
    if const { HANDLERS == MAX_HANDLERS } {
        all_keys::<P, R>(packet)
    } else {
        published_keys::<P, R, HANDLERS>(packet)
    }
}

/// The match with bodies inlined.
#[inline(never)]
fn inlined<P: Program, const HANDLERS: usize, const COPY: usize>(packet: &Packet) -> Outcome {
    mark_copy::<COPY>();
    keys::<P, Inlined, HANDLERS>(packet)
}

/// Matches the key to the bodies that every mechanism calls.
pub(in crate::dispatch) struct StaticMatch<P, const HANDLERS: usize>(pub PhantomData<P>);

impl<P: Program, const HANDLERS: usize> Dispatch for StaticMatch<P, HANDLERS> {
    // A thousand cases in each of eight loops would take the compiler longer than all handlers together.
    const COMPILED_ONCE: bool = HANDLERS > PUBLISHED_HANDLERS;

    // Inside the loop: out of line, the result for packets that nobody takes keeps the compiler from ending a case in a
    // jump to its body, and each packet would pay for a second call.
    #[inline(always)]
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
        keys::<P, OutOfLine, HANDLERS>(packet)
    }
}

/// Matches the key to bodies that the compiler may inline and merge.
pub(in crate::dispatch) struct StaticInlined<P, const HANDLERS: usize>(pub PhantomData<P>);

impl<P: Program, const HANDLERS: usize> Dispatch for StaticInlined<P, HANDLERS> {
    // A hundred fat bodies in each of eight copies would be a megabyte and a half of code for one size alone.
    const COMPILED_ONCE: bool = P::INDEX == Fat::INDEX;

    #[inline(always)]
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
        inlined::<P, HANDLERS, COPY>(packet)
    }

    fn out_of_line() -> Vec<usize> {
        vec![inlined::<P, HANDLERS, 0> as fn(&Packet) -> Outcome as usize]
    }
}
