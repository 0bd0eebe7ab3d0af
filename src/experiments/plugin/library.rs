//! The plugin that is raced: one that came with this build, or somebody's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Result;
use crate::plugin::{Plugin, shipped};
use crate::race::{Check, Kind, Parameter, Value};

/// The shipped plugin that takes batches.
pub(super) const SHIPPED: &str = "v2";

/// Which plugin.
pub(super) fn parameter() -> Parameter {
    Parameter::new(
        "library",
        Kind::ChoiceOrFile { choices: vec![SHIPPED] },
        Value::Text(SHIPPED.into()),
        "plugin that is crossed to: v2, which came with this build, or a library's path, whose code then runs in this \
         process",
    )
}

/// Loads what the parameter names.
///
/// # Errors
/// As [`Plugin::load`].
pub(super) fn load(name: &str) -> Result<(Arc<Plugin>, Check)> {
    let shipped = shipped::NAMES.contains(&name);
    let path = if shipped { shipped::library(name)? } else { PathBuf::from(name) };
    // SAFETY: this build's own, or one whose code the caller asked to be run, as the parameter says.
    let plugin = unsafe { Plugin::load(&path) }?;
    Ok((plugin, examined(shipped, &path)))
}

/// Whether anything was known of the library before its code ran here.
fn examined(shipped: bool, path: &Path) -> Check {
    const NAME: &str = "library-examined";
    if shipped {
        return Check::new(NAME, true, format!("{} came with this build", path.display()));
    }
    let reason = format!(
        "{} runs in this process without having been examined in another; `nanokata plugin check` does that",
        path.display()
    );
    Check::not_applicable(NAME, reason)
}
