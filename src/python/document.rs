//! The JSON document that results cross in: report, machine, instrument.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::machine::{Named, card};
use crate::experiments::instrument::Instrument;
use crate::race::Report;

#[derive(Serialize)]
struct Document<'a> {
    report: &'a Report,
    machine: Named<'a>,
    instrument: Option<&'a Instrument>,
}

/// A report with the machine that it came from, and the instrument if that was looked at: a JSON object.
pub fn document(report: &Report, instrument: Option<&Instrument>) -> String {
    let document = Document { report, machine: Named { id: card().id(), card: card() }, instrument };
    serde_json::to_string(&document).expect("plain data")
}

/// Seconds since 1970, and a clock that only goes forward.
pub fn started_now() -> (f64, Instant) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    (since, Instant::now())
}
