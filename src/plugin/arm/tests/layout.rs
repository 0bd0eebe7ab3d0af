//! `nanokata_arm.h` and its Rust spelling, byte by byte, and the core's own structs that go by their names.

use std::mem::offset_of;

use super::super::abi::{
    ARM_ABI_VERSION, ArmApi, ArmInput, BODY_FAT, BODY_IDENTICAL, BODY_TINY, CHECKSUM_EMPTY, Handler,
    NO_HANDLER, Outcome, Packet, RESIDUAL_FLOW, RESIDUAL_MASK, RESIDUAL_NONE, RESIDUAL_RANGE, SelectApi,
    fold,
};
use crate::dispatch;
use crate::plugin::tests::layout::{asserted, holds};
use crate::race::Checksum;
use crate::traffic;

fn all() -> String {
    let mut text = String::from("#include <stddef.h>\n#include \"nanokata_arm.h\"\n");
    text += &asserted!(Packet, "NanokataPacket", [protocol, length, flow, payload]);
    text += &asserted!(Outcome, "NanokataOutcome", [value, handler]);
    text += &asserted!(
        Handler,
        "NanokataHandler",
        [key, number, residual, offset, first, second, active, object, process]
    );
    text += &asserted!(
        ArmInput,
        "NanokataArmInput",
        [struct_size, body, packets, packet_count, handlers, handler_count, placement_seed]
    );
    text += &asserted!(ArmApi, "NanokataArmApi", [struct_size, abi_version, create, destroy, run]);
    text += &asserted!(SelectApi, "NanokataSelectApi", [struct_size, abi_version, create, destroy, select]);
    let numbers = [
        ("NANOKATA_ARM_ABI_VERSION", u64::from(ARM_ABI_VERSION)),
        ("NANOKATA_NO_HANDLER", NO_HANDLER.into()),
        ("NANOKATA_RESIDUAL_NONE", RESIDUAL_NONE.into()),
        ("NANOKATA_RESIDUAL_MASK", RESIDUAL_MASK.into()),
        ("NANOKATA_RESIDUAL_RANGE", RESIDUAL_RANGE.into()),
        ("NANOKATA_RESIDUAL_FLOW", RESIDUAL_FLOW.into()),
        ("NANOKATA_BODY_FAT", BODY_FAT.into()),
        ("NANOKATA_BODY_TINY", BODY_TINY.into()),
        ("NANOKATA_BODY_IDENTICAL", BODY_IDENTICAL.into()),
        ("NANOKATA_CHECKSUM_EMPTY", CHECKSUM_EMPTY),
    ];
    for (name, number) in numbers {
        text += &format!("_Static_assert({name} == {number}u, \"{name}\");\n");
    }
    text
}

#[test]
fn c_and_rust_say_the_same() {
    let Some(held) = holds(&all(), &[]) else { return };
    held.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_cores_own_structs_are_laid_out_alike() {
    use traffic::Packet as Ours;
    assert_eq!(size_of::<Packet>(), size_of::<Ours>());
    assert_eq!(
        [offset_of!(Packet, protocol), offset_of!(Packet, length), offset_of!(Packet, flow)],
        [offset_of!(Ours, protocol), offset_of!(Ours, length), offset_of!(Ours, flow)]
    );
    assert_eq!(offset_of!(Packet, payload), offset_of!(Ours, payload));
    use dispatch::Outcome as Result;
    assert_eq!(size_of::<Outcome>(), size_of::<Result>());
    assert_eq!(
        [offset_of!(Outcome, value), offset_of!(Outcome, handler)],
        [offset_of!(Result, value), offset_of!(Result, handler)]
    );
    assert_eq!(NO_HANDLER, dispatch::NO_HANDLER);
}

#[test]
fn folds_are_one() {
    let ours = Checksum::EMPTY.fold(17, 3).fold(u64::MAX, 0xFFFF);
    assert_eq!(fold(fold(CHECKSUM_EMPTY, 17, 3), u64::MAX, 0xFFFF), ours.0);
}
