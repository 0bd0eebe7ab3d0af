//! The loop written out over known types: no list to walk, each `matches` inlined, each body called by name.

use std::marker::PhantomData;

use seq_macro::seq;

use crate::Result;
use crate::dispatch::body::Program;
use crate::dispatch::generated::{Code, Fields, Generated};
use crate::dispatch::replay::Dispatch;
use crate::dispatch::scheme::published;
use crate::dispatch::{Body, Handler, HandlerSet, Outcome, UNSUPPORTED};
use crate::race::{PlacedSlice, Placement};
use crate::traffic::Packet;

/// For how many handlers the loop was written out.
pub(super) const WRITTEN_OUT: [usize; 4] = [10, 25, 50, 100];

/// Why the loop can't have been written out for this set; `None` if it was.
pub(super) fn unknown(set: &HandlerSet) -> Option<String> {
    if !WRITTEN_OUT.contains(&set.len()) {
        let list = WRITTEN_OUT.map(|size| size.to_string()).join(", ");
        return Some(format!(
            "the loop over known types is written out for {list} handlers, not for {}",
            set.len()
        ));
    }
    if set.body() == Body::Identical {
        return Some("each type has its own body: the loop wasn't written out for identical ones".into());
    }
    if !set.order().iter().copied().eq(0..set.len()) {
        return Some(
            "the loop over known types is written out in the order of handler numbers, not in this one"
                .into(),
        );
    }
    None
}

/// Types known, their objects filled at run time, one after another as in a tuple.
pub(in crate::dispatch) struct ScanStatic<P, const HANDLERS: usize> {
    objects: PlacedSlice<Fields>,
    program: PhantomData<P>,
}

impl<P: Program, const HANDLERS: usize> ScanStatic<P, HANDLERS> {
    /// Places the objects. The set must be one that the loop was written out for.
    ///
    /// # Errors
    /// [`Error::Os`](crate::Error::Os) where memory can't be mapped.
    pub fn build(set: &HandlerSet, placement: &mut Placement) -> Result<Self> {
        assert_eq!(set.len(), HANDLERS, "a set of another size was to be refused");
        let object = |(id, spec)| Code::of(set.body(), id).fields(set.signature(id), spec);
        let objects: Vec<Fields> = set.registered().map(object).collect();
        Ok(ScanStatic { objects: placement.place_slice(&objects, 64)?, program: PhantomData })
    }
}

seq!(N in 0..100 {
    impl<P: Program, const HANDLERS: usize> Dispatch for ScanStatic<P, HANDLERS> {
        #[inline(always)]
        fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
            let objects = self.objects.as_ptr();
            #(
                if const { N < HANDLERS } {
                    // SAFETY: `build` placed `HANDLERS` objects, that of handler `N` at place `N`, and a handler is a
                    // transparent wrapper of its fields.
                    let handler = unsafe { &*objects.add(N).cast::<Generated<N, P>>() };
                    if handler.matches_inlined(packet) {
                        return handler.process(packet);
                    }
                }
            )*
            UNSUPPORTED
        }

        fn footprint_bytes(&self) -> usize {
            size_of_val(&*self.objects)
        }
    }

    impl<P: Program, const HANDLERS: usize> Dispatch for ScanStaticKeys<P, HANDLERS> {
        #[inline(always)]
        fn dispatch<const COPY: usize>(&self, packet: &Packet) -> Outcome {
            #(
                if const { N < HANDLERS } {
                    let handler = const { &Generated::<N, P>::known(published(HANDLERS, N)) };
                    if handler.matches_inlined(packet) {
                        return handler.process(packet);
                    }
                }
            )*
            UNSUPPORTED
        }
    }
});

/// Types and their keys known: the kata's scheme as constants. The compiler may make of the comparisons what it likes.
pub(in crate::dispatch) struct ScanStaticKeys<P, const HANDLERS: usize>(pub PhantomData<P>);
