//! The core of nanokata: prediction, then measurement, of low-level performance.
//!
//! Layers, each using only those below it:
//! [`run`](mod@run), [`simulate`] → [`catalogue`] → [`experiments`] → [`plugin`] → [`dispatch`], [`sharing`] → [`traffic`] → [`race`] →
//! [`machine`]; [`binary`] stands on its own beside them.
//! Nothing here knows of Python except the `python` module, which is compiled only for the wheel.

pub mod binary;
pub mod catalogue;
pub mod dispatch;
pub mod error;
pub mod experiments;
pub mod machine;
pub mod plugin;
#[cfg(feature = "python")]
mod python;
pub mod race;
pub mod run;
pub mod sharing;
pub mod simulate;
pub mod traffic;

pub use error::{Error, Result};
