//! Allow-lists: which libraries may be opened at all, by the SHA-256 of their bytes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Examined, Rejected};
use crate::{Error, Result};

/// The hashes of a file as `sha256sum` writes it.
#[derive(Debug, Clone)]
pub struct AllowList {
    path: PathBuf,
    hashes: BTreeSet<String>,
}

impl AllowList {
    /// Reads `HASH  NAME` lines; names say nothing, empty lines and those that begin with # are left out.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a file that can't be read, a line that begins with no hash, or no hash at all: an
    /// empty list is more likely a mistake than a wish.
    pub fn read(path: &Path) -> Result<AllowList> {
        let refuse = |value: String, wanted: &str| Err(Error::invalid("allow", value, wanted));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                return refuse(format!("{} ({error})", path.display()), "a list that sha256sum wrote");
            }
        };
        let mut hashes = BTreeSet::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // A backslash in front says that the name behind is escaped.
            let hash = line.trim_start_matches('\\').split_whitespace().next().unwrap_or_default();
            if hash.len() != 64 || !hash.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                let value = format!("{}, line {number}: {hash:?}", path.display());
                return refuse(value, "64 hexadecimal digits, as sha256sum writes them");
            }
            hashes.insert(hash.to_ascii_lowercase());
        }
        if hashes.is_empty() {
            return refuse(format!("{}, no hash", path.display()), "at least one line that sha256sum wrote");
        }
        Ok(AllowList { path: path.to_path_buf(), hashes })
    }

    /// Refuses a library whose bytes aren't on the list. What is opened afterwards are these bytes; libraries that it needs
    /// in turn are the dynamic linker's to find, and on no list.
    ///
    /// # Errors
    /// [`Rejected`] with the hash; or for a library that can only be opened by its name, which is no promise about bytes.
    pub fn require(&self, examined: &Examined) -> Result<(), Rejected> {
        let path = examined.object.path();
        let hash = examined.sha256();
        if !self.hashes.contains(&hash) {
            let wanted = format!("a hash on {}; it isn't opened", self.path.display());
            return Err(Rejected::new(path, "sha256", hash, wanted));
        }
        if examined.object.looks_beside_itself() {
            let wanted =
                "no $ORIGIN in its search path: it can't be opened from the very bytes that were hashed";
            return Err(Rejected::new(path, "runpath", "$ORIGIN", wanted));
        }
        Ok(())
    }
}
