//! The catalogue as JSON.

use pyo3::prelude::*;
use serde::Serialize;

use super::machine::card;
use crate::catalogue::experiments;
use crate::race::{ArmInfo, Parameter, Unit};

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    unit: Unit,
    parameters: Vec<Parameter>,
    arms: Vec<ArmInfo>,
}

/// Every experiment, defaults resolved for this machine: a JSON list.
#[pyfunction]
pub fn catalogue() -> String {
    let listed: Vec<Listed> = experiments()
        .map(|experiment| Listed {
            id: experiment.id(),
            title: experiment.title(),
            about: experiment.about(),
            unit: experiment.unit(),
            parameters: experiment.parameters(card()),
            arms: experiment.arms(),
        })
        .collect();
    serde_json::to_string(&listed).expect("plain data")
}
