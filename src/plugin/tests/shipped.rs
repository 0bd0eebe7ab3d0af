//! The plugins that come with the build, through every gate.

use crate::plugin::abi::{CLAIM_RESIDUAL, Claim, LEVEL_1_BYTES, LEVEL_2_BYTES, PluginResult};
use std::sync::Arc;

use super::load;
use crate::dispatch::{Body, reference};
use crate::plugin::{Instance, Processed, shipped, view};
use crate::traffic::Packet;

fn packet(key: u16, first: u8) -> Packet {
    let mut payload = std::array::from_fn(|at| (at * 37 + 11) as u8);
    payload[0] = first;
    Packet { protocol: key, length: 60, flow: 9, payload }
}

#[test]
fn both_editions_are_driven_by_one_host() {
    for (name, bytes, batch) in [("v1", LEVEL_1_BYTES, false), ("v2", LEVEL_2_BYTES, true)] {
        let plugin = load(name);
        assert_eq!((plugin.functions().struct_size, plugin.functions().abi_version), (bytes, 1), "{name}");
        assert_eq!(plugin.functions().process_batch.is_some(), batch, "{name}");
        let flags: Vec<u16> = plugin.claims().iter().map(|claim| claim.flags).collect();
        assert_eq!(flags, [0, 0, 0, CLAIM_RESIDUAL], "{name}");
    }
}

#[test]
fn they_compute_what_the_hosts_own_handlers_do() {
    for name in shipped::NAMES {
        let plugin = load(name);
        let mut instance = Instance::create(&plugin).expect("an instance");
        for (place, &Claim { key, flags }) in plugin.claims().iter().enumerate() {
            for first in 0..=255 {
                let packet = packet(key, first);
                let expected = match flags == CLAIM_RESIDUAL && first & 3 != 3 {
                    true => Processed::NotMine,
                    false => Processed::Done {
                        value: reference::value(Body::Tiny, place, &packet),
                        claim: place as u16,
                    },
                };
                assert_eq!(instance.process(&packet), expected, "{name} {key} {first}");
                let mut results = [PluginResult::default()];
                if let Some(status) = instance.process_batch(&[view(&packet)], &mut results) {
                    assert_eq!((status, instance.read(results[0].status, &results[0])), (0, expected));
                }
            }
        }
    }
}

#[test]
fn an_instance_keeps_its_library() {
    let plugin = load("v2");
    let library = Arc::downgrade(plugin.library());
    let mut instance = Instance::create(&plugin).expect("an instance");
    drop(plugin);
    assert!(library.upgrade().is_some());
    assert!(matches!(instance.process(&packet(2010, 0)), Processed::Done { .. }));
    drop(instance);
    assert!(library.upgrade().is_none(), "closed with the last that needs it");
}
