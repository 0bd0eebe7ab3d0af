//! The machine: what it is, where a thread runs, what time and noise look like.

/// A CPU that is absent or not allowed, or a pin that was not honoured.
#[derive(Debug, thiserror::Error)]
#[error("placeholder")]
pub struct PinningError;

/// The machine card.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Card;
