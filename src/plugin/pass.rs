//! One untimed pass of a plugin over packets, as it comes: what it computed, under which claim, and what it said.

use std::sync::Arc;

use super::abi::{PacketView, PluginResult};
use super::{Instance, Plugin, Rejected, view};
use crate::machine::memory;
use crate::race::Watch;
use crate::traffic::Packet;
use crate::{Error, Result};

/// Packets between two looks at the watch.
const CHUNK: usize = 1024;

/// Lends each packet to a fresh instance: one at a time, or `batch` at once by `process_batch`. Nothing is judged: a status
/// is what the plugin said.
///
/// # Errors
/// [`Error::InvalidArgument`] for a batch of 0; [`Error::Plugin`] where it has no instance to give, or no `process_batch` where one is asked for, or where a whole
/// batch fails; [`Error::Interrupted`] once `watch` is stopped; [`Error::OutOfMemory`] before anything is processed.
pub fn pass(
    plugin: &Arc<Plugin>,
    packets: &[Packet],
    batch: Option<usize>,
    watch: &Watch,
) -> Result<Vec<PluginResult>> {
    if batch == Some(0) {
        return Err(Error::invalid("batch", 0, "at least 1"));
    }
    let mut instance = Instance::create(plugin)?;
    let mut results = memory::reserve("the results of a plugin", packets.len())?;
    let mut views: Vec<PacketView> = Vec::new();
    for chunk in packets.chunks(CHUNK) {
        watch.check()?;
        match batch {
            None => results.extend(chunk.iter().map(|packet| instance.result(packet))),
            Some(batch) => {
                for packets in chunk.chunks(batch) {
                    views.clear();
                    views.extend(packets.iter().map(view));
                    let begin = results.len();
                    results.resize(begin + packets.len(), PluginResult::default());
                    match instance.process_batch(&views, &mut results[begin..]) {
                        Some(0) => {}
                        Some(status) => {
                            return Err(failed(
                                plugin,
                                format!("{status}"),
                                "0: none of a batch's results counts",
                            ));
                        }
                        None => {
                            let wanted = "a plugin of level 2; leave batch out, or build it against the present header";
                            return Err(failed(plugin, "none".into(), wanted));
                        }
                    }
                }
            }
        }
    }
    Ok(results)
}

fn failed(plugin: &Plugin, value: String, wanted: &str) -> Error {
    Rejected::new(plugin.path(), "process_batch()", value, wanted).into()
}
