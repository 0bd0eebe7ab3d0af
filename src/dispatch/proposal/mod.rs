//! The brief's own loop, asked in registration order, with both calls (`matches` and `process`) by another mechanism.

mod closed;
mod erased;
mod known;
mod recipe;

pub(super) use closed::{Asked, Folded, ScanEnum};
pub(super) use erased::ScanErased;
pub(super) use known::{ScanStatic, ScanStaticKeys};
pub use recipe::{ProposalArm, ProposalRecipe};
