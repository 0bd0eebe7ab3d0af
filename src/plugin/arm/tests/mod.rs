//! Arms against plain code: the right one is taken for any handlers and packets, each wrong one is noticed.

mod layout;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proptest::prelude::*;

use super::{ArmRecipe, SelectRecipe, SelectReference};
use crate::dispatch::{Body, HandlerSet, HandlerSpec, Residual, ScanReference, SelectionArm};
use crate::plugin::building::{self, Language};
use crate::plugin::{shipped, with_plugin};
use crate::race::{Checksum, Placement, Recipe, Reference, Source, Watch, Window};
use crate::traffic::Packet;

/// The faults of `plain.c`, in its order.
const FAULTS: [&str; 10] = [
    "NONE",
    "FORGETS_RESIDUALS",
    "LAST_MATCH_WINS",
    "UNSIGNED",
    "SKIPS_ONE",
    "NO_ARM",
    "LAZY",
    "SHORT",
    "FUTURE",
    "NO_RUN",
];

/// The library with that fault, built once; `None` without a compiler.
fn library(fault: &str) -> Option<PathBuf> {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    static BUILT: [OnceLock<PathBuf>; FAULTS.len()] = [const { OnceLock::new() }; FAULTS.len()];
    building::find(Language::C, None).ok()?;
    let at = FAULTS.iter().position(|known| *known == fault).expect("a fault of plain.c");
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a directory of its own"));
    let build = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plugin/arm/tests/plain.c");
        let output = folder.path().join(format!("{fault}.so"));
        building::build(&source, &output, None, &[&format!("-DFAULT={fault}")], &Watch::new())
            .expect("built");
        output
    };
    Some(BUILT[at].get_or_init(build).clone())
}

fn folded(recipe: &dyn Recipe, packets: &[Packet], window: Window) -> crate::Result<Checksum> {
    let mut placement = Placement::new(7);
    let input = Source::from_items(packets.to_vec()).place(&mut placement)?;
    Ok(recipe.build(&input, &mut placement)?.run(window))
}

fn residual() -> impl Strategy<Value = Residual> {
    prop_oneof![
        3 => Just(Residual::None),
        1 => (0..24_u8, any::<u8>(), any::<u8>())
            .prop_map(|(offset, mask, value)| Residual::Mask { offset, mask, value: value & mask }),
        1 => (0..24_u8, any::<u8>(), any::<u8>())
            .prop_map(|(offset, a, b)| Residual::Range { offset, low: a.min(b), high: a.max(b) }),
        1 => any::<u64>().prop_map(|active| Residual::Flow { active }),
    ]
}

fn set() -> impl Strategy<Value = HandlerSet> {
    let spec = (0..8_u16, residual()).prop_map(|(key, residual)| HandlerSpec { key, residual });
    let body = prop_oneof![Just(Body::Tiny), Just(Body::Fat), Just(Body::Identical)];
    (prop::collection::vec(spec, 1..40), body, any::<u64>()).prop_map(|(specs, body, turn)| {
        let set = HandlerSet::from_specs(specs, body).expect("predicates that can hold");
        let mut order: Vec<usize> = (0..set.len()).collect();
        order.rotate_left(turn as usize % set.len());
        set.reordered(&order).expect("each once")
    })
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0..10_u16, any::<u32>(), any::<[u8; 24]>()).prop_map(|(protocol, flow, payload)| Packet {
        protocol,
        length: 60,
        flow,
        payload,
    });
    prop::collection::vec(packet, 2..600)
}

/// Handlers and packets by which each fault shows: residual lists, overlaps, unmatched packets.
fn telling() -> (HandlerSet, Vec<Packet>) {
    let spec = |key, residual| HandlerSpec { key, residual };
    let specs = vec![
        spec(1, Residual::Mask { offset: 0, mask: 1, value: 1 }),
        spec(1, Residual::None),
        spec(2, Residual::None),
        spec(2, Residual::None),
        spec(3, Residual::None),
    ];
    let packets = (0..64).map(|n: u16| Packet {
        protocol: n % 5,
        length: 60,
        flow: n.into(),
        payload: std::array::from_fn(|at| (u32::from(n) * 7 + at as u32 * 3) as u8),
    });
    (HandlerSet::from_specs(specs, Body::Tiny).expect("valid"), packets.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_right_arm_agrees_with_plain_code(set in set(), packets in packets(), cut in any::<(u16, u16)>()) {
        let Some(library) = library("NONE") else { return Ok(()) };
        // SAFETY: our own library.
        let recipe = unsafe { ArmRecipe::load(&library, &set) }.expect("an arm");
        let first = usize::from(cut.0) % packets.len();
        let window = Window { first, count: 1 + usize::from(cut.1) % (packets.len() - first) };
        let expected = ScanReference::new(&set).checksum(&Source::from_items(packets.clone()), window);
        prop_assert_eq!(folded(&recipe, &packets, window).expect("built"), expected);
    }

    #[test]
    fn every_selection_finds_what_plain_code_does(set in set(), packets in packets()) {
        let window = Window { first: 0, count: packets.len() };
        let expected = SelectReference::new(&set).checksum(&Source::from_items(packets.clone()), window);
        for arm in SelectionArm::ALL.into_iter().filter(|arm| arm.keeps_order()) {
            let recipe = SelectRecipe::built_in(arm, &set).expect("built in");
            prop_assert_eq!(folded(&recipe, &packets, window).expect("built"), expected, "{}", arm);
        }
        let Some(library) = library("NONE") else { return Ok(()) };
        // SAFETY: our own library.
        let recipe = unsafe { SelectRecipe::load(&library, &set) }.expect("a selection");
        prop_assert_eq!(folded(&recipe, &packets, window).expect("built"), expected);
    }
}

#[test]
fn each_wrong_arm_is_noticed() {
    let (set, packets) = telling();
    let window = Window { first: 0, count: packets.len() };
    let expected = ScanReference::new(&set).checksum(&Source::from_items(packets.clone()), window);
    for fault in ["FORGETS_RESIDUALS", "LAST_MATCH_WINS", "UNSIGNED", "SKIPS_ONE"] {
        let Some(library) = library(fault) else { return };
        // SAFETY: our own library.
        let recipe = unsafe { ArmRecipe::load(&library, &set) }.expect("an arm");
        assert_ne!(folded(&recipe, &packets, window).expect("built"), expected, "{fault}");
    }
}

#[test]
fn each_wrong_selection_is_noticed() {
    let (set, packets) = telling();
    let window = Window { first: 0, count: packets.len() };
    let expected = SelectReference::new(&set).checksum(&Source::from_items(packets.clone()), window);
    for fault in ["FORGETS_RESIDUALS", "LAST_MATCH_WINS", "LAZY"] {
        let Some(library) = library(fault) else { return };
        // SAFETY: our own library.
        let recipe = unsafe { SelectRecipe::load(&library, &set) }.expect("a selection");
        assert_ne!(folded(&recipe, &packets, window).expect("built"), expected, "{fault}");
    }
}

#[test]
fn what_is_no_arm_is_refused_by_field() {
    let (set, packets) = telling();
    for (fault, field) in [("SHORT", "struct_size"), ("FUTURE", "abi_version"), ("NO_RUN", "run = null")] {
        let Some(library) = library(fault) else { return };
        // SAFETY: our own library.
        let error = unsafe { ArmRecipe::load(&library, &set) }.expect_err("refused").to_string();
        assert!(error.contains(field), "{fault}: {error}");
        // SAFETY: as above.
        assert!(unsafe { SelectRecipe::load(&library, &set) }.is_err(), "{fault}");
    }
    let window = Window { first: 0, count: packets.len() };
    let Some(library) = library("NO_ARM") else { return };
    // SAFETY: our own library.
    let recipe = unsafe { ArmRecipe::load(&library, &set) }.expect("an arm");
    let error = folded(&recipe, &packets, window).expect_err("no arm for these").to_string();
    assert!(error.contains("create() = null") && error.contains("5 handlers"), "{error}");
    // A plugin is no arm.
    let plugin = shipped::library("v2").expect("built with this");
    // SAFETY: this build's own plugin.
    let error = unsafe { ArmRecipe::load(&plugin, &set) }.expect_err("no arm").to_string();
    assert!(error.contains("nanokata_arm among the exported symbols"), "{error}");
}

#[test]
fn a_set_with_a_plugin_is_refused() {
    let Some(library) = library("NONE") else { return };
    // SAFETY: this build's own plugin.
    let plugin = unsafe { crate::plugin::Plugin::load(&shipped::library("v2").expect("built with this")) };
    let set = with_plugin(&telling().0, &plugin.expect("a plugin")).expect("keys apart");
    // SAFETY: our own library.
    assert!(unsafe { ArmRecipe::load(&library, &set) }.is_err());
    assert!(SelectRecipe::built_in(SelectionArm::Scan, &set).is_err());
}
