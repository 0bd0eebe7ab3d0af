//! Broken arms are noticed by their checksums.

use super::{uniform, whole};
use crate::dispatch::sabotage::{Fault, FaultyRecipe};
use crate::dispatch::{Body, HandlerSet, ScanReference, SelectionArm, SelectionRecipe};
use crate::race::{Placement, Recipe, Reference, Source};

#[test]
fn faulty_arms_compute_something_else() {
    let set = HandlerSet::standard(100, Body::Fat, 0.10, 7).unwrap();
    let source = Source::from_items(uniform(&set, 1000, 1));
    let expected = ScanReference::new(&set).checksum(&source, whole(&source));
    let checksum = |recipe: &dyn Recipe| {
        let mut placement = Placement::new(1);
        let input = source.place(&mut placement).unwrap();
        recipe.build(&input, &mut placement).unwrap().run(whole(&source))
    };
    let sound = SelectionRecipe::new(SelectionArm::TableCompact, &set, None).unwrap();
    assert_eq!(checksum(&sound), expected);
    for fault in [Fault::SkipsResiduals, Fault::ReturnsConstant] {
        assert_ne!(checksum(&FaultyRecipe::new(fault, &set)), expected, "{fault:?}");
    }
}

#[test]
fn a_table_that_skips_residuals_is_sound_where_there_are_none() {
    let set = HandlerSet::standard(100, Body::Tiny, 0.0, 7).unwrap();
    let source = Source::from_items(uniform(&set, 1000, 1));
    let mut placement = Placement::new(1);
    let input = source.place(&mut placement).unwrap();
    let mut arm = FaultyRecipe::new(Fault::SkipsResiduals, &set).build(&input, &mut placement).unwrap();
    assert_eq!(arm.run(whole(&source)), ScanReference::new(&set).checksum(&source, whole(&source)));
}
