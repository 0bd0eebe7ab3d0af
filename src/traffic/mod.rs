//! Traffic: packets, the laws that draw them, and captures.

mod alias;
mod capture;
mod generator;
mod huge_pages;
mod key_counts;
mod law;
pub mod packet;
mod permutation;
mod unmatched;

pub use capture::{Capture, CaptureError, KeyRule, read_capture};
pub use generator::{DEFAULT_UNMATCHED, LENGTHS, Traffic};
pub use key_counts::key_counts;
pub use law::Law;
pub use packet::Packet;
pub use unmatched::UNMATCHED_KEYS;
