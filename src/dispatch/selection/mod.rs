//! Selection: ways of finding a packet's handler. One file each; all take the first match in their order.

mod hash_map;
mod recipe;
mod scan;
mod scan_keys;
mod scan_move_to_front;
mod scan_transpose;
mod selector;
mod slot;
mod table_compact;
mod table_direct16;

pub(super) use hash_map::HashMapSelection;
pub use recipe::{Pass, SelectionArm, SelectionRecipe};
pub(super) use scan::Scan;
pub(super) use scan_keys::ScanKeys;
pub(super) use scan_move_to_front::ScanMoveToFront;
pub(super) use scan_transpose::ScanTranspose;
pub(crate) use selector::Selector;
pub(super) use slot::{Candidates, Claim, Slot, claims};
pub(super) use table_compact::{FIRST_SLOTS, TableCompact};
pub(super) use table_direct16::TableDirect16;
