"""Types as C and C++ spell them, held against the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .splitting import close, pieces

__all__ = ["Names", "declared", "names_in", "rules_of"]


@dataclass(frozen=True, slots=True)
class Names:
    """What a source defines: its structs, its enums and whether each has a stated width, its aliases.

    `opened` says whether the standard library's names are used without ``std::``.
    """

    structs: frozenset[str] = frozenset()
    enums: Mapping[str, bool] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    opened: bool = False

    def without(self, alias: str) -> Names:
        """Return the names but for an alias, so that one of itself ends."""
        others = {name: meant for name, meant in self.aliases.items() if name != alias}
        return Names(self.structs, self.enums, others, self.opened)


_LIBRARY = {
    "string": {"string", "wstring", "u8string", "u16string", "u32string", "string_view", "basic_string"},
    "container": {"vector", "array", "deque", "list", "map", "set", "unordered_map", "unordered_set", "span", "bitset"},
    "ownership": {"shared_ptr", "unique_ptr", "weak_ptr"},
    "library type": {"optional", "variant", "any", "function", "tuple", "pair", "mutex", "thread", "exception_ptr"},
    "bool": {"bool", "_Bool"},
    "size": {"size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t"},
    "width": {"wchar_t", "time_t", "off_t", "int", "short", "long", "signed", "unsigned"},
}
_RULE_OF = {name: rule for rule, names in _LIBRARY.items() for name in names}
_TEMPLATES = _LIBRARY["string"] | _LIBRARY["container"] | _LIBRARY["ownership"] | _LIBRARY["library type"]
# Of the standard library's names these alone are what any compiler makes of them.
_FIXED = re.compile(r"u?int(?:_fast|_least)?(?:8|16|32|64)_t|byte|nullptr_t|u?int(?:8|16|32|64)")
_FAST = re.compile(r"u?int_fast(?:16|32|64)_t|u?intmax_t")
_WORD = re.compile(r"\b(?:\w+\s*::\s*)*\w+|[<&]")


def _words(spelled: str) -> Iterator[tuple[int, str, str]]:
    """Give end, qualifier and last name of each name, and each ``<`` and ``&``."""
    for word in _WORD.finditer(spelled):
        qualifier, _, name = re.sub(r"\s", "", word[0]).rpartition("::")
        yield word.end(), qualifier, name


def _rule_of(qualifier: str, name: str, names: Names) -> str | None:
    if name in names.structs and qualifier != "std":
        return None
    if _FAST.fullmatch(name):
        return "width"
    of_library = qualifier in {"std", "std::pmr"} or (names.opened and not qualifier)
    if name in _RULE_OF and (name not in _TEMPLATES or of_library):
        return _RULE_OF[name]
    if re.match(r"std\b", qualifier) and not _FIXED.fullmatch(name):
        return "library type"
    return None


_NO_TYPE_YET = frozenset({"const", "volatile", "restrict", "struct", "union", "enum", "class", "typename", "mutable"})
_BASIC = frozenset({"unsigned", "signed", "long", "short", "int", "char", "bool", "_Bool", "float", "double", "void"})
_DECLARATOR = re.compile(r"(?P<before>.*?[\s*&>)])(?P<name>[A-Za-z_]\w*)\s*(?P<array>(?:\[[^\]]*\]\s*)*)", re.DOTALL)
_POINTER_NAME = re.compile(r"\(\s*\*\s*(?:const\s+)?(\w*)[^()]*\)\s*\(")
_TYPE_WORD = re.compile(r"\w+")


def declared(text: str) -> tuple[str, str]:
    """Return name and type of a declaration; the name is empty where only a type is written."""
    spelled = " ".join(text.split())
    if (pointer := _POINTER_NAME.search(spelled)) is not None:
        return pointer[1], spelled
    found = _DECLARATOR.fullmatch(spelled)
    if found is None or found["name"] in _BASIC | _NO_TYPE_YET:
        return "", spelled
    if not any(word not in _NO_TYPE_YET for word in _TYPE_WORD.findall(found["before"])):
        return "", spelled
    return found["name"], f"{found['before'].strip()}{found['array'].strip()}"


_PECULIAR = {"long double": r"\blong\s+double\b", "wide integer": r"\b(?:(?:un)?signed\s+)?__int128\b"}
"""Rules about types of several words, or of a compiler's own."""


def rules_of(spelled: str, names: Names) -> Iterator[str]:
    """Give the rules that a type breaks; of a library's template those of what it holds are not named besides."""
    for rule, pattern in _PECULIAR.items():
        if re.search(pattern, spelled):
            yield rule
            spelled = re.sub(pattern, " ", spelled)
    spelled = re.sub(r"\b(?:signed|unsigned)\s+char\b", "char", spelled)
    if (form := _function_pointer(spelled)) is not None:
        for part in form:
            yield from rules_of(declared(part)[1], names)
        return
    if (keyword := re.search(r"\benum\s+(?:class\s+|struct\s+)?(\w+)", spelled)) is not None:
        if not names.enums.get(keyword[1], False):
            yield "enum"
        return
    yield from _rules_by_name(spelled, names)


def _rules_by_name(spelled: str, names: Names) -> Iterator[str]:
    at = 0
    for end, qualifier, name in _words(spelled):
        if end <= at:
            continue
        at = end
        if name == "&":
            yield "reference"
        elif name in names.enums:
            yield from [] if names.enums[name] else ["enum"]
        elif name in names.aliases:
            yield from rules_of(names.aliases[name], names.without(name))
        elif (rule := _rule_of(qualifier, name, names)) is not None:
            yield rule
            at = _past_arguments(spelled, end)


def _past_arguments(spelled: str, end: int) -> int:
    opening = re.compile(r"\s*<").match(spelled, end)
    return close(spelled, opening.end() - 1, angles=True) + 1 if opening else end


def _function_pointer(spelled: str) -> list[str] | None:
    """Return result and parameters of a pointer to a function; `None` for any other type."""
    found = re.match(r"(.*?)\(\s*\*[^()]*\)\s*\(", spelled, re.DOTALL)
    if found is None:
        return None
    closing = close(spelled, found.end() - 1)
    return [f"{found[1]} ", *(text for _, text in pieces(spelled, found.end(), closing))]


def names_in(spelled: str, names: Names) -> Iterator[str]:
    """Give the names that can be reached from a type, through pointers and aliases, not through a library's type."""
    at = 0
    for end, qualifier, name in _words(spelled):
        if end <= at:
            continue
        at = end
        if name in names.aliases:
            yield from names_in(names.aliases[name], names.without(name))
        if _rule_of(qualifier, name, names) in {"string", "container", "ownership", "library type"}:
            at = _past_arguments(spelled, end)
            continue
        yield name
