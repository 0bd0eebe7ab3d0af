//! What crosses to the process that performs a simulation, and back: two small files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::catalogue;
use crate::machine::Card;
use crate::race::simulate::{Ran, observe};
use crate::race::{Value, Values, Watch};
use crate::{Error, Result};

/// One arm of one setting, to be run under callgrind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The experiment's id.
    pub experiment: String,
    /// Every parameter.
    pub values: BTreeMap<String, Value>,
    /// The arm.
    pub arm: String,
    /// Seed of input and placement.
    pub seed: u64,
    /// Measured passes over the whole input.
    pub passes: u32,
}

impl Job {
    /// Writes it to a file, for [`perform`] to read.
    ///
    /// # Errors
    /// [`Error::Os`] where the file can't be written.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string(self).expect("plain data");
        fs::write(file, text).map_err(|source| cant("writing", file, source))
    }
}

/// What became of a job. A checksum that differs stays an error of its own on the other side; other errors were refused
/// there already, before any process was started, so their text is enough.
#[derive(Serialize, Deserialize)]
enum Outcome {
    Ran(Ran),
    Checksum { arm: String, got: u64, expected: u64, expected_by: String, first: usize, count: usize },
    Failed(String),
}

/// Performs the job in `file` on the calling thread and writes what became of it beside that file. Meant for a process that
/// runs under callgrind; does the same without counting anything elsewhere.
///
/// # Errors
/// [`Error::Os`] where the files can't be read or written. That the job failed is no error here: it is written down.
pub fn perform(file: &Path) -> Result<()> {
    let text = fs::read_to_string(file).map_err(|source| cant("reading", file, source))?;
    let ran = serde_json::from_str(&text)
        .map_err(|error| Error::invalid("job", error, "wanted a job as nanokata writes it"))
        .and_then(|job: Job| {
            let experiment = catalogue::find(&job.experiment)?;
            let plan = experiment.plan(&Values(job.values), job.seed, &Card::read(), &Watch::new())?;
            observe(&plan, &job.arm, job.seed, job.passes)
        });
    let outcome = match ran {
        Ok(ran) => Outcome::Ran(ran),
        Err(Error::ChecksumMismatch { arm, got, expected, expected_by, first, count }) => {
            Outcome::Checksum { arm, got, expected, expected_by, first, count }
        }
        Err(error) => Outcome::Failed(error.to_string()),
    };
    let beside = beside(file);
    let text = serde_json::to_string(&outcome).expect("plain data");
    fs::write(&beside, text).map_err(|source| cant("writing", &beside, source))
}

/// Reads what became of the job in `file`.
pub(super) fn outcome(file: &Path) -> Result<Ran> {
    let failed = |reason: String| Error::NotMeasurable { what: "a simulation".into(), reason };
    let text = fs::read_to_string(beside(file))
        .map_err(|error| failed(format!("the process under valgrind ended without a word: {error}")))?;
    match serde_json::from_str(&text) {
        Ok(Outcome::Ran(ran)) => Ok(ran),
        Ok(Outcome::Checksum { arm, got, expected, expected_by, first, count }) => {
            Err(Error::ChecksumMismatch { arm, got, expected, expected_by, first, count })
        }
        Ok(Outcome::Failed(reason)) => Err(failed(reason)),
        Err(error) => Err(failed(format!("the process under valgrind wrote something else: {error}"))),
    }
}

fn beside(file: &Path) -> PathBuf {
    file.with_extension("outcome")
}

fn cant(doing: &str, file: &Path, source: std::io::Error) -> Error {
    Error::Os { what: format!("{doing} {}", file.display()), source }
}
