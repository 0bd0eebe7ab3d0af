//! All ways compute the same, whatever is left for the last batch; processes end with their arms; other work is refused.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::pipe::Shared;
use super::{Across, Carrier, CrossingRecipe, FIRST_KEY, MOST_BATCH, Offer, Way, handler_set, serve_batch};
use crate::dispatch::ScanReference;
use crate::machine::Card;
use crate::plugin::abi::{self, PacketView, PluginResult};
use crate::plugin::{Plugin, building, shipped};
use crate::race::{
    self, Arm, Conditions, Entry, LEAST_BLOCKS, Options, Placement, Plan, Recipe, Reference, Role, Source,
    Unit, Values, Watch, Window,
};
use crate::traffic::{Law, Packet, Traffic};
use crate::{Error, Result};

fn load(name: &str) -> Arc<Plugin> {
    let path = shipped::library(name).expect("built with this");
    // SAFETY: this build's own plugin.
    unsafe { Plugin::load(&path) }.expect("a plugin")
}

fn packets(count: usize, seed: u64) -> Vec<Packet> {
    let keys = handler_set(FIRST_KEY).expect("a set").keys();
    Traffic::new(Law::Uniform)
        .unmatched(0.1)
        .seed(seed)
        .generate(count, &keys, &Watch::new())
        .expect("packets")
}

fn recipe(way: Way) -> Arc<CrossingRecipe> {
    Arc::new(CrossingRecipe::new(way, FIRST_KEY).expect("a recipe"))
}

fn reference() -> Arc<ScanReference> {
    Arc::new(ScanReference::new(&handler_set(FIRST_KEY).expect("a set")))
}

fn built(recipe: &dyn Recipe, source: &Source) -> Arm {
    let mut placement = Placement::new(7);
    let input = source.place(&mut placement).expect("placed");
    recipe.build(&input, &mut placement).expect("built")
}

/// What a runtime would offer, without one.
struct Plain(u16);

impl Carrier for Plain {
    unsafe fn carry(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
        // SAFETY: the caller's.
        unsafe { serve_batch(self.0, views, results) }
    }
}

fn plain(first: u16) -> Result<Box<dyn Carrier>> {
    Ok(Box::new(Plain(first)))
}

static PLAIN: Offer = Offer { name: "plain", spoken: "nothing but a call", make: plain };

fn boundaries(shared: &Shared) -> Vec<Across> {
    vec![
        Across::Internal,
        Across::Plugin(load("v2")),
        Across::SystemCall,
        Across::Pipe(shared.clone()),
        Across::Offered(&PLAIN),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_way_computes_what_the_reference_says(
        batch in 1usize..=300, first in 0usize..200, count in 1usize..600, layout in 0usize..8, seed: u64,
    ) {
        let source = Source::from_items(packets(800, seed));
        let window = Window { first, count };
        let expected = reference().checksum(&source, window);
        let shared = Shared::default();
        let each = [Way::Inlined, Way::BehindDyn, Way::Plugin(load("v2")), Way::Plugin(load("v1"))];
        let batched = boundaries(&shared).into_iter().map(|across| Way::Batched(across, batch));
        for way in each.into_iter().chain(batched) {
            let mut arm = built(&*recipe(way.clone()), &source);
            arm.use_layout(layout);
            prop_assert_eq!(arm.run(window), expected, "{:?}", way);
            prop_assert_eq!(arm.run(window), expected, "{:?} again", way);
        }
    }
}

#[test]
fn the_process_behind_a_pipe_is_shared_and_ends_with_its_last_arm() {
    let source = Source::from_items(packets(64, 3));
    let shared = Shared::default();
    let one = built(&*recipe(Way::Batched(Across::Pipe(shared.clone()), 4)), &source);
    let mut other = built(&*recipe(Way::Batched(Across::Pipe(shared.clone()), 64)), &source);
    let id = shared.id().expect("runs");
    drop(one);
    assert_eq!(shared.id(), Some(id), "the other needs it");
    let window = Window { first: 0, count: 64 };
    assert_eq!(other.run(window), reference().checksum(&source, window));
    drop(other);
    assert_eq!(shared.id(), None);
    // SAFETY: signal 0 only asks whether there is such a process.
    let gone = unsafe { libc::kill(id, 0) } == -1;
    assert!(gone && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH), "it was waited for");
}

#[test]
fn a_process_that_is_gone_is_a_wrong_checksum_and_no_hang() {
    let source = Source::from_items(packets(64, 3));
    let shared = Shared::default();
    let mut arm = built(&*recipe(Way::Batched(Across::Pipe(shared.clone()), 8)), &source);
    // SAFETY: our own child.
    unsafe { libc::kill(shared.id().expect("runs"), libc::SIGKILL) };
    let window = Window { first: 0, count: 64 };
    assert_ne!(arm.run(window), reference().checksum(&source, window));
}

fn raced(recipe_of_other: Arc<dyn Recipe>) -> Result<race::Cell> {
    raced_under(Conditions::default(), recipe_of_other)
}

fn raced_under(conditions: Conditions, recipe_of_other: Arc<dyn Recipe>) -> Result<race::Cell> {
    let options = Options {
        bound: Duration::from_millis(200),
        max_blocks: LEAST_BLOCKS,
        allow_debug_build: true,
        ..Options::quick()
    };
    let own = Entry::new("own", Role::Baseline, recipe(Way::Inlined), reference(), "work");
    let other = Entry::new("other", Role::Arm, recipe_of_other, reference(), "work");
    let plan = Plan::new(Source::from_items(packets(4096, 3)), vec![own, other]);
    let plan = Plan { conditions, ..plan };
    let _alone = crate::run::tests::alone();
    race::run(&plan, Unit::NsPerPacket, &Values::default(), &Card::read(), &options, &Watch::new())
}

/// Whoever waits for another process is switched out by construction: elsewhere that spoils a round, here it is the work.
#[cfg(target_os = "linux")]
#[test]
fn waiting_for_a_process_spoils_rounds_unless_the_race_is_about_that() {
    let piped = || recipe(Way::Batched(Across::pipe(), 256));
    let refused = raced_under(Conditions::default(), piped());
    assert!(matches!(refused, Err(Error::NotMeasurable { .. })), "{refused:?}");
    match raced_under(Conditions { waits: true, ..Conditions::default() }, piped()) {
        Ok(cell) => {
            let seen = &cell.disturbances;
            assert!(seen.involuntary_switches > 0 || seen.waited_ns > Some(0), "nobody waited: {seen:?}");
            assert!(!cell.faulty, "it is no trap");
        }
        Err(Error::NotMeasurable { .. }) => {}
        Err(other) => panic!("{other}"),
    }
}

fn cheating(first: u16) -> Result<Box<dyn Carrier>> {
    /// Does every other batch only.
    struct Lazy(u16, bool);
    impl Carrier for Lazy {
        unsafe fn carry(&mut self, views: &[PacketView], results: &mut [PluginResult]) -> i32 {
            self.1 = !self.1;
            match self.1 {
                // SAFETY: the caller's.
                true => unsafe { serve_batch(self.0, views, results) },
                false => abi::OK,
            }
        }
    }
    Ok(Box::new(Lazy(first, false)))
}

static CHEATING: Offer = Offer { name: "cheating", spoken: "half of the work", make: cheating };

#[test]
fn a_boundary_that_leaves_work_out_is_refused() {
    let refused = raced(recipe(Way::Batched(Across::Offered(&CHEATING), 16)));
    assert!(matches!(refused, Err(Error::ChecksumMismatch { .. })), "{refused:?}");
    match raced(recipe(Way::Batched(Across::Offered(&PLAIN), 16))) {
        Ok(_) | Err(Error::NotMeasurable { .. }) => {}
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_plugin_that_computes_something_else_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = shipped::sources().expect("there");
    let text = std::fs::read_to_string(sources.join("plugins/v2.c")).expect("the source");
    // Between the call and the answer one bit is turned.
    let doctored = text
        .replace("\"handlers.h\"", &format!("\"{}\"", sources.join("plugins/handlers.h").display()))
        .replace("#define FIRST_KEY 2030", "#define FIRST_KEY 2010")
        .replace(
            "return run_handler(FIRST_KEY, packet, result);",
            "int32_t status = run_handler(FIRST_KEY, packet, result); result->value ^= 1; return status;",
        );
    assert!(doctored.contains("^= 1") && doctored.contains("2010"), "the source has changed");
    let source = folder.path().join("doctored.c");
    std::fs::write(&source, doctored).expect("written");
    let library = folder.path().join("doctored.so");
    match building::build(&source, &library, None, &[], &crate::race::Watch::new()) {
        Err(Error::CannotBuild { reason, .. }) if reason.starts_with("no compiler") => return,
        other => _ = other.expect("built"),
    }
    // SAFETY: the example plugin, but for one bit.
    let plugin = unsafe { Plugin::load(&library) }.expect("a plugin");
    let refused = raced(recipe(Way::Plugin(plugin)));
    assert!(matches!(refused, Err(Error::ChecksumMismatch { .. })), "{refused:?}");
}

#[test]
fn what_cant_be_built_is_refused_with_the_value() {
    let refused = |way, first| CrossingRecipe::new(way, first).expect_err("refused").to_string();
    assert!(refused(Way::Batched(Across::Internal, 0), FIRST_KEY).starts_with("batch = 0"));
    let many = MOST_BATCH + 1;
    assert!(refused(Way::Batched(Across::Internal, many), FIRST_KEY).starts_with(&format!("batch = {many}")));
    let old = Way::Batched(Across::Plugin(load("v1")), 4);
    assert!(refused(old, FIRST_KEY).contains("process_batch"));
    let elsewhere = Way::Batched(Across::Plugin(load("v2")), 4);
    assert!(refused(elsewhere, 7).starts_with("first = 7"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_are_indirect_where_they_have_to_be_and_only_there() {
    let image = crate::binary::Image::of_this_code().expect("this code");
    let calls = |way| recipe(way).indirect_calls(&image).expect("decoded");
    assert_eq!(calls(Way::Inlined), 0);
    assert_eq!(calls(Way::BehindDyn), 1);
    assert!(calls(Way::Plugin(load("v2"))) >= 1);
    assert!(calls(Way::Batched(Across::Plugin(load("v2")), 4)) >= 1);
    assert_eq!(calls(Way::Batched(Across::Internal, 4)), 0);
}
