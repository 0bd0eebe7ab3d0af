//! Traffic of one's own as weights: a text file with one number a handler.

use std::path::Path;

use crate::{Error, Result};

/// Endings of files that hold weights; others are captures.
const ENDINGS: [&str; 2] = ["csv", "txt"];

/// Whether a path names a file of weights, by its ending.
pub fn is_one(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Reads weights: numbers apart by white space, commas or semicolons; what follows a `#` on a line is left out.
///
/// # Errors
/// [`Error::Os`] where the file can't be read, [`Error::InvalidArgument`] for anything that isn't a finite number of at
/// least 0.
pub fn read(path: &Path) -> Result<Vec<f64>> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Os { what: format!("reading {}", path.display()), source })?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<f64>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let rows: Vec<Vec<&str>> = lines
        .map(|line| {
            let words = line.split(|c: char| c.is_whitespace() || ",;".contains(c));
            words.filter(|word| !word.is_empty()).collect()
        })
        .filter(|row: &Vec<&str>| !row.is_empty())
        .collect();
    // Keys would be taken for weights.
    if rows.len() > 1 && rows.iter().all(|row| row.len() == 2) {
        let wanted = "wanted one weight a handler; two columns look like keys and counts, which advise takes";
        return Err(Error::invalid("weights", rows[0].join(","), wanted));
    }
    rows.into_iter()
        .flatten()
        .map(|word| match word.parse::<f64>() {
            Ok(weight) if weight.is_finite() && weight >= 0.0 => Ok(weight),
            _ => Err(Error::invalid("weights", word, "wanted finite numbers of at least 0, one a handler")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_apart_and_comments_go() {
        assert_eq!(parse("1, 2.5;3\n# all\n4e-1 # last\n").unwrap(), [1.0, 2.5, 3.0, 0.4]);
        assert!(parse("").unwrap().is_empty());
        assert_eq!(parse("1, 2").unwrap(), [1.0, 2.0]);
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for (text, word) in [("1 two", "two"), ("-1", "-1"), ("nan", "nan"), ("inf", "inf")] {
            assert!(parse(text).unwrap_err().to_string().starts_with(&format!("weights = {word}")), "{text}");
        }
        assert!(matches!(read(Path::new("/absent/weights.csv")), Err(Error::Os { .. })));
    }

    #[test]
    fn keys_and_counts_are_no_weights() {
        for text in ["6,600\n17,350\n", "6 600\n\n17;350 # last"] {
            let refused = parse(text).unwrap_err().to_string();
            assert!(refused.starts_with("weights = 6,600: wanted one weight a handler"), "{refused}");
        }
    }

    #[test]
    fn the_ending_tells_weights_from_captures() {
        let of = |name: &str| is_one(Path::new(name));
        assert!(of("a.csv") && of("b.TXT") && !of("c.pcap") && !of("csv"));
    }
}
