//! A shared object as the dynamic linker sees it: what it is for, what it exports, and what keeps it from being unloaded.

use std::path::{Path, PathBuf};

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Architecture, Object, ObjectKind, ObjectSymbol, elf};
use serde::Serialize;

use super::BinaryError;

/// What a symbol stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportKind {
    /// Code.
    Function,
    /// Something else: a variable, a thread-local, nothing that is said.
    Other,
}

/// A symbol that other libraries can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Export {
    /// As the dynamic linker spells it.
    pub name: String,
    /// What it stands for.
    pub kind: ExportKind,
    /// Whether another library's may take its place without a word: so compilers mark what every library that needs it has.
    pub weak: bool,
}

/// A shared object of ELF, unopened.
#[derive(Debug, Clone)]
pub struct SharedObject {
    path: PathBuf,
    architecture: Architecture,
    is_64: bool,
    is_little_endian: bool,
    exports: Vec<Export>,
    thread_locals: bool,
    beside: bool,
}

impl SharedObject {
    /// Reads what is said of it in these bytes, of the file `path`.
    ///
    /// # Errors
    /// [`BinaryError`]: not ELF, damaged or cut short, or no shared object.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<SharedObject, BinaryError> {
        // The general reader refuses what isn't ELF, isn't linked, or has segments past its end, each by its own words.
        super::Image::from_bytes(path, bytes.to_vec())?;
        let damaged =
            |error: object::Error| BinaryError::Damaged { path: path.into(), detail: error.to_string() };
        let file = object::File::parse(bytes).map_err(damaged)?;
        if file.kind() != ObjectKind::Dynamic {
            return Err(BinaryError::NotShared { path: path.into() });
        }
        let mut exports: Vec<Export> = file
            .dynamic_symbols()
            .filter(|symbol| symbol.is_definition() && symbol.is_global())
            .filter_map(|symbol| {
                let name = symbol.name().ok().filter(|name| !name.is_empty())?.to_string();
                let function = symbol.kind() == object::SymbolKind::Text;
                let kind = if function { ExportKind::Function } else { ExportKind::Other };
                Some(Export { name, kind, weak: is_weak(&symbol) })
            })
            .collect();
        exports.sort_by(|a, b| a.name.cmp(&b.name));
        exports.dedup();
        Ok(SharedObject {
            path: path.into(),
            architecture: file.architecture(),
            is_64: file.is_64(),
            is_little_endian: file.is_little_endian(),
            exports,
            thread_locals: has_thread_locals(bytes),
            beside: looks_beside_itself(bytes),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its code is for.
    pub fn architecture(&self) -> String {
        let bits = if self.is_64 { 64 } else { 32 };
        format!("{:?}, {bits}-bit", self.architecture)
    }

    /// Whether this process could run its code.
    pub fn is_for_this_machine(&self) -> bool {
        let here = match std::env::consts::ARCH {
            "x86_64" => Architecture::X86_64,
            "aarch64" => Architecture::Aarch64,
            "riscv64" => Architecture::Riscv64,
            // Not known here by a name: the dynamic linker will say.
            _ => self.architecture,
        };
        self.architecture == here
            && self.is_64 == cfg!(target_pointer_width = "64")
            && self.is_little_endian == cfg!(target_endian = "little")
    }

    /// What other libraries can see of it, by name.
    pub fn exports(&self) -> &[Export] {
        &self.exports
    }

    /// The exported symbol of that name.
    pub fn export(&self, name: &str) -> Option<&Export> {
        self.exports.iter().find(|export| export.name == name)
    }

    /// Whether it has variables that each thread has a copy of. Their destructors run when a thread ends, so code that
    /// may own some must still be there then.
    pub fn has_thread_locals(&self) -> bool {
        self.thread_locals
    }

    /// Whether it wants to find others by where it lies itself (`$ORIGIN`), so that a copy elsewhere may not do.
    pub fn looks_beside_itself(&self) -> bool {
        self.beside
    }
}

/// Weak, or unique in the process, which C++ compilers make of what would otherwise be weak.
fn is_weak(symbol: &object::Symbol<'_, '_>) -> bool {
    let unique = matches!(symbol.flags(), object::SymbolFlags::Elf { st_info, .. } if st_info.st_bind() == elf::STB_GNU_UNIQUE);
    symbol.is_weak() || unique
}

/// Wherever the words stand: that they are in the search path's string is certain if it is to work, and to find them
/// elsewhere as well costs no more than opening the library by its name.
fn looks_beside_itself(bytes: &[u8]) -> bool {
    [b"$ORIGIN".as_slice(), b"${ORIGIN}"]
        .iter()
        .any(|word| bytes.windows(word.len()).any(|window| window == *word))
}

fn has_thread_locals(bytes: &[u8]) -> bool {
    fn of<Elf: FileHeader<Endian = object::Endianness>>(bytes: &[u8]) -> Option<bool> {
        let header = Elf::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        let headers = header.program_headers(endian, bytes).ok()?;
        Some(
            headers
                .iter()
                .any(|header| header.p_type(endian) == elf::PT_TLS && header.p_memsz(endian).into() > 0),
        )
    }
    // What isn't understood is taken to have some: then it is merely never unloaded.
    of::<elf::FileHeader64<object::Endianness>>(bytes)
        .or_else(|| of::<elf::FileHeader32<object::Endianness>>(bytes))
        .unwrap_or(true)
}
