//! Up to 1,024 handlers, each with a `matches` and a `process` in machine code of their own.
//!
//! The predictor's story rests on distinct `matches`, the instruction cache's on distinct `process`. Each body holds
//! constants of its own as immediates, so no two are the same code and neither LLVM's function merging nor a linker's
//! identical-code folding can make one of two; and each behaves differently, which the audits test.

use std::marker::PhantomData;
use std::ptr::NonNull;

use seq_macro::seq;

use super::body::{Fat, Program, Tiny};
use super::handler::{Handler, Outcome};
use super::{Body, HandlerSpec, Residual};
use crate::traffic::Packet;

/// What a handler's object holds; the same layout for all, so that objects of any handler can lie in one place.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Fields {
    /// The key, xored with the handler's salt: meaningless to any other handler's `matches`.
    salted_key: u16,
    /// The handler's number in its set.
    id: u16,
    /// What a packet with the right key must satisfy besides.
    residual: Residual,
}

/// Handler number `N` with a body of kind `P`.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Generated<const N: usize, P> {
    fields: Fields,
    program: PhantomData<P>,
}

/// A number that no other handler of either kind has, and never zero: multiplication by an odd number is a bijection
/// on sixteen bits.
pub const fn salt(program: usize, n: usize) -> u16 {
    ((2 * n + program + 1) as u16).wrapping_mul(0x9e37)
}

impl<const N: usize, P: Program> Handler for Generated<N, P> {
    #[inline(never)]
    fn matches(&self, packet: &Packet) -> bool {
        packet.protocol ^ const { salt(P::INDEX, N) } == self.fields.salted_key
            && (self.fields.residual.is_none() || self.fields.residual.holds(packet))
    }

    #[inline(never)]
    fn process(&self, packet: &Packet) -> Outcome {
        Outcome { value: P::value::<N>(&packet.payload), handler: self.fields.id }
    }
}

/// An address of code: compared and printed, never called.
#[derive(Debug, Clone, Copy)]
struct Address(*const ());

// SAFETY: an address of code is never dereferenced.
unsafe impl Sync for Address {}

/// What is known of one generated handler without an object of it.
#[derive(Debug, Clone, Copy)]
pub struct Code {
    salt: u16,
    attach: fn(NonNull<Fields>) -> NonNull<dyn Handler>,
    matches: Address,
    process: Address,
}

fn attach<const N: usize, P: Program>(fields: NonNull<Fields>) -> NonNull<dyn Handler> {
    fields.cast::<Generated<N, P>>()
}

const fn code<const N: usize, P: Program>() -> Code {
    type Method<const N: usize, P, R> = fn(&Generated<N, P>, &Packet) -> R;
    Code {
        salt: salt(P::INDEX, N),
        attach: attach::<N, P>,
        matches: Address(<Generated<N, P> as Handler>::matches as Method<N, P, bool> as *const ()),
        process: Address(<Generated<N, P> as Handler>::process as Method<N, P, Outcome> as *const ()),
    }
}

seq!(N in 0..1024 {
    // Statics, not a list of boxes: a literal of a thousand boxed objects takes the compiler minutes.
    static FAT: [Code; 1024] = [#(code::<N, Fat>(),)*];
    static TINY: [Code; 1024] = [#(code::<N, Tiny>(),)*];
});

impl Code {
    /// The code that handler `n` of a set with these bodies runs.
    pub fn of(body: Body, n: usize) -> &'static Code {
        match body {
            Body::Fat => &FAT[n],
            Body::Tiny => &TINY[n],
            Body::Identical => &FAT[0],
        }
    }

    /// The object of a handler with this code.
    pub fn fields(&self, id: u16, spec: HandlerSpec) -> Fields {
        Fields { salted_key: spec.key ^ self.salt, id, residual: spec.residual }
    }

    /// Makes a handler of an object: pairs its address with this code's vtable.
    pub fn attach(&self, fields: NonNull<Fields>) -> NonNull<dyn Handler> {
        (self.attach)(fields)
    }

    /// Where `matches` lies; a jump thunk's address on some platforms, so never a proof of distinctness.
    pub fn matches_address(&self) -> usize {
        self.matches.0 as usize
    }

    /// Where `process` lies; the same caution.
    pub fn process_address(&self) -> usize {
        self.process.0 as usize
    }
}
