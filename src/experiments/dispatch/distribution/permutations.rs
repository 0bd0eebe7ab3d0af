//! Which races a distribution takes: one of all arms, and where the place of the busy handlers matters, one of three arms
//! for each of many permutations.

use crate::race::{Value, Values};

/// Ends the name of a law whose ranks stand in the list as they are.
const RIGGED: &str = "_rigged";
/// All arms, or those that the share of sorting is made of.
pub const SELECTIONS: [&str; 2] = ["all", "sorting"];

/// A traffic's law without the ending, and whether it has it.
pub fn rigged(traffic: &str) -> (&str, bool) {
    traffic.strip_suffix(RIGGED).map_or((traffic, false), |law| (law, true))
}

/// Whether it matters who is busy: not where all are, where the law names the handler itself, or where nothing is shuffled.
fn permutes(values: &Values) -> bool {
    let (law, is_rigged) = rigged(values.text("traffic"));
    !is_rigged && values.flag("shuffle") && !matches!(law, "uniform" | "worst" | "hot")
}

/// The cells behind a grid: each setting in a race of all arms, then each permutation in a race of three.
pub fn cells(grid: Vec<Values>) -> Vec<Values> {
    let with = |values: &Values, selections: &str, permutation: i64| {
        let mut cell = values.clone();
        cell.0.insert("selections".into(), Value::Text(selections.into()));
        cell.0.insert("permutation".into(), Value::Int(permutation));
        cell
    };
    let each = |values: Values| {
        let first = values.int("permutation");
        let many = if permutes(&values) { values.int("permutations") } else { 0 };
        let [all, sorting] = SELECTIONS;
        let whole = (values.text("selections") == all || many == 0).then(|| with(&values, all, first));
        let rest: Vec<Values> = (first..first + many).map(|at| with(&values, sorting, at)).collect();
        whole.into_iter().chain(rest)
    };
    grid.into_iter().flat_map(each).collect()
}

/// The seed of a permutation: the run's own for the first, so that it is the one that other experiments have.
pub fn seed(seed: u64, permutation: usize) -> u64 {
    seed.wrapping_add(permutation as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn values(traffic: &str, permutations: i64, shuffle: bool) -> Values {
        Values(BTreeMap::from([
            ("traffic".to_string(), Value::Text(traffic.into())),
            ("selections".to_string(), Value::Text("all".into())),
            ("permutation".to_string(), Value::Int(3)),
            ("permutations".to_string(), Value::Int(permutations)),
            ("shuffle".to_string(), Value::Flag(shuffle)),
        ]))
    }

    fn shape(values: Values) -> Vec<(String, i64)> {
        let cells = cells(vec![values]);
        cells.iter().map(|cell| (cell.text("selections").to_string(), cell.int("permutation"))).collect()
    }

    #[test]
    fn permutations_are_repeated_only_where_they_matter() {
        let all = || ("all".to_string(), 3);
        let sorting = |at| ("sorting".to_string(), at);
        assert_eq!(shape(values("skewed", 2, true)), [all(), sorting(3), sorting(4)]);
        assert_eq!(shape(values("/a/capture.pcap", 1, true)), [all(), sorting(3)]);
        for once in ["uniform", "worst", "hot", "skewed_rigged", "zipf_rigged"] {
            assert_eq!(shape(values(once, 16, true)), [all()], "{once}");
        }
        assert_eq!(shape(values("zipf", 16, false)), [all()]);
    }

    #[test]
    fn sorting_alone_leaves_out_the_race_of_all_arms_but_never_a_setting() {
        let alone = |traffic: &str| {
            let mut values = values(traffic, 1, true);
            values.0.insert("selections".into(), Value::Text("sorting".into()));
            shape(values)
        };
        assert_eq!(alone("zipf"), [("sorting".to_string(), 3)]);
        assert_eq!(alone("uniform"), [("all".to_string(), 3)]);
    }
}
