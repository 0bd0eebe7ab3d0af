//! The host against plugins that it knows, and against structs and claims of every kind.

mod adapter;
mod allowed;
mod examination;
mod gates;
pub(in crate::plugin) mod layout;
mod shipped;

use std::sync::Arc;

use super::{Plugin, shipped as known};

/// A plugin that came with this build.
fn load(name: &str) -> Arc<Plugin> {
    let path = known::library(name).expect("built with this");
    // SAFETY: this build's own plugin.
    unsafe { Plugin::load(&path) }.unwrap_or_else(|error| panic!("{error}"))
}
