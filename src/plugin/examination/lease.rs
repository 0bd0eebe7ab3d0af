//! One packet lent to a plugin, and room for one result: each in memory of its own, watched.

use std::ffi::c_void;

use super::pages::Guarded;
use crate::plugin::abi::{PacketView, PluginResult, Process};
use crate::traffic::Packet;
use crate::traffic::packet::PAYLOAD_BYTES;

/// What stands in a result until the plugin writes it; its `value` is the caller's choice.
pub const UNWRITTEN: PluginResult =
    PluginResult { value: 0, claim: u16::MAX, reserved: 0, status: 0x5A5A_5A5A };
/// Bytes behind each that a plugin may not write, where they aren't out of bounds altogether.
const SLACK: usize = 1024;

/// What a plugin said of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What it returned, or wrote as the status of one among several.
    pub status: i32,
    /// What it wrote.
    pub result: PluginResult,
}

/// Memory for one call at a time.
#[derive(Debug)]
pub struct Lease {
    payload: Guarded,
    view: Guarded,
    result: Guarded,
    slack: usize,
}

impl Lease {
    /// With room behind everything, which is seen to stay as it is.
    ///
    /// # Errors
    /// Without memory.
    pub fn roomy() -> Result<Lease, String> {
        Self::with(SLACK)
    }

    /// With nothing behind anything: whoever goes past the end is ended by the system.
    ///
    /// # Errors
    /// Without memory.
    pub fn tight() -> Result<Lease, String> {
        Self::with(0)
    }

    fn with(slack: usize) -> Result<Lease, String> {
        let room = || Guarded::with_room(SLACK + size_of::<PacketView>());
        Ok(Lease { payload: room()?, view: room()?, result: room()?, slack })
    }

    /// Lends `packet`, with `value` in the result beforehand. Also what the plugin wrote where it had no business to.
    ///
    /// # Safety
    /// `process` and `instance` must be those of one plugin. What it does beyond these bytes is beyond help.
    pub unsafe fn process(
        &mut self,
        process: Process,
        instance: *mut c_void,
        packet: &Packet,
        value: u64,
    ) -> (Answer, Option<String>) {
        let payload: *mut [u8; PAYLOAD_BYTES] = self.payload.last::<u8>(PAYLOAD_BYTES + self.slack).cast();
        let view: *mut PacketView = self.view.last::<u8>(size_of::<PacketView>() + self.slack).cast();
        let result: *mut PluginResult = self.result.last::<u8>(size_of::<PluginResult>() + self.slack).cast();
        let said = PacketView { payload: payload.cast(), ..crate::plugin::view(packet) };
        // SAFETY: room for each, aligned, since all of their sizes and the slack are multiples of 8.
        unsafe {
            payload.write(packet.payload);
            view.write(said);
            result.write(PluginResult { value, ..UNWRITTEN });
        }
        // SAFETY: the caller vouches for the function and its instance; view, payload and result live through the call.
        let status = unsafe { process(instance, view, result) };
        // SAFETY: written above; whatever the plugin made of them, any bytes are values of these types.
        let (payload, view, result) = unsafe { (payload.read(), view.read(), result.read()) };
        (Answer { status, result }, self.touched(packet, &payload, &said, &view))
    }

    /// What was written besides the result.
    fn touched(
        &self,
        packet: &Packet,
        payload: &[u8],
        said: &PacketView,
        view: &PacketView,
    ) -> Option<String> {
        if let Some(at) = (0..PAYLOAD_BYTES).find(|&at| packet.payload[at] != payload[at]) {
            let (was, is) = (packet.payload[at], payload[at]);
            return Some(format!("byte {at} of the payload was {was:#04x} and is {is:#04x}"));
        }
        let fields =
            |view: &PacketView| (view.payload, view.payload_length, view.flow, view.protocol, view.length);
        if fields(said) != fields(view) || said.reserved != view.reserved {
            return Some("a field of the packet's view".into());
        }
        let behind = [(&self.payload, "the payload"), (&self.view, "the view"), (&self.result, "the result")];
        behind.into_iter().find_map(|(room, what)| {
            // SAFETY: the slack, zero since it was mapped.
            let slack = unsafe { std::slice::from_raw_parts(room.last::<u8>(self.slack), self.slack) };
            let at = slack.iter().position(|byte| *byte != 0)?;
            Some(format!("byte {at} behind {what}"))
        })
    }

    /// From now on whoever touches any of it is ended by the system.
    ///
    /// # Errors
    /// The system's own words.
    pub fn take_back(&self) -> Result<(), String> {
        [&self.payload, &self.view, &self.result].into_iter().try_for_each(Guarded::take_back)
    }
}
