//! No objects and no table: the packet's key is matched straight to the bodies, all known when it is compiled.

use std::marker::PhantomData;

use seq_macro::seq;

use super::copies::mark_copy;
use crate::dispatch::body::Program;
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

/// How a case of the match runs its body.
trait Run {
    fn run<const N: usize, P: Program>(handler: &'static Generated<N, P>, packet: &Packet) -> Outcome;
}

/// By a jump to the same body that all mechanisms call.
struct OutOfLine;

impl Run for OutOfLine {
    #[inline(always)]
    fn run<const N: usize, P: Program>(handler: &'static Generated<N, P>, packet: &Packet) -> Outcome {
        handler.process(packet)
    }
}

/// By code that is the compiler's to inline, share and merge.
struct Inlined;

impl Run for Inlined {
    #[inline(always)]
    fn run<const N: usize, P: Program>(handler: &'static Generated<N, P>, packet: &Packet) -> Outcome {
        handler.process_inlined(packet)
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
        R::run(handler::<N, HANDLERS, P>(), packet)
    } else {
        UNSUPPORTED
    }
}

/// Handler `N`, if it is one of `HANDLERS` and its residual predicate holds; the key is known to be right.
#[inline(always)]
fn tested<const N: usize, const HANDLERS: usize, P: Program, R: Run>(packet: &Packet) -> Option<Outcome> {
    if const { N < HANDLERS } {
        let handler = handler::<N, HANDLERS, P>();
        // The same direct call as in the table's selection.
        if handler.fields().residual().holds(packet) {
            return Some(R::run(handler, packet));
        }
    }
    None
}

/// The first of these handlers whose predicate holds, in this order.
macro_rules! first {
    ($packet:ident, $handlers:ident, $program:ident, $run:ident, [$($n:expr),*]) => {{
        $(if let Some(outcome) = tested::<{ $n }, $handlers, $program, $run>($packet) {
            return outcome;
        })*
        UNSUPPORTED
    }};
}

seq!(N in 0..100 {
    /// The kata's published keys, up to a hundred handlers: three shared keys, dealt in turn.
    #[inline(always)]
    fn published_keys<P: Program, R: Run, const HANDLERS: usize>(packet: &Packet) -> Outcome {
        match packet.protocol {
            #(N => only::<N, HANDLERS, P, R>(packet),)*
            900 => first!(packet, HANDLERS, P, R, [27, 57, 87]),
            901 => first!(packet, HANDLERS, P, R, [7, 37, 67, 97]),
            902 => first!(packet, HANDLERS, P, R, [17, 47, 77]),
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
    #[inline(always)]
    fn shared_keys<P: Program, R: Run>(key: u16, packet: &Packet) -> Outcome {
        match key.wrapping_sub(MAX_HANDLERS as u16) {
            // Dealt like cards to 26 groups; every tenth handler from 7 on is residual.
            #(G => first!(
                packet, MAX_HANDLERS, P, R,
                [10 * G + 7, 10 * (G + 26) + 7, 10 * (G + 52) + 7, 10 * (G + 78) + 7]
            ),)*
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

/// The match, out of line as the closed sum's is. Cases end in a jump to their body.
#[inline(never)]
fn matched<P: Program, const HANDLERS: usize, const COPY: usize>(packet: &Packet) -> Outcome {
    mark_copy::<COPY>();
    keys::<P, OutOfLine, HANDLERS>(packet)
}

/// The match with bodies inlined.
#[inline(never)]
fn inlined<P: Program, const HANDLERS: usize>(packet: &Packet) -> Outcome {
    keys::<P, Inlined, HANDLERS>(packet)
}

/// Matches the key to the bodies that every mechanism calls.
pub(in crate::dispatch) struct StaticMatch<P, const HANDLERS: usize>(pub PhantomData<P>);

impl<P: Program, const HANDLERS: usize> Dispatch for StaticMatch<P, HANDLERS> {
    #[inline(always)]
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
        matched::<P, HANDLERS, COPY>(packet)
    }
}

/// Matches the key to bodies that the compiler may inline and merge.
pub(in crate::dispatch) struct StaticInlined<P, const HANDLERS: usize>(pub PhantomData<P>);

impl<P: Program, const HANDLERS: usize> Dispatch for StaticInlined<P, HANDLERS> {
    const COMPILED_ONCE: bool = true;

    #[inline(always)]
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
        inlined::<P, HANDLERS>(packet)
    }
}
