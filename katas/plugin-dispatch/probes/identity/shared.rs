//! The crate with the type that both sides know.

pub struct Packet(pub u32);
