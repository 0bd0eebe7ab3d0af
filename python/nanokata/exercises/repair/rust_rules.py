"""Types as Rust spells them, held against the rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .rust_types import Type

__all__ = ["Names", "names_in", "rules_of"]


@dataclass(frozen=True, slots=True)
class Names:
    """What a source defines: its structs, its enums and whether each has a stated representation, its aliases."""

    structs: frozenset[str] = frozenset()
    enums: Mapping[str, bool] = field(default_factory=dict)
    aliases: Mapping[str, Type] = field(default_factory=dict)

    def without(self, alias: str) -> Names:
        """Return the names but for an alias, so that one of itself ends."""
        others = {name: meant for name, meant in self.aliases.items() if name != alias}
        return Names(self.structs, self.enums, others)


_TRANSPARENT = frozenset({"NonNull", "MaybeUninit", "ManuallyDrop", "UnsafeCell", "Cell", "AtomicPtr"})
_LIBRARY = {
    "string": {"String", "str", "OsString", "OsStr", "CString", "CStr", "PathBuf", "Path", "Cow"},
    "container": {"Vec", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "BinaryHeap", "LinkedList"},
    "ownership": {"Arc", "Rc", "Weak", "Box"},
    "library type": {
        "Mutex",
        "RwLock",
        "RefCell",
        "OnceLock",
        "OnceCell",
        "Duration",
        "Instant",
        "SystemTime",
        "Range",
    },
    "bool": {"bool", "AtomicBool"},
    "size": {"usize", "isize", "AtomicUsize", "AtomicIsize", "NonZeroUsize", "NonZeroIsize"},
    "width": {f"c_{name}" for name in ("long", "ulong", "int", "uint", "short", "ushort", "longlong", "ulonglong")},
    "wide integer": {"u128", "i128"},
    "character": {"char"},
    "enum": {"Result"},
}
_RULE_OF = {name: rule for rule, names in _LIBRARY.items() for name in names}
_PLAIN = {f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)} | {"f32", "f64"}
_FOREIGN_ABIS = frozenset({"C", "C-unwind", "system", "system-unwind"})


def _option(inner: Type, names: Names) -> Iterator[str]:
    broken = tuple(rules_of(inner, names))
    yield from broken
    if inner.kind == "path" and inner.name in names.aliases:
        if not broken:
            yield from _option(names.aliases[inner.name], names.without(inner.name))
        return
    known = inner.name in _PLAIN or inner.name in names.structs or inner.name in names.enums
    if not broken and (inner.kind in {"array", "pointer"} or (inner.kind == "path" and known)):
        yield "option"


def rules_of(given: Type, names: Names) -> Iterator[str]:
    """Give the rules that a type breaks; of a library's type those of what it holds are not named besides."""
    if given.kind == "reference":
        pointee = given.inner[0]
        yield "slice" if pointee.kind == "slice" or pointee.name == "str" else "reference"
        if pointee.kind != "slice" and pointee.name != "str":
            yield from rules_of(pointee, names)
        return
    if given.kind in {"slice", "tuple"}:
        yield given.kind
    elif given.kind == "object":
        yield "trait object"
        return
    elif given.kind == "function" and given.name not in _FOREIGN_ABIS:
        yield "calling convention"
    elif given.kind == "path":
        yield from _path(given, names)
        return
    for inner in given.inner:
        yield from rules_of(inner, names)


def _path(given: Type, names: Names) -> Iterator[str]:
    if given.name in names.aliases:
        yield from rules_of(names.aliases[given.name], names.without(given.name))
    elif given.name in names.enums:
        if not names.enums[given.name]:
            yield "enum"
    elif given.name in names.structs:
        return
    elif given.name == "Option" and given.inner:
        yield from _option(given.inner[0], names)
    elif given.name in _TRANSPARENT:
        for inner in given.inner:
            yield from rules_of(inner, names)
    elif given.name in _RULE_OF:
        yield _RULE_OF[given.name]


def names_in(given: Type, names: Names, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Give the names that can be reached from a type, through pointers and aliases, not through a library's type."""
    if given.kind == "path":
        if given.name in names.aliases and given.name not in seen:
            yield from names_in(names.aliases[given.name], names, seen | {given.name})
        elif given.name in _RULE_OF and given.name not in names.structs:
            return
        yield given.name
    for inner in given.inner:
        yield from names_in(inner, names, seen)
