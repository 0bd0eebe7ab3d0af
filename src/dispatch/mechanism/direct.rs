//! One fixed body by a direct call: what the selected handler's call would cost with nothing to guess.

use std::marker::PhantomData;

use super::Call;
use crate::dispatch::body::Program;
use crate::dispatch::generated::Generated;
use crate::dispatch::{Handler, Outcome};
use crate::traffic::Packet;

/// Calls handler 0's `process` by name on the object that was selected: the same selection and the same unmatched
/// packets as any mechanism, one body, no indirect call. Its results are body 0's, under the selected handler's number.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatch) struct Direct<P>(PhantomData<P>);

impl<P: Program> Call for Direct<P> {
    #[inline(always)]
    fn call(handler: &dyn Handler, packet: &Packet) -> Outcome {
        let object = std::ptr::from_ref(handler).cast::<Generated<0, P>>();
        // SAFETY: every handler of a set is a `Generated`, a transparent wrapper of the same `Fields`, so its object
        // is a valid `Generated<0, P>` too, and alive as long as `handler`.
        unsafe { (*object).process(packet) }
    }
}
