//! What crossing a boundary costs: arms that do the same work on the same packets, and differ in what lies between the loop
//! and the work.
//!
//! The work is what the example plugins do: four tiny handlers behind one door, the last of which tests its packets
//! further. [`Way`] says how they are reached, packet by packet or in batches across a boundary ([`Across`]).

mod across;
mod batch;
mod carrier;
mod each;
mod pipe;
mod recipe;
mod same_work;
mod service;
#[cfg(test)]
mod tests;

pub use batch::{MOST_BATCH, RESULT_BYTES, VIEW_BYTES};
pub use carrier::{Carrier, Offer, offer, offered};
pub use recipe::{Across, CrossingRecipe, Way};
pub use same_work::{FIRST_KEY, handler_set, same_work};
pub use service::serve_batch;
