//! What goes through the pipes: packets whole, since no pointer means anything on the other side.

use bytemuck::{Pod, Zeroable};

use crate::plugin::abi::{self, PacketView, PluginResult};
use crate::plugin::crossing::batch::MOST_BATCH;
use crate::plugin::crossing::service::serve;
use crate::traffic::Packet;
use crate::traffic::packet::PAYLOAD_BYTES;

/// A batch on its way out.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Message {
    count: u64,
    packets: [Packet; MOST_BATCH],
}

/// Bytes before the packets.
pub(super) const HEAD_BYTES: usize = size_of::<u64>();

/// One result on its way back: [`PluginResult`], whose bytes all count.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Answer {
    value: u64,
    claim: u16,
    reserved: u16,
    status: i32,
}

const _: () = assert!(size_of::<Answer>() == size_of::<PluginResult>());

impl Message {
    /// One without packets.
    pub fn empty() -> Box<Message> {
        Box::new(Message::zeroed())
    }

    /// Copies a batch in. `false` if it doesn't fit, or a payload isn't a packet's.
    ///
    /// # Safety
    /// Each view's payload must be readable for as many bytes as it says.
    pub unsafe fn fill(&mut self, views: &[PacketView]) -> bool {
        if views.len() > MOST_BATCH {
            return false;
        }
        self.count = views.len() as u64;
        for (packet, view) in self.packets.iter_mut().zip(views) {
            if (view.payload_length as usize) < PAYLOAD_BYTES {
                return false;
            }
            // SAFETY: there are as many bytes.
            let payload = unsafe { *view.payload.cast::<[u8; PAYLOAD_BYTES]>() };
            *packet = Packet { protocol: view.protocol, length: view.length, flow: view.flow, payload };
        }
        true
    }

    /// How many packets it has; never more than fit, whoever wrote it.
    pub fn count(&self) -> usize {
        (self.count as usize).min(MOST_BATCH)
    }

    /// Bytes that are sent of it.
    pub fn bytes(&self) -> usize {
        HEAD_BYTES + self.count() * size_of::<Packet>()
    }

    /// The work, on the other side. Neither allocates nor panics.
    pub fn serve(&self, first: u16, answers: &mut [Answer; MOST_BATCH]) {
        for (packet, answer) in self.packets.iter().take(self.count()).zip(answers) {
            *answer = match serve(first, packet.protocol, &packet.payload) {
                Some(outcome) => {
                    Answer { value: outcome.value, claim: outcome.handler, reserved: 0, status: abi::OK }
                }
                None => Answer { status: abi::NOT_MINE, ..Answer::zeroed() },
            };
        }
    }
}

/// Where results are to be read to.
pub(super) fn bytes_of(results: &mut [PluginResult]) -> &mut [u8] {
    let bytes = size_of_val(results);
    // SAFETY: integers without padding (the two are of one size, field by field), for which any bytes will do.
    unsafe { std::slice::from_raw_parts_mut(results.as_mut_ptr().cast::<u8>(), bytes) }
}
