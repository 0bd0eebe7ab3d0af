//! Cache lines shared by accident: probes of two words at a chosen distance.

pub mod line;

pub use line::{Line, LineRecipe, LineReference, Mode};
