//! Reading the small files of `/proc` and `/sys` under a root.

use std::path::{Path, PathBuf};

use crate::machine::parse_cpu_list;

/// A file tree with `proc` and `sys` in it: `/`, or a fixture.
pub(in crate::machine) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(in crate::machine) fn new(root: &Path) -> Self {
        Tree { root: root.to_owned() }
    }

    /// A file's text without surrounding whitespace; `None` if it is absent, unreadable or empty.
    pub(in crate::machine) fn text(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.root.join(path)).ok()?;
        // Device-tree strings end in NUL.
        let text =
            String::from_utf8_lossy(&bytes).trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A file that holds one decimal number.
    pub(in crate::machine) fn number<N: std::str::FromStr>(&self, path: &str) -> Option<N> {
        self.text(path)?.parse().ok()
    }

    /// A file that holds a CPU list; an empty file is an empty list.
    pub(in crate::machine) fn cpu_list(&self, path: &str) -> Option<Vec<usize>> {
        parse_cpu_list(&std::fs::read_to_string(self.root.join(path)).ok()?).ok()
    }

    /// Whether this is the running system's own tree, so that the processor itself may be asked too.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    pub(in crate::machine) fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Whether there is such a file or directory.
    pub(in crate::machine) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}
