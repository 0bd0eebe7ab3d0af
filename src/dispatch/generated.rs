//! Up to 1,024 handlers, each with a `matches` and a `process` in machine code of their own.
//!
//! The predictor's story rests on distinct `matches`, the instruction cache's on distinct `process`. Each body holds
//! constants of its own as immediates, so no two are the same code and neither LLVM's function merging nor a linker's
//! identical-code folding can make one of two; and each behaves differently, which the audits test.

use std::marker::PhantomData;
use std::mem;
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

impl Fields {
    /// The object of handler `id`, for the code with this salt.
    pub const fn new(salt: u16, id: u16, spec: HandlerSpec) -> Self {
        Fields { salted_key: spec.key ^ salt, id, residual: spec.residual }
    }

    /// The number that results are signed with.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// What is left of `matches` where the key is known to be right.
    pub fn residual(&self) -> &Residual {
        &self.residual
    }
}

/// Handler number `N` with a body of kind `P`. Only the core makes one.
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

impl<const N: usize, P: Program> Generated<N, P> {
    /// The handler of these fields, which must have been made with this code's salt.
    pub(super) const fn new(fields: Fields) -> Self {
        Generated { fields, program: PhantomData }
    }

    /// The handler of number `N` in a set of its own number, matching `spec`: a constant.
    pub(super) const fn known(spec: HandlerSpec) -> Self {
        Self::new(Fields::new(salt(P::INDEX, N), N as u16, spec))
    }

    /// What its object holds.
    #[inline(always)]
    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// `matches` where the compiler may inline it; the other is the same, out of line.
    #[inline(always)]
    pub(super) fn matches_inlined(&self, packet: &Packet) -> bool {
        packet.protocol ^ const { salt(P::INDEX, N) } == self.fields.salted_key
            && (self.fields.residual.is_none() || self.fields.residual.holds(packet))
    }

    /// `process` where the compiler may inline it, and merge it with others.
    #[inline(always)]
    pub(super) fn process_inlined(&self, packet: &Packet) -> Outcome {
        Outcome { value: P::value::<N>(&packet.payload), handler: self.fields.id }
    }
}

impl<const N: usize, P: Program> Handler for Generated<N, P> {
    #[inline(never)]
    fn matches(&self, packet: &Packet) -> bool {
        self.matches_inlined(packet)
    }

    #[inline(never)]
    extern "C" fn process(&self, packet: &Packet) -> Outcome {
        self.process_inlined(packet)
    }
}

/// A handler's `matches`, called with its object.
pub type Matches = fn(&Fields, &Packet) -> bool;
/// A handler's `process`, called with its object.
pub type Process = extern "C" fn(&Fields, &Packet) -> Outcome;

/// A vtable made by hand, for objects that carry its address as C++'s do. It holds the same five words as Rust's own
/// (drop, size and alignment first), so that tables lie equally dense and only the place of the pointer differs.
#[derive(Debug)]
#[repr(C)]
pub struct Vtable {
    drop: usize,
    size: usize,
    align: usize,
    /// The handler's `matches`.
    pub matches: Matches,
    /// Its `process`.
    pub process: Process,
}

/// What is known of one generated handler without an object of it.
#[derive(Debug)]
pub struct Code {
    vtable: Vtable,
    attach: fn(NonNull<Fields>) -> NonNull<dyn Handler>,
    salt: u16,
    /// `N`: which handler's code this is.
    number: u16,
}

fn attach<const N: usize, P: Program>(fields: NonNull<Fields>) -> NonNull<dyn Handler> {
    fields.cast::<Generated<N, P>>()
}

const fn code<const N: usize, P: Program>() -> Code {
    type Test<const N: usize, P> = fn(&Generated<N, P>, &Packet) -> bool;
    type Work<const N: usize, P> = extern "C" fn(&Generated<N, P>, &Packet) -> Outcome;
    let matches: Test<N, P> = <Generated<N, P> as Handler>::matches;
    let process: Work<N, P> = <Generated<N, P> as Handler>::process;
    Code {
        vtable: Vtable {
            drop: 0,
            size: size_of::<Fields>(),
            align: align_of::<Fields>(),
            // SAFETY: `Generated` is a transparent wrapper of `Fields`, so references to the two are ABI-compatible and
            // an object of one is a valid object of the other.
            matches: unsafe { mem::transmute::<Test<N, P>, Matches>(matches) },
            // SAFETY: as above.
            process: unsafe { mem::transmute::<Work<N, P>, Process>(process) },
        },
        attach: attach::<N, P>,
        salt: salt(P::INDEX, N),
        number: N as u16,
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
        Fields::new(self.salt, id, spec)
    }

    /// Makes a handler of an object: pairs its address with this code's vtable.
    pub fn attach(&self, fields: NonNull<Fields>) -> NonNull<dyn Handler> {
        (self.attach)(fields)
    }

    /// The table that an object of this code carries the address of, where objects do.
    pub fn vtable(&'static self) -> &'static Vtable {
        &self.vtable
    }

    /// Which handler's code this is: of a set with `identical` bodies always handler 0's.
    pub fn number(&self) -> usize {
        usize::from(self.number)
    }

    /// Where `matches` lies; a jump thunk's address on some platforms, so never a proof of distinctness.
    pub fn matches_address(&self) -> usize {
        self.vtable.matches as usize
    }

    /// Where `process` lies; the same caution.
    pub fn process_address(&self) -> usize {
        self.vtable.process as usize
    }
}
