//! A plugin as somebody writes it first. It compiles, and each field is a bug: see README.md.

use std::sync::Arc;

/// All of its packets.
const KEY: u16 = 3000;
/// Those of its packets whose first payload byte is odd.
const RESIDUAL_KEY: u16 = 3001;

/// What the host gets.
pub struct PluginApi {
    pub name: String,
    pub keys: Vec<u16>,
    pub enabled: bool,
    pub version: usize,
    pub level: Level,
    pub handler: Arc<Handler>,
}

/// How much it can do.
pub enum Level {
    One,
    Batches,
}

/// What it does.
pub struct Handler {
    pub sum: fn(payload: &[u8]) -> u64,
}

fn sum(payload: &[u8]) -> u64 {
    payload.iter().map(|&byte| u64::from(byte)).sum()
}

/// What the host asks for.
#[unsafe(no_mangle)]
pub extern "C" fn nanokata_plugin() -> *const PluginApi {
    Box::into_raw(Box::new(PluginApi {
        name: "tally".to_string(),
        keys: vec![KEY, RESIDUAL_KEY],
        enabled: true,
        version: 1,
        level: Level::Batches,
        handler: Arc::new(Handler { sum }),
    }))
}
