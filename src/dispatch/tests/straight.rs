//! Straight lines: what they call, how often, and that a line which isn't straight is noticed.

use proptest::prelude::*;

use super::whole;
use crate::Error;
use crate::dispatch::straight::{BODIES, CALLS};
use crate::dispatch::{Body, HandlerSet, LineRecipe, LineReference, reference};
use crate::race::{Checksum, Outcome, Placement, Recipe, Reference, Source, Window};
use crate::traffic::Packet;

fn pool(count: usize, seed: u64) -> Source {
    let set = HandlerSet::standard(10, Body::Tiny, 0.0, 0).unwrap();
    Source::from_items(super::packets(&set, count, seed))
}

fn run(line: LineRecipe, source: &Source, window: Window, layout: usize) -> Checksum {
    let mut placement = Placement::new(3);
    let input = source.place(&mut placement).unwrap();
    let mut arm = line.build(&input, &mut placement).unwrap();
    arm.use_layout(layout);
    arm.run(window)
}

#[test]
fn every_line_calls_what_the_reference_says() {
    let source = pool(2 * CALLS + 7, 1);
    for body in Body::ALL {
        for &bodies in BODIES {
            let line = LineRecipe::new(body, bodies).unwrap();
            let expected = LineReference::new(line).checksum(&source, whole(&source));
            for layout in 0..8 {
                let got = run(line, &source, whole(&source), layout);
                assert_eq!(got, expected, "{body} {bodies} in layout {layout}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Windows begin and end anywhere in the pool; a line always begins at its first site.
    #[test]
    fn any_window_ends_where_it_should(first in 0usize..400, count in 0usize..400, at in 0..BODIES.len(), seed: u64) {
        let source = pool(800, seed);
        let line = LineRecipe::new(Body::Tiny, BODIES[at]).unwrap();
        let window = Window { first, count };
        prop_assert_eq!(run(line, &source, window, at), LineReference::new(line).checksum(&source, window));
    }
}

/// A reference that leaves one body out differs, so an arm that left it out would be found.
#[test]
fn a_body_that_isnt_called_is_noticed() {
    let source = pool(CALLS, 1);
    let packets = source.items::<Packet>();
    for &bodies in &BODIES[1..] {
        let line = LineRecipe::new(Body::Tiny, bodies).unwrap();
        let sound = run(line, &source, whole(&source), 0);
        for missing in 0..bodies {
            let mut checksum = Checksum::EMPTY;
            for (at, packet) in packets.iter().enumerate() {
                let body = if at % bodies == missing { (missing + 1) % bodies } else { at % bodies };
                checksum = checksum.fold(reference::value(Body::Tiny, body, packet), 0);
            }
            assert_ne!(checksum, sound, "body {missing} of {bodies}");
        }
    }
}

#[test]
fn a_number_of_bodies_that_isnt_compiled_is_refused() {
    for bodies in [0, 3, 7, 119, 121, usize::MAX] {
        let Err(Error::InvalidArgument { name, value, wanted }) = LineRecipe::new(Body::Fat, bodies) else {
            panic!("{bodies} was taken");
        };
        assert_eq!((name.as_str(), value), ("bodies", bodies.to_string()));
        assert!(wanted.contains("120"), "{wanted}");
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod machine_code {
    use super::*;

    #[test]
    fn lines_are_direct_calls_of_distinct_bodies() {
        for body in [Body::Fat, Body::Tiny] {
            for &bodies in BODIES {
                let line = LineRecipe::new(body, bodies).unwrap();
                for code in line.code().unwrap() {
                    assert_eq!(
                        (code.calls, code.called, code.indirect),
                        (CALLS, bodies, 0),
                        "{body} {bodies}: {code:?}"
                    );
                }
                assert_eq!(line.check().outcome, Outcome::Held, "{}", line.check().detail);
            }
        }
    }

    /// The same sites whatever k: else k would change more than which bodies are called.
    #[test]
    fn the_line_itself_is_the_same_code_for_every_k() {
        let bytes = |bodies| LineRecipe::new(Body::Fat, bodies).unwrap().code().unwrap()[0].bytes;
        let one = bytes(1);
        for &bodies in BODIES {
            let difference = bytes(bodies).abs_diff(one);
            assert!(difference * 100 <= one, "{bodies} bodies: {} bytes, one: {one}", bytes(bodies));
        }
    }

    #[test]
    fn footprints_grow_by_whole_bodies() {
        let footprint =
            |body, bodies| LineRecipe::new(body, bodies).unwrap().footprint_bytes().unwrap() as f64;
        let each = crate::dispatch::footprint::first_bytes(Body::Fat, CALLS).unwrap().each();
        let grown = (footprint(Body::Fat, 120) - footprint(Body::Fat, 1)) / 119.0;
        assert!((grown / each - 1.0).abs() < 0.02, "{grown} a body, {each} by its symbol");
        assert!(footprint(Body::Tiny, 120) < footprint(Body::Fat, 20));
    }

    /// All sites call one body: folded code would look like this, and must not pass for 20 bodies.
    #[test]
    fn identical_bodies_fail_the_check() {
        let line = LineRecipe::new(Body::Identical, 20).unwrap();
        let check = line.check();
        assert_eq!(check.outcome, Outcome::Failed);
        assert!(check.detail.contains("120 direct calls of 1 bodies"), "{}", check.detail);
    }
}
