//! The machine card as JSON.

use std::sync::OnceLock;

use pyo3::prelude::*;
use serde::Serialize;

use crate::machine::Card;

/// The card, read once a process.
pub fn card() -> &'static Card {
    static CARD: OnceLock<Card> = OnceLock::new();
    CARD.get_or_init(Card::read)
}

/// The machine card: a JSON object, its `id` first.
#[pyfunction]
pub fn machine_card() -> String {
    serde_json::to_string(&Named { id: card().id(), card: card() }).expect("plain data")
}

/// A card with its machine's name.
#[derive(Serialize)]
pub struct Named<'a> {
    /// The machine's name.
    pub id: String,
    /// What else is known of it.
    #[serde(flatten)]
    pub card: &'a Card,
}

/// The build's name: changes with compiler, profile, target, version and commit.
#[pyfunction]
pub fn build_id() -> String {
    card().build_id()
}
