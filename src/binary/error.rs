//! Why a binary can't be examined: one variant a reason.

use std::path::PathBuf;

/// What is wrong with a binary, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The system refused to read it.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Not an ELF file at all.
    #[error("{} isn't an ELF file (it begins {begins}): give an executable or a shared object of Linux", path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
        /// Its first bytes, printed.
        begins: String,
    },
    /// An ELF file whose tables don't hold together, as when it was cut short.
    #[error("{} is damaged or cut short: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What didn't hold.
        detail: String,
    },
    /// An ELF file that isn't linked (or a core dump): its addresses aren't settled.
    #[error("{} is {kind}: link it first, since addresses are settled only then", path.display())]
    NotLinked {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// A program, where a library is wanted.
    #[error("{} is a program, no shared object: build it with -shared -fPIC, or as a cdylib", path.display())]
    NotShared {
        /// The file.
        path: PathBuf,
    },
    /// Functions can't be told apart: the symbols were removed.
    #[error("{} has no symbol for any function: build it without stripping (strip = \"debuginfo\", not \"symbols\")", path.display())]
    Stripped {
        /// The file.
        path: PathBuf,
    },
    /// Code of an architecture that isn't decoded here.
    #[error("{} holds {architecture} code; only x86-64 is decoded", path.display())]
    Architecture {
        /// The file.
        path: PathBuf,
        /// What it holds.
        architecture: String,
    },
    /// No function of that name.
    #[error("{} has no function called {name:?}; {hint}", path.display())]
    NoSuchFunction {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// The nearest names, or why there are none.
        hint: String,
    },
    /// Several functions whose names hold what was asked for.
    #[error("{name:?} fits {count} functions of {}: {candidates}; give more of the name", path.display())]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// How many it fits.
        count: usize,
        /// The first few.
        candidates: String,
    },
    /// A symbol without bytes in the file: no size, or a place outside the file.
    #[error("{name} of {} has no code to read: {reason}", path.display())]
    NoCode {
        /// The file.
        path: PathBuf,
        /// The function.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The file that the running code was loaded from can't be found.
    #[error("the file that this code was loaded from can't be told: {reason}")]
    Origin {
        /// Why not.
        reason: String,
    },
}
