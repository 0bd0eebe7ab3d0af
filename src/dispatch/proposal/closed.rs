//! The loop over a closed sum: variants by value, one after another, as in a vector of `std::variant`.

use std::marker::PhantomData;

use crate::Result;
use crate::dispatch::body::Program;
use crate::dispatch::generated::Code;
use crate::dispatch::mechanism::Closed;
use crate::dispatch::replay::Dispatch;
use crate::dispatch::{HandlerSet, Outcome, UNSUPPORTED};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// How a variant is asked whether a packet is its own.
pub(in crate::dispatch) trait Ask: Send + 'static {
    /// Whether it is.
    fn matches<P: Program>(handler: &Closed<P>, packet: &Packet) -> bool;
    /// Where the code that asks lies, if it is out of line.
    fn address<P: Program>() -> Option<usize>;
}

/// By a jump table to the same out-of-line `matches` that every mechanism calls.
pub(in crate::dispatch) struct Asked;

impl Ask for Asked {
    #[inline(always)]
    fn matches<P: Program>(handler: &Closed<P>, packet: &Packet) -> bool {
        handler.matches(packet)
    }

    fn address<P: Program>() -> Option<usize> {
        Some(Closed::<P>::matches as fn(&Closed<P>, &Packet) -> bool as usize)
    }
}

/// By code that is the compiler's to merge: all variants' `matches` have one shape.
pub(in crate::dispatch) struct Folded;

impl Ask for Folded {
    #[inline(always)]
    fn matches<P: Program>(handler: &Closed<P>, packet: &Packet) -> bool {
        handler.matches_inlined(packet)
    }

    fn address<P: Program>() -> Option<usize> {
        None
    }
}

/// Variants in registration order.
pub(in crate::dispatch) struct ScanEnum<P: Program, A> {
    list: PlacedSlice<Closed<P>>,
    ask: PhantomData<A>,
}

impl<P: Program, A: Ask> ScanEnum<P, A> {
    /// Places the list, which is the objects.
    ///
    /// # Errors
    /// [`Error::Os`](crate::Error::Os) where memory can't be mapped.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        let variant = |(id, spec)| {
            let code = Code::of(set.body(), id);
            Closed::<P>::of(code.number(), code.fields(set.signature(id), spec))
        };
        let list: Vec<Closed<P>> = set.registered().map(variant).collect();
        Ok(ScanEnum { list: placement.place_slice(&list, 64)?, ask: PhantomData })
    }
}

impl<P: Program, A: Ask> Dispatch for ScanEnum<P, A> {
    #[inline(always)]
    fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
        for handler in self.list.iter() {
            if A::matches(handler, packet) {
                return handler.process::<COPY>(packet);
            }
        }
        UNSUPPORTED
    }

    fn footprint_bytes(&self) -> usize {
        size_of_val(&*self.list)
    }

    fn out_of_line() -> Vec<usize> {
        A::address::<P>().into_iter().chain([Closed::<P>::process_address()]).collect()
    }
}
