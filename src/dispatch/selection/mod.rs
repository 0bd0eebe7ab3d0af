//! Selection: ways of finding a packet's handler. One file each; all take the first match in their order.

mod hash_map;
mod recipe;
mod scan;
mod scan_keys;
mod scan_move_to_front;
mod scan_transpose;
mod slot;
mod table_compact;
mod table_direct16;

pub use hash_map::HashMapSelection;
pub use recipe::{Pass, SelectionArm, SelectionRecipe};
pub use scan::Scan;
pub use scan_keys::ScanKeys;
pub use scan_move_to_front::ScanMoveToFront;
pub use scan_transpose::ScanTranspose;
pub use slot::{Candidates, Slot};
pub use table_compact::{FIRST_SLOTS, TableCompact};
pub use table_direct16::TableDirect16;
