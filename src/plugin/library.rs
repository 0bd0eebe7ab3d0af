//! A library opened into this process: examined before any of its code runs, and never closed under anybody's feet.

use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW, Symbol};

use super::{Rejected, memory};
use crate::binary::{BinaryError, ExportKind, SharedObject};

/// A library, looked at without running any of it.
#[derive(Debug, Clone)]
pub struct Examined {
    /// What its file says.
    pub object: SharedObject,
    /// The file's bytes at that time.
    pub bytes: Vec<u8>,
}

impl Examined {
    /// Reads the library at `path`. A name without a slash is a file in the working directory, as people mean it, and
    /// not one to be searched for, as dlopen does.
    ///
    /// # Errors
    /// [`Rejected`]: no such file, a directory, not ELF, damaged or cut short, no shared object, another machine's.
    pub fn read(path: &Path) -> Result<Examined, Rejected> {
        let absolute = std::fs::canonicalize(path).map_err(|error| {
            Rejected::new(path, "file", error, "the path of a shared object, as ./libmine.so")
        })?;
        let bytes = read(&absolute)?;
        let object =
            SharedObject::from_bytes(&absolute, &bytes).map_err(|error| of_file(&absolute, error))?;
        if !object.is_for_this_machine() {
            let (found, here) = (object.architecture(), std::env::consts::ARCH);
            let wanted = format!("code for {here}, this process's; build it for this machine");
            return Err(Rejected::new(&absolute, "architecture", found, wanted));
        }
        Ok(Examined { object, bytes })
    }

    /// The SHA-256 of its bytes, in hexadecimal.
    pub fn sha256(&self) -> String {
        use sha2::Digest;
        sha2::Sha256::digest(&self.bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Refuses a library that doesn't export a function of that name.
    ///
    /// # Errors
    /// [`Rejected`]: no such symbol, or no function.
    pub fn require(&self, symbol: &str) -> Result<(), Rejected> {
        let path = self.object.path();
        match self.object.export(symbol) {
            Some(export) if export.kind == ExportKind::Function => Ok(()),
            Some(_) => {
                let value = format!("{symbol}, which is no function");
                Err(Rejected::new(path, "symbol", value, format!("a function called {symbol}")))
            }
            None => {
                let names: Vec<&str> =
                    self.object.exports().iter().take(4).map(|export| export.name.as_str()).collect();
                let value = if names.is_empty() { "no symbol".into() } else { names.join(", ") };
                let wanted = format!("{symbol} among the exported symbols; in C++ it needs extern \"C\"");
                Err(Rejected::new(path, "symbol", value, wanted))
            }
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Rejected> {
    let refuse = |value: String| Rejected::new(path, "file", value, "a shared object, as libmine.so");
    let kind = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    if kind.is_dir() {
        return Err(refuse("a directory".into()));
    }
    if !kind.is_file() {
        return Err(refuse("a device, pipe or socket".into()));
    }
    std::fs::read(path).map_err(|error| refuse(error.to_string()))
}

fn of_file(path: &Path, error: BinaryError) -> Rejected {
    let (value, wanted) = match error {
        BinaryError::NotElf { begins, .. } => {
            (format!("no ELF file (it begins {begins})"), "a shared object of Linux")
        }
        BinaryError::Damaged { detail, .. } => {
            (format!("damaged or cut short: {detail}"), "the whole file; build or copy it again")
        }
        BinaryError::NotLinked { kind, .. } => (kind.into(), "a linked library: build it with -shared -fPIC"),
        BinaryError::NotShared { .. } => {
            ("a program".into(), "a shared object: build it with -shared -fPIC, or as a cdylib")
        }
        other => (other.to_string(), "a shared object of Linux"),
    };
    Rejected::new(path, "file", value, wanted)
}

/// An open library. What is taken out of it keeps an [`Arc`] of it, and it is closed when the last of them is gone;
/// never, if it has thread-locals, whose destructors run when threads end and would find no code.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    handle: ManuallyDrop<Handle>,
    /// The copy that was opened, whose descriptor is part of its name: if the number were given out anew, the dynamic
    /// linker would take the next library for this one.
    copy: ManuallyDrop<Option<OwnedFd>>,
    stays: bool,
}

impl Library {
    /// Opens an examined library: resolves all of its symbols now, and shows its own to nobody.
    ///
    /// What is opened are the very bytes that were examined, wherever the system has a place for them: the file may have
    /// changed since, and by its name the dynamic linker would give out a library of that name that is open already,
    /// however often it was built anew. A library that looks for others beside itself (`$ORIGIN`) is opened by its name.
    ///
    /// # Errors
    /// [`Rejected`] with the dynamic linker's words.
    ///
    /// # Safety
    /// The library's constructors run in this process, and can do whatever they like.
    pub unsafe fn open(examined: &Examined) -> Result<Arc<Library>, Rejected> {
        let path = examined.object.path();
        let refused = |said: String| {
            let wanted = "a library whose dependencies and symbols are all found; ldd shows them";
            Rejected::new(path, "dlopen", said, wanted)
        };
        let copy = match examined.object.looks_beside_itself() {
            true => None,
            false => memory::file(path, &examined.bytes).map_err(|error| refused(error.to_string()))?,
        };
        let name = copy.as_ref().map_or_else(|| path.to_path_buf(), memory::name);
        // SAFETY: the caller vouches for what runs.
        let opened = unsafe { Handle::open(Some(&name), RTLD_NOW | RTLD_LOCAL) };
        let handle = opened.map_err(|error| refused(said(&error).replace(&*name.to_string_lossy(), "it")))?;
        Ok(Arc::new(Library {
            path: path.to_path_buf(),
            handle: ManuallyDrop::new(handle),
            copy: ManuallyDrop::new(copy),
            stays: examined.object.has_thread_locals(),
        }))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it stays in the process until that ends, whoever lets go of it.
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// The function of that name.
    ///
    /// # Errors
    /// [`Rejected`] where there is none.
    ///
    /// # Safety
    /// `T` must be the type of that function's pointer, and mustn't be called once this library is closed.
    pub unsafe fn function<T: Copy>(&self, name: &'static str) -> Result<T, Rejected> {
        // SAFETY: the caller vouches for the type.
        let found: Result<Symbol<T>, _> = unsafe { self.handle.get(name.as_bytes()) };
        match found {
            Ok(symbol) => Ok(*symbol),
            Err(error) => {
                Err(Rejected::new(&self.path, "symbol", said(&error), format!("a function called {name}")))
            }
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !self.stays {
            // SAFETY: dropped once, here; whoever took something out of it kept it from getting here.
            unsafe { ManuallyDrop::drop(&mut self.handle) };
            // SAFETY: dropped once, here, after the library of that name.
            unsafe { ManuallyDrop::drop(&mut self.copy) };
        }
    }
}

/// The dynamic linker's own words, which the error's text leaves to its source.
fn said(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}
