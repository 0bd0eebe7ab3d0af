//! Whether what is said of an arm's calls is so: read from the machine code, since a compiler may call directly, or inline, what
//! the source calls through a pointer.

use crate::binary::Image;
use crate::plugin::crossing::CrossingRecipe;
use crate::race::Check;

/// What an arm claims of the calls in its loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Claimed {
    /// There is no indirect one.
    None,
    /// There is one at least.
    Some,
}

/// One check an arm.
pub(super) fn checks(arms: &[(&str, &CrossingRecipe, Claimed)]) -> Vec<Check> {
    let image = Image::of_this_code();
    let named = |arm: &str| format!("indirect-call:{arm}");
    let of = |&(arm, recipe, claimed): &(&str, &CrossingRecipe, Claimed)| {
        let counted = match &image {
            Ok(image) => recipe.indirect_calls(image).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match counted {
            Ok(count) => judged(named(arm), count, claimed),
            Err(reason) => Check::not_applicable(named(arm), reason),
        }
    };
    arms.iter().map(of).collect()
}

fn judged(name: String, count: usize, claimed: Claimed) -> Check {
    let plural = if count == 1 { "" } else { "s" };
    let detail = format!("{count} indirect call{plural} in its loop, by disassembly");
    Check::new(name, (count > 0) == (claimed == Claimed::Some), detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::Outcome;

    #[test]
    fn a_call_that_isnt_there_and_one_that_shouldnt_be_fail() {
        let outcome = |count, claimed| judged("x".into(), count, claimed).outcome;
        assert_eq!(outcome(0, Claimed::Some), Outcome::Failed);
        assert_eq!(outcome(1, Claimed::None), Outcome::Failed);
        assert_eq!(outcome(1, Claimed::Some), Outcome::Held);
        assert_eq!(outcome(0, Claimed::None), Outcome::Held);
    }
}
