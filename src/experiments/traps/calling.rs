//! What two traps race: calling the selected handler through its vtable, beside one fixed body called directly.

use std::sync::Arc;

use crate::Result;
use crate::dispatch::{DirectReference, HandlerSet, MechanismArm, MechanismRecipe, ScanReference, ceiling};
use crate::race::{Answer, ArmInfo, Cell, Entry, Plan, Reference, Role, Source};
use crate::traffic::Packet;

use super::configuration;

/// Through the vtable.
pub const CALLED: &str = "dyn_trait";
/// One fixed body, directly.
pub const DIRECT: &str = "direct";
const AGAIN: &str = "direct_again";

/// The arms, as the catalogue lists them.
pub fn arms() -> Vec<ArmInfo> {
    vec![
        ArmInfo { name: DIRECT, help: "the table's selection, then one fixed body by a direct call" },
        ArmInfo { name: CALLED, help: "the table's selection, then the selected handler through its vtable" },
        ArmInfo { name: AGAIN, help: "control: the direct arm, built apart" },
    ]
}

/// The race over these packets.
pub fn plan(set: &HandlerSet, packets: Vec<Packet>) -> Result<Plan> {
    let selected: Arc<dyn Reference> = Arc::new(ScanReference::new(set));
    let fixed: Arc<dyn Reference> = Arc::new(DirectReference::new(set));
    let again = Role::Control { against: DIRECT.into() };
    let arms = [
        (DIRECT, Role::Baseline, MechanismArm::Direct, &fixed, "fixed body"),
        (CALLED, Role::Arm, MechanismArm::DynTrait, &selected, "dispatch"),
        (AGAIN, again, MechanismArm::Direct, &fixed, "fixed body"),
    ];
    let mut entries = Vec::new();
    for (name, role, arm, reference, claim) in arms {
        let recipe = Arc::new(MechanismRecipe::new(arm, set)?);
        let ceiling = Some(ceiling::fold());
        entries.push(Entry { ceiling, ..Entry::new(name, role, recipe, Arc::clone(reference), claim) });
    }
    Ok(Plan { patience: configuration::FEWEST_BLOCKS, ..Plan::new(Source::from_items(packets), entries) })
}

/// What the call costs, as an answer.
pub fn gap(cell: &Cell, say: impl Fn(&str) -> String) -> Option<Answer> {
    configuration::difference(cell, CALLED, DIRECT, say)
}
