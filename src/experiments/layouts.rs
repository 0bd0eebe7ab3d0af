//! How far apart the copies of one loop are that differ in nothing but where they lie: what an arm that exists once may
//! owe to luck.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Result;
use crate::dispatch::{Body, HandlerSet, ScanReference, SelectionArm, SelectionRecipe};
use crate::machine::Card;
use crate::race::{
    self, Arm, CODE_COPIES, Entry, Input, Options, Placement, Plan, Recipe, Role, Source, Unit, Values, Watch,
};
use crate::traffic::{Law, Traffic};

/// An arm held in one of its code layouts.
struct Held {
    arm: Arc<dyn Recipe>,
    layout: usize,
}

impl Recipe for Held {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let mut arm = self.arm.build(input, placement)?;
        arm.use_layout(self.layout);
        Ok(Arm::new(arm, |arm, window| arm.run(window)))
    }
}

/// Races the copies of the compact table's loop over 100 handlers against each other, and returns the largest relative
/// difference of one from their geometric mean: 0.01 is 1 %.
///
/// # Errors
/// As a race.
pub fn spread(body: Body, options: &Options, card: &Card, watch: &Watch) -> Result<f64> {
    let set = HandlerSet::standard(100, body, 0.10, options.seed)?;
    let pool = card.l2_bytes().map_or(1 << 14, |bytes| (bytes / 64).max(1));
    let packets =
        Traffic::new(Law::Uniform).seed(options.seed).generate(pool, &set.keys(), &watch.silent())?;
    let reference = Arc::new(ScanReference::new(&set));
    let arm: Arc<dyn Recipe> = Arc::new(SelectionRecipe::new(SelectionArm::TableCompact, &set, None)?);
    let entries = (0..CODE_COPIES).map(|layout| {
        let role = if layout == 0 { Role::Baseline } else { Role::Arm };
        let held = Arc::new(Held { arm: Arc::clone(&arm), layout });
        Entry::new(format!("layout_{layout}"), role, held, reference.clone(), "dispatch")
    });
    let plan = Plan::new(Source::from_items(packets), entries.collect());
    let cell = race::run(&plan, Unit::NsPerPacket, &Values(BTreeMap::new()), card, options, watch)?;
    // The first is what the others' ratios are to.
    let logs: Vec<f64> = cell.arms.iter().map(|arm| arm.ratio.unwrap_or(1.0).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    Ok(logs.iter().map(|log| (log - mean).abs()).fold(0.0, f64::max).exp_m1())
}
