//! The list of areas. An area's `mod.rs` lists its experiments.

use crate::experiments::{cache, dispatch, plugin, sharing, traps};
use crate::race::Experiment;
use crate::{Error, Result};

/// Every experiment, in the order of `nanokata list`.
pub fn experiments() -> impl Iterator<Item = &'static dyn Experiment> {
    [dispatch::EXPERIMENTS, plugin::EXPERIMENTS, sharing::EXPERIMENTS, cache::EXPERIMENTS, traps::EXPERIMENTS]
        .into_iter()
        .flatten()
        .copied()
}

/// The area whose experiments go wrong on purpose.
pub const TRAPS: &str = "traps";

/// The experiment of that id, or an error that offers the nearest.
pub fn find(id: &str) -> Result<&'static dyn Experiment> {
    experiments().find(|experiment| experiment.id() == id).ok_or_else(|| Error::UnknownExperiment {
        name: id.into(),
        hint: nearest(id, experiments().map(|experiment| experiment.id())),
    })
}

/// "did you mean …?" for the likest names, or all of them.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut scored: Vec<(f64, &str)> = known.map(|k| (strsim::jaro_winkler(name, k), k)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    // Jaro–Winkler's usual threshold for "likely the same word, mistyped".
    match scored.first() {
        Some(&(score, best)) if score > 0.8 => format!("did you mean {best}?"),
        _ => {
            let mut all: Vec<&str> = scored.into_iter().map(|(_, k)| k).collect();
            all.sort_unstable();
            format!("there are {}", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Card;

    #[test]
    fn ids_are_unique_and_speak_the_area() {
        let mut seen = std::collections::HashSet::new();
        for experiment in experiments() {
            assert!(seen.insert(experiment.id()), "{} twice", experiment.id());
            assert_eq!(experiment.id().split('.').count(), 2);
            assert!(!experiment.title().is_empty() && experiment.about().len() > 80, "{}", experiment.id());
        }
    }

    #[test]
    fn defaults_are_accepted_by_their_own_bounds() {
        let card = Card::read();
        // A parameter may not take a name that tidy rows use for something else.
        let reserved = [
            "experiment",
            "arm",
            "unit",
            "median",
            "low",
            "high",
            "min",
            "cycles",
            "ratio",
            "ratio_low",
            "ratio_high",
            "verdict",
            "probes",
            "p50",
            "p90",
            "p99",
            "p999",
            "max",
            "checksum",
            "reps",
            "baseline",
            "role",
            "level",
            "status",
            "reason",
            "machine",
            "run_id",
            "cell_id",
            "started",
            "seed",
            "version",
            "flags",
        ];
        for experiment in experiments() {
            for parameter in experiment.parameters(&card) {
                assert!(!reserved.contains(&parameter.name), "{} {}", experiment.id(), parameter.name);
                assert!(parameter.series || parameter.default.len() == 1);
                for value in &parameter.default {
                    assert_eq!(&parameter.accept(value).expect("a default fits"), value);
                }
                let known: Vec<&str> = experiment.arms().iter().map(|arm| arm.name).collect();
                for arm in &parameter.monotonic {
                    assert!(known.contains(arm), "{} isn't an arm of {}", arm, experiment.id());
                }
            }
        }
    }

    #[test]
    fn an_unknown_name_offers_the_nearest() {
        let Err(error) = find("dispatch.selecton") else { panic!("found") };
        assert!(error.to_string().contains("did you mean dispatch.selection?"), "{error}");
        let Err(error) = find("zzz") else { panic!("found") };
        assert!(error.to_string().contains("there are cache.levels"), "{error}");
    }
}
