//! Through the vtable: the virtual call that the brief asks about.

use super::Call;
use crate::dispatch::{Handler, Outcome};
use crate::traffic::Packet;

/// `handler.process(packet)` through the vtable: one indirect call, whose target the predictor must guess.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatch) struct DynTrait;

impl Call for DynTrait {
    #[inline(always)]
    fn call(handler: &dyn Handler, packet: &Packet) -> Outcome {
        handler.process(packet)
    }
}
