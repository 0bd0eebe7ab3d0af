//! One ELF file: functions, their bytes, and what its slots hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use object::{Architecture, Object, ObjectKind, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};

use super::{BinaryError, Code, Function, Slot, name, origin, slots};

/// An executable or shared object of ELF, read whole.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn example() -> Result<(), nanokata::binary::BinaryError> {
/// use nanokata::binary::Image;
/// let image = Image::of_this_code()?;
/// for function in image.functions_with("table_compact") {
///     println!("{} bytes {}", image.code(function)?.len(), function.name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    bytes: Vec<u8>,
    architecture: Architecture,
    segments: Vec<Segment>,
    /// By address, each address once.
    functions: Vec<Function>,
    slots: BTreeMap<u64, Slot>,
    load_bias: Option<u64>,
}

/// A stretch of the file that is loaded.
#[derive(Debug, Clone, Copy)]
struct Segment {
    address: u64,
    offset: u64,
    file_bytes: u64,
    executable: bool,
}

impl Image {
    /// Reads a file.
    ///
    /// # Errors
    /// [`BinaryError`]: unreadable, not ELF, damaged, or not linked. A stripped file is read: what is left is listed.
    pub fn open(path: impl AsRef<Path>) -> Result<Image, BinaryError> {
        let path = path.as_ref();
        let unreadable = |source| BinaryError::Unreadable { path: path.to_path_buf(), source };
        let kind = std::fs::metadata(path).map_err(unreadable)?;
        if !kind.is_file() && !kind.is_dir() {
            // Some never end.
            return Err(unreadable(std::io::Error::other("a device, pipe or socket, no regular file")));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        Self::from_bytes(path, bytes)
    }

    /// The same from bytes that were read already; `path` is what errors call them.
    ///
    /// # Errors
    /// As [`Image::open`], but for reading.
    pub fn from_bytes(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Image, BinaryError> {
        let path = path.into();
        if !bytes.starts_with(&object::elf::ELFMAG) {
            let begins = match bytes.get(..bytes.len().min(8)) {
                Some([]) | None => "with nothing: it is empty".to_string(),
                Some(first) => format!("{:02x?}", first),
            };
            return Err(BinaryError::NotElf { path, begins });
        }
        let parsed = parse(&path, &bytes)?;
        Ok(Image { path, bytes, ..parsed })
    }

    /// The file that this very code was loaded from: an executable, or the extension module. Knows its
    /// [`load_bias`](Image::load_bias).
    ///
    /// # Errors
    /// [`BinaryError::Origin`] where that can't be told (not Linux, or replaced since); else as [`Image::open`].
    pub fn of_this_code() -> Result<Image, BinaryError> {
        let mapping = origin::of_this_code()?;
        let mut image = Self::open(&mapping.path)?;
        // A mapping begins on a page, a segment need not: what counts is that file offsets and addresses go in step.
        let segment = image.segments.iter().find(|segment| {
            segment.executable && segment.offset < mapping.offset + 0x1000 && {
                let end = segment.offset.saturating_add(segment.file_bytes);
                mapping.offset < end
            }
        });
        let Some(segment) = segment else {
            let reason =
                format!("no executable segment of {} at {:#x}", image.path.display(), mapping.offset);
            return Err(BinaryError::Origin { reason });
        };
        let first = mapping.offset.wrapping_sub(segment.offset).wrapping_add(segment.address);
        image.load_bias = Some(mapping.start.wrapping_sub(first));
        Ok(image)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its code is for, as `x86-64`.
    pub fn architecture(&self) -> String {
        match self.architecture {
            Architecture::X86_64 => "x86-64".into(),
            other => format!("{other:?}"),
        }
    }

    /// Whether it can be decoded.
    pub(super) fn require_x86_64(&self) -> Result<(), BinaryError> {
        if self.architecture == Architecture::X86_64 {
            return Ok(());
        }
        Err(BinaryError::Architecture { path: self.path.clone(), architecture: self.architecture() })
    }

    /// Run-time address minus address in the file; known for [`Image::of_this_code`].
    pub fn load_bias(&self) -> Option<u64> {
        self.load_bias
    }

    /// The address in the file of a run-time address, as of a function pointer.
    pub fn to_file(&self, run_time: u64) -> Option<u64> {
        self.load_bias.map(|bias| run_time.wrapping_sub(bias))
    }

    /// The functions that symbols tell of, by address, each address once. Empty where the file is stripped.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function whose code covers this address in the file.
    pub fn function_at(&self, address: u64) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.address <= address);
        // Symbols may nest (a label inside a function): the nearest that still reaches here.
        let nearest = self.functions[..after].iter().rev().take(8);
        nearest
            .into_iter()
            .find(|function| function.range().contains(&address) || function.address == address)
    }

    /// The function of that name: demangled or as a symbol, whole; else the only one whose demangled name holds it.
    ///
    /// # Errors
    /// [`BinaryError::Stripped`], [`BinaryError::NoSuchFunction`] with the nearest names, [`BinaryError::Ambiguous`].
    pub fn function_named(&self, text: &str) -> Result<&Function, BinaryError> {
        if self.functions.is_empty() {
            return Err(BinaryError::Stripped { path: self.path.clone() });
        }
        let whole: Vec<&Function> =
            self.functions.iter().filter(|function| function.is_called(text)).collect();
        let fitting = if whole.is_empty() { self.functions_with(text).collect() } else { whole };
        match fitting[..] {
            [function] => Ok(function),
            [] => Err(BinaryError::NoSuchFunction {
                path: self.path.clone(),
                name: text.into(),
                hint: self.nearest(text),
            }),
            _ => Err(BinaryError::Ambiguous {
                path: self.path.clone(),
                name: text.into(),
                count: fitting.len(),
                candidates: some(fitting.iter().map(|function| {
                    // Where instances share one name only symbols tell them apart.
                    if function.is_called(text) { &function.symbol } else { &function.name }
                })),
            }),
        }
    }

    /// Every function whose demangled name holds `text`.
    pub fn functions_with<'a, 't>(
        &'a self,
        text: &'t str,
    ) -> impl Iterator<Item = &'a Function> + use<'a, 't> {
        let fits = move |function: &&Function| !text.is_empty() && function.name.contains(text);
        self.functions.iter().filter(fits)
    }

    /// The nearest names, by Jaro–Winkler over the last part of each.
    fn nearest(&self, text: &str) -> String {
        let last = |name: &str| {
            let path = name.split(['(', '<']).next().unwrap_or(name);
            path.rsplit("::").find(|part| !part.is_empty()).unwrap_or(name).to_string()
        };
        let wanted = last(text);
        let mut scored: Vec<(f64, &Function)> = self
            .functions
            .iter()
            .map(|function| (strsim::jaro_winkler(&wanted, &last(&function.name)), function))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.truncate(SHOWN);
        format!("the nearest are {}", some(scored.iter().map(|(_, function)| &function.name)))
    }

    /// The bytes of a function.
    ///
    /// # Errors
    /// [`BinaryError::NoCode`] where its symbol has no size, or lies outside the file.
    pub fn code(&self, function: &Function) -> Result<&[u8], BinaryError> {
        let refuse = |reason: &str| BinaryError::NoCode {
            path: self.path.clone(),
            name: function.name.clone(),
            reason: reason.into(),
        };
        if function.size == 0 {
            return Err(refuse("its symbol has no size"));
        }
        self.data(function.address, function.size)
            .ok_or_else(|| refuse("it lies outside what the file holds"))
    }

    /// A function decoded.
    ///
    /// # Errors
    /// As [`Image::code`]; [`BinaryError::Architecture`] unless the file's code is for x86-64.
    pub fn decode(&self, function: &Function) -> Result<Code, BinaryError> {
        self.require_x86_64()?;
        Ok(Code::decode(self, function.clone(), self.code(function)?))
    }

    /// What the dynamic linker puts into the slot at this address in the file, if it fills it.
    pub fn slot(&self, address: u64) -> Option<&Slot> {
        self.slots.get(&address)
    }

    /// Bytes of the file as loaded at this address.
    pub(super) fn data(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.segments.iter().find_map(|segment| {
            let into = address.checked_sub(segment.address)?;
            let end = into.checked_add(size).filter(|end| *end <= segment.file_bytes)?;
            let (from, to) = (segment.offset.checked_add(into)?, segment.offset.checked_add(end)?);
            self.bytes.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)
        })
    }

    /// Whether an address lies in code.
    pub(super) fn is_executable(&self, address: u64) -> bool {
        self.segments.iter().any(|segment| {
            segment.executable
                && address.checked_sub(segment.address).is_some_and(|into| into < segment.file_bytes)
        })
    }
}

/// How many names an error offers.
const SHOWN: usize = 4;
/// Letters of a name that an error shows; instances of generic code have names of thousands.
const READABLE: usize = 100;

/// "a, b, c and 4 more": names that are short enough to read in full first.
fn some<T: AsRef<str>>(names: impl ExactSizeIterator<Item = T>) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let mut names: Vec<T> = names.collect();
    names.sort_by_key(|name| name.as_ref().chars().count() > READABLE);
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| clipped(name.as_ref())).collect();
    let shown = shown.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn clipped(name: &str) -> String {
    let mut letters = name.chars();
    let start: String = letters.by_ref().take(READABLE).collect();
    if letters.next().is_some() { format!("{start}…") } else { start }
}

/// Everything but path and bytes.
fn parse(path: &Path, bytes: &[u8]) -> Result<Image, BinaryError> {
    let damaged =
        |error: object::Error| BinaryError::Damaged { path: path.into(), detail: error.to_string() };
    let file = object::File::parse(bytes).map_err(damaged)?;
    let kind = match file.kind() {
        ObjectKind::Executable | ObjectKind::Dynamic => None,
        ObjectKind::Relocatable => Some("an object file"),
        ObjectKind::Core => Some("a core dump"),
        _ => Some("of a kind that isn't known"),
    };
    if let Some(kind) = kind {
        return Err(BinaryError::NotLinked { path: path.into(), kind });
    }
    let segments: Vec<Segment> = file
        .segments()
        .map(|segment| {
            let (offset, file_bytes) = segment.file_range();
            let executable = segment.permissions().executable();
            Segment { address: segment.address(), offset, file_bytes, executable }
        })
        .collect();
    let past_end = |segment: &&Segment| {
        segment.offset.checked_add(segment.file_bytes).is_none_or(|end| end > bytes.len() as u64)
    };
    if let Some(segment) = segments.iter().find(past_end) {
        let detail = format!(
            "a segment of {} bytes at {:#x} ends past the file's {} bytes",
            segment.file_bytes,
            segment.offset,
            bytes.len()
        );
        return Err(BinaryError::Damaged { path: path.into(), detail });
    }
    Ok(Image {
        path: PathBuf::new(),
        bytes: Vec::new(),
        architecture: file.architecture(),
        segments,
        functions: functions(&file),
        slots: slots::slots(&file),
        load_bias: None,
    })
}

/// Every defined function of either symbol table, by address, aliases gathered.
fn functions(file: &object::File<'_>) -> Vec<Function> {
    let mut found: Vec<Function> = Vec::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
            continue;
        }
        let Some(text) = symbol.name().ok().filter(|name| !name.is_empty()) else { continue };
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        found.push(Function {
            name: name::demangled(text),
            symbol: text.to_string(),
            aliases: Vec::new(),
            address: symbol.address(),
            size: symbol.size(),
            section: section.and_then(|section| section.name().ok().map(str::to_string)).unwrap_or_default(),
        });
    }
    // The greatest size first: an alias without a size mustn't hide the function.
    found.sort_by(|a, b| (a.address, b.size, &a.symbol).cmp(&(b.address, a.size, &b.symbol)));
    let mut functions: Vec<Function> = Vec::with_capacity(found.len());
    for function in found {
        match functions.last_mut() {
            Some(last) if last.address == function.address => {
                if last.symbol != function.symbol && !last.aliases.contains(&function.symbol) {
                    last.aliases.push(function.symbol);
                }
            }
            _ => functions.push(function),
        }
    }
    functions
}
