//! A closed sum of all handlers: the tag leads through a jump table to the body.

use std::ptr::NonNull;

use seq_macro::seq;

use super::Target;
use super::copies::mark_copy;
use crate::Result;
use crate::dispatch::body::Program;
use crate::dispatch::generated::{Code, Fields, Generated};
use crate::dispatch::{Handler, HandlerSpec, Outcome};
use crate::race::Placement;
use crate::race::placement::Keep;
use crate::traffic::Packet;

seq!(N in 0..1024 {
    /// Every handler with bodies of kind `P`, one a variant: Rust's counterpart of `std::variant`.
    ///
    /// The list ends when it is compiled. What a handler of the list may do…
    /// ```
    /// use nanokata::dispatch::{Closed, Generated, body::Fat};
    /// fn join(handler: Generated<3, Fat>) -> Closed<Fat> {
    ///     Closed::H3(handler)
    /// }
    /// ```
    /// …a type of somebody else's can't: there is no variant for it,
    /// ```compile_fail,E0599
    /// use nanokata::dispatch::{Closed, body::Fat};
    /// struct Plugin;
    /// fn join(plugin: Plugin) -> Closed<Fat> {
    ///     Closed::Plugin(plugin)
    /// }
    /// ```
    /// and it fits none of those that there are:
    /// ```compile_fail,E0308
    /// use nanokata::dispatch::{Closed, body::Fat};
    /// struct Plugin;
    /// fn join(plugin: Plugin) -> Closed<Fat> {
    ///     Closed::H3(plugin)
    /// }
    /// ```
    #[allow(missing_docs, reason = "a thousand variants alike")]
    pub enum Closed<P> {
        #(H~N(Generated<N, P>),)*
    }

    impl<P: Program> Closed<P> {
        /// The handler with that code. `fields` must have been made for it.
        pub(in crate::dispatch) fn of(number: usize, fields: Fields) -> Self {
            match number {
                #(N => Closed::H~N(Generated::new(fields)),)*
                _ => unreachable!("no code of handler {number}"),
            }
        }

        /// What every variant holds in the same place.
        fn fields(&self) -> &Fields {
            match self {
                #(Closed::H~N(handler) => handler.fields(),)*
            }
        }

        /// Calls the variant's body: out of line, since a match over a thousand variants isn't copied into every loop.
        /// Each case ends in a jump to its body, so this takes as many branches as a match inside the loop: there, one
        /// jump goes back to the loop instead.
        #[inline(never)]
        pub(in crate::dispatch) fn process<const COPY: usize>(&self, packet: &Packet) -> Outcome {
            mark_copy::<COPY>();
            match self {
                #(Closed::H~N(handler) => handler.process(packet),)*
            }
        }

        /// Asks the variant, by its own `matches` out of line.
        #[inline(never)]
        pub(in crate::dispatch) fn matches(&self, packet: &Packet) -> bool {
            match self {
                #(Closed::H~N(handler) => handler.matches(packet),)*
            }
        }

        /// Asks the variant, by a `matches` that the compiler may inline and merge with the others.
        #[inline(always)]
        pub(in crate::dispatch) fn matches_inlined(&self, packet: &Packet) -> bool {
            match self {
                #(Closed::H~N(handler) => handler.matches_inlined(packet),)*
            }
        }
    }
});

impl<P: Program> Closed<P> {
    /// Where the first copy of [`Closed::process`] lies.
    pub(in crate::dispatch) fn process_address() -> usize {
        Self::process::<0> as fn(&Self, &Packet) -> Outcome as usize
    }
}

impl<P: Program> Clone for Closed<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Program> Copy for Closed<P> {}

/// A pointer to a variant: slot → tag → jump table → body.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::dispatch) struct EnumMatch<P> {
    object: NonNull<Closed<P>>,
    /// Keeps slots as large as those of the others. Never read.
    _room: usize,
}

// SAFETY: objects are never changed once placed.
unsafe impl<P: Program> Send for EnumMatch<P> {}

// SAFETY: the pointer is to a variant that `place` placed, the one of its own code.
unsafe impl<P: Program> Target for EnumMatch<P> {
    fn place(
        code: &'static Code,
        id: u16,
        spec: HandlerSpec,
        placement: &mut Placement,
    ) -> Result<(Self, Keep)> {
        let object = Closed::<P>::of(code.number(), code.fields(id, spec));
        let (object, keep) = placement.place(object)?.into_parts();
        Ok((EnumMatch { object, _room: 0 }, keep))
    }

    #[inline(always)]
    unsafe fn fields<'a>(self) -> &'a Fields {
        // SAFETY: the caller vouches for the object's life.
        unsafe { self.object.as_ref() }.fields()
    }

    #[inline(always)]
    unsafe fn call<const COPY: usize>(self, packet: &Packet) -> Outcome {
        // SAFETY: as above.
        unsafe { self.object.as_ref() }.process::<COPY>(packet)
    }

    fn out_of_line() -> Vec<usize> {
        vec![Closed::<P>::process_address()]
    }
}
