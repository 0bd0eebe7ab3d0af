//! The bindings: one file a module of the core. Nothing is computed here; results cross as JSON or as arrays.

mod advise;
mod arguments;
mod arrays;
mod audits;
mod binary;
mod catalogue;
mod dispatch;
mod doctor;
mod document;
mod errors;
mod experiments;
mod handlers;
mod machine;
mod plugin;
mod race;
mod sharing;
mod simulate;
mod traffic;
mod worker;

use pyo3::prelude::*;

/// The native half of nanokata. Private: its typed face is the package around it.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::advise::advise;
    #[pymodule_export]
    use super::audits::{distinct_bodies, expected_probes};
    #[pymodule_export]
    use super::binary::{functions, reach};
    #[pymodule_export]
    use super::catalogue::catalogue;
    #[pymodule_export]
    use super::dispatch::{PyArm, PyPass, changed_handlers, frequency_order, null};
    #[pymodule_export]
    use super::dispatch::{arm_code, mechanism, proposal, scan_ordered, selection};
    #[pymodule_export]
    use super::doctor::doctor;
    #[pymodule_export]
    use super::experiments::{expected_seconds, run_experiment};
    #[pymodule_export]
    use super::handlers::{PyHandlerSet, PyResidual};
    #[pymodule_export]
    use super::machine::{build_id, machine_card};
    #[pymodule_export]
    use super::plugin::arms::{own_arm, own_selection, selection_alone};
    #[pymodule_export]
    use super::plugin::building::{build_plugin, shipped_plugins};
    #[pymodule_export]
    use super::plugin::examining::{examination_stages, perform_examination};
    #[pymodule_export]
    use super::plugin::loading::{PyPlugin, load_plugin, sha256};
    #[pymodule_export]
    use super::race::race;
    #[pymodule_export]
    use super::sharing::{PyLinePass, line};
    #[pymodule_export]
    use super::simulate::{perform_simulation, simulate_experiment, simulation_processes};
    #[pymodule_export]
    use super::traffic::{PyLaw, generate, read_capture};
    #[pymodule_export]
    use super::worker::PyRan;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::plugin::callback::offer();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
