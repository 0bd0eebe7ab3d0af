//! Several packets at once: what one at a time gives, in memory with nothing behind it.

use std::ffi::c_void;

use super::lease::{Answer, UNWRITTEN};
use super::pages::Guarded;
use super::report::{Finding, Reporter};
use super::working::{Seen, same};
use super::{Stage, Subject};
use crate::plugin::abi::{self, PacketView, PluginResult, ProcessBatch};
use crate::traffic::packet::PAYLOAD_BYTES;

/// How many at once: none, one, an odd number, and as many as a host may.
const SIZES: [usize; 4] = [0, 1, 7, 256];

/// Examines `process_batch`, where there is one.
pub fn batch(subject: &Subject, instance: *mut c_void, seen: &Seen, reporter: &mut Reporter<'_>) {
    let Some(process_batch) = subject.functions.process_batch else {
        let bytes = subject.functions.struct_size;
        reporter.skip(Stage::Batch, format!("no process_batch in its struct of {bytes} bytes"));
        return;
    };
    reporter.check(Stage::Batch, || {
        for size in SIZES {
            let size = size.min(seen.packets.len());
            let mut from = 0;
            while from < seen.packets.len() {
                one(subject, process_batch, instance, seen, from, size)?;
                from += size.max(seen.packets.len() / 4).max(1);
            }
        }
        let sizes = SIZES.map(|size| size.min(seen.packets.len()).to_string()).join(", ");
        Ok(format!("batches of {sizes} packets give what one at a time does"))
    });
}

/// Packets `from`, …, as far as there are `size` of them.
fn one(
    subject: &Subject,
    process_batch: ProcessBatch,
    instance: *mut c_void,
    seen: &Seen,
    from: usize,
    size: usize,
) -> Finding {
    let packets = &seen.packets[from..(from + size).min(seen.packets.len())];
    let count = packets.len();
    let payloads = Guarded::with_room(count * PAYLOAD_BYTES)?;
    let views = Guarded::with_room(count * size_of::<PacketView>())?;
    let results = Guarded::with_room(count * size_of::<PluginResult>())?;
    let payload: *mut [u8; PAYLOAD_BYTES] = payloads.last(count);
    let (view, result) = (views.last::<PacketView>(count), results.last::<PluginResult>(count));
    for (at, (_, packet)) in packets.iter().enumerate() {
        // SAFETY: room for `count` of each.
        unsafe {
            payload.add(at).write(packet.payload);
            let lent = PacketView { payload: payload.add(at).cast(), ..crate::plugin::view(packet) };
            view.add(at).write(lent);
            result.add(at).write(UNWRITTEN);
        }
    }
    // SAFETY: the plugin's own function and instance; the arrays hold as many as it is told.
    let status = unsafe { process_batch(instance, view, count as u64, result) };
    if status != abi::OK {
        return Err(format!("process_batch() returned {status} for {count} packets; wanted 0"));
    }
    for (at, (place, packet)) in packets.iter().enumerate() {
        // SAFETY: written above; whatever the plugin made of them, any bytes are values of these types.
        let (result, payload) = unsafe { (result.add(at).read(), payload.add(at).read()) };
        if result.status == UNWRITTEN.status {
            return Err(format!("no status is written for packet {at} of {count}"));
        }
        if payload != packet.payload {
            return Err(format!(
                "it wrote the payload of packet {at} of {count}; packets are lent to be read"
            ));
        }
        let value = subject
            .judge(*place, &Answer { status: result.status, result })
            .map_err(|said| format!("in a batch of {count}, {said}"))?;
        same(packet, seen.values[from + at], value)
            .map_err(|said| format!("one at a time {said} in a batch of {count}"))?;
    }
    Ok(String::new())
}
