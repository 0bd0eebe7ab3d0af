//! The kernel's list form of a set of CPUs: `0-3,8`.
//!
//! Source: "List format" in Linux `Documentation/admin-guide/cputopology.rst` and `cpuset(7)`.

/// The highest CPU number that a list may name: far beyond any kernel's limit (8,192 on x86-64), and low enough that
/// a corrupt range can't fill the memory.
pub const HIGHEST_CPU: usize = 65_535;

/// A text that isn't a CPU list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} isn't a CPU list: {reason}; write numbers and ranges such as 0-3,8")]
pub struct CpuListError {
    /// The text that was given.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads `0-3,8` as `[0, 1, 2, 3, 8]`: sorted, without duplicates. The empty text is the empty set, as in the kernel's
/// files. Refuses anything but numbers and ascending ranges, and CPUs past [`HIGHEST_CPU`].
pub fn parse_cpu_list(text: &str) -> Result<Vec<usize>, CpuListError> {
    let refuse = |reason: String| CpuListError { text: text.to_owned(), reason };
    let number = |part: &str| -> Result<usize, CpuListError> {
        let part = part.trim();
        // `parse` would take "+1".
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return Err(refuse(format!("{part:?} isn't a number")));
        }
        let cpu = part.parse().map_err(|_| refuse(format!("{part} is too big")))?;
        if cpu > HIGHEST_CPU { Err(refuse(format!("{part} is past {HIGHEST_CPU}"))) } else { Ok(cpu) }
    };
    let mut cpus = Vec::new();
    if text.trim().is_empty() {
        return Ok(cpus);
    }
    for part in text.split(',') {
        match part.split_once('-') {
            None => cpus.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(refuse(format!("the range {} runs backwards", part.trim())));
                }
                cpus.extend(first..=last);
            }
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Writes `[0, 1, 2, 3, 8]` as `0-3,8`; the empty set as `none`, since it only ever stands in messages. Order and
/// duplicates don't matter.
pub fn format_cpu_list(cpus: &[usize]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => unreachable!("chunk_by yields no empty run"),
    });
    let text = runs.collect::<Vec<_>>().join(",");
    if text.is_empty() { "none".into() } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(cpus in proptest::collection::btree_set(0..=HIGHEST_CPU, 1..200)) {
            let cpus: Vec<usize> = cpus.into_iter().collect();
            prop_assert_eq!(parse_cpu_list(&format_cpu_list(&cpus)), Ok(cpus));
        }

        #[test]
        fn dense_sets_come_back_too(cpus in proptest::collection::vec(0..40usize, 1..60)) {
            let mut sorted = cpus.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let text = format_cpu_list(&cpus);
            prop_assert_eq!(parse_cpu_list(&text), Ok(sorted.clone()));
            // The shortest form: no two neighbouring parts could be one.
            let parts = text.split(',').count();
            let runs = sorted.chunk_by(|a, b| a + 1 == *b).count();
            prop_assert_eq!(parts, runs);
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text in "[-0-9, a+]{0,24}") {
            if let Ok(cpus) = parse_cpu_list(&text) {
                prop_assert!(cpus.is_sorted_by(|a, b| a < b));
            }
        }
    }

    #[test]
    fn kernel_forms() {
        assert_eq!(parse_cpu_list("0-3,8\n"), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_cpu_list(""), Ok(vec![]));
        assert_eq!(parse_cpu_list("7"), Ok(vec![7]));
        assert_eq!(format_cpu_list(&[3, 1, 2, 2, 9]), "1-3,9");
        assert_eq!(format_cpu_list(&[]), "none");
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_value() {
        for (text, reason) in [
            ("3-1", "backwards"),
            ("1,,2", "isn't a number"),
            ("a", "\"a\" isn't a number"),
            ("-1", "isn't a number"),
            ("+1", "isn't a number"),
            ("0-99999999999999999999999", "too big"),
            ("0-4000000000", "past 65535"),
        ] {
            let error = parse_cpu_list(text).expect_err(text).to_string();
            assert!(error.contains(reason) && error.contains(text), "{error}");
        }
    }
}
