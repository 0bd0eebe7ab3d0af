//! Packets visited in a drawn order, as buffers of a driver's pool are handed out: no prefetcher knows the next one.

use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use crate::race::{Arm, Checksum, Input, Placement, Recipe, Reference, Settle, Source, Window};
use crate::{Error, Result};

/// The order in which a pool's packets are visited.
pub struct Visits(Vec<u32>);

impl Visits {
    /// All of `count` packets once, shuffled by `seed`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more packets than an index can hold.
    pub fn drawn(count: usize, seed: u64) -> Result<Arc<Self>> {
        let count = u32::try_from(count)
            .map_err(|_| Error::invalid("pool", count, "wanted fewer than 2³² packets"))?;
        let mut order: Vec<u32> = (0..count).collect();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        Ok(Arc::new(Visits(order)))
    }
}

/// An arm that visits packets in that order, or what it must compute.
pub struct Scattered<T> {
    /// What each packet is given to, one at a time.
    pub inner: T,
    /// The order.
    pub visits: Arc<Visits>,
}

fn one(at: u32) -> Window {
    Window { first: at as usize, count: 1 }
}

impl Recipe for Scattered<Arc<dyn Recipe>> {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        // The order isn't placed anew in each block: copying it would only lengthen the block.
        let inner = self.inner.build(input, placement)?;
        Ok(Arm::around(inner, Arc::clone(&self.visits), visit))
    }

    fn settle(&self) -> Settle {
        self.inner.settle()
    }
}

fn visit((inner, visits): &mut (Arm, Arc<Visits>), window: Window) -> Checksum {
    let visits = &visits.0[window.first..window.first + window.count];
    visits.iter().fold(Checksum::EMPTY, |sum, &at| sum.fold(inner.run(one(at)).0, 0))
}

impl Reference for Scattered<Arc<dyn Reference>> {
    fn checksum(&self, source: &Source, window: Window) -> Checksum {
        let visits = &self.visits.0[window.first..window.first + window.count];
        visits.iter().fold(Checksum::EMPTY, |sum, &at| sum.fold(self.inner.checksum(source, one(at)).0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_packet_is_visited_once(count in 1usize..3000, seed: u64) {
            let mut visits = Visits::drawn(count, seed).expect("drawn").0.clone();
            visits.sort_unstable();
            prop_assert!(visits.into_iter().eq(0..count as u32));
        }
    }

    #[test]
    fn arm_and_reference_agree() {
        struct Doubled;
        impl Recipe for Doubled {
            fn build(&self, input: &Input, _: &mut Placement) -> Result<Arm> {
                Ok(Arm::new(input.clone(), |input, window| fold(input.items(), window)))
            }
        }
        impl Reference for Doubled {
            fn checksum(&self, source: &Source, window: Window) -> Checksum {
                fold(source.items(), window)
            }
        }
        fn fold(items: &[u64], window: Window) -> Checksum {
            let items = &items[window.first..window.first + window.count];
            items.iter().fold(Checksum::EMPTY, |sum, item| sum.fold(2 * item, 0))
        }
        let source = Source::from_items((0..100u64).collect());
        let visits = Visits::drawn(100, 3).expect("drawn");
        let arm = Scattered { inner: Arc::new(Doubled) as Arc<dyn Recipe>, visits: Arc::clone(&visits) };
        let reference = Scattered { inner: Arc::new(Doubled) as Arc<dyn Reference>, visits };
        let mut placement = Placement::new(1);
        let input = source.place(&mut placement).expect("placed");
        let window = Window { first: 20, count: 50 };
        let computed = arm.build(&input, &mut placement).expect("built").run(window);
        assert_eq!(computed, reference.checksum(&source, window));
        assert_ne!(computed, fold(source.items(), window), "in another order");
    }
}
