"""What crosses of a Rust source: the structs that others can see, and the signatures of its extern functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .blanking import rust_code
from .broken import Broken
from .rust_rules import Names, names_in, rules_of
from .rust_types import Type, parse
from .splitting import close, line_of, pieces

__all__ = ["broken_in"]

_ITEM = re.compile(r"\b(struct|union|enum)\s+(?:r#)?(\w+)")
_ALIAS = re.compile(r"\btype\s+(?:r#)?(\w+)\s*(?:<[^=;]*>)?\s*=\s*([^;]+);")
_EXTERN = re.compile(r'\bextern\s*(?:"(?:C|system)(?:-unwind)?")?\s+fn\s+(?:r#)?(\w+)')
_FIELD = re.compile(r"\s*(?:pub\s*(?:\([^)]*\)\s*)?)?(?:(?:r#)?(\w+)\s*:(?!:))?\s*(.*)", re.DOTALL)
_REPRESENTED = re.compile(r"\brepr\s*\([^)]*\b(?:C|transparent|[iu](?:8|16|32|64))\b")


@dataclass(frozen=True, slots=True)
class _Part:
    """A field, parameter or result: its name, the offset of its line, what is written, what that means."""

    name: str
    offset: int
    text: str
    type: Type


@dataclass(frozen=True, slots=True)
class _Owner:
    """A struct, or an extern function."""

    name: str
    offset: int
    represented: bool
    public: bool
    parts: tuple[_Part, ...]


def _attributes_before(code: str, at: int) -> tuple[str, bool]:
    """Return the attributes of an item whose keyword is at `at`, and whether it is public."""
    before = code[:at].rstrip()
    visibility = re.search(r"\bpub(?:\s*\([^)]*\))?$", before)
    before = before[: visibility.start()].rstrip() if visibility else before
    attributes = ""
    while before.endswith("]"):
        depth, start = 0, len(before)
        while start > 0:
            start -= 1
            depth += (before[start] == "]") - (before[start] == "[")
            if depth == 0:
                break
        attributes += before[start:]
        before = before[:start].rstrip().removesuffix("#").rstrip()
    return attributes, visibility is not None


def _parts(code: str, start: int, end: int) -> Iterator[_Part]:
    for place, (offset, text) in enumerate(pieces(code, start, end)):
        begun = 0
        while (attribute := re.match(r"\s*#\s*\[", text[begun:])) is not None:
            begun = close(text, begun + attribute.end() - 1) + 1
        found = _FIELD.match(text, begun)
        if found is None or not found[2].strip():
            continue
        spelled = " ".join(found[2].split())
        named = found.start(1) if found[1] else found.start(2)
        yield _Part(found[1] or str(place), offset + named, spelled, parse(spelled))


def _structs(code: str) -> Iterator[_Owner]:
    for item in _ITEM.finditer(code):
        body = re.compile(r"[{(;]").search(code, _past_generics(code, item.end()))
        if item[1] == "enum" or body is None:
            continue
        attributes, public = _attributes_before(code, item.start())
        inside = () if body[0] == ";" else tuple(_parts(code, body.end(), close(code, body.start())))
        yield _Owner(item[2], item.start(), bool(_REPRESENTED.search(attributes)), public, inside)


def _past_generics(code: str, at: int) -> int:
    generics = re.compile(r"\s*<").match(code, at)
    return close(code, generics.end() - 1, angles=True) + 1 if generics else at


def _functions(code: str) -> Iterator[_Owner]:
    """Give the extern functions that are defined here; what is only declared belongs to the other side."""
    for found in _EXTERN.finditer(code):
        opening = code.find("(", _past_generics(code, found.end()))
        closing = close(code, opening) if opening >= 0 else len(code)
        ending = re.compile(r"[{;]").search(code, closing)
        if ending is None or ending[0] == ";":
            continue
        parts = list(_parts(code, opening + 1, closing))
        if (arrow := re.compile(r"\s*->\s*").match(code, closing + 1)) is not None:
            spelled = " ".join(re.split(r"\bwhere\b", code[arrow.end() : ending.start()])[0].split())
            parts.append(_Part("result", arrow.end(), spelled, parse(spelled)))
        yield _Owner(found[1], found.start(), True, False, tuple(parts))


def _names(code: str, structs: tuple[_Owner, ...]) -> Names:
    enums = {
        item[2]: bool(_REPRESENTED.search(_attributes_before(code, item.start())[0]))
        for item in _ITEM.finditer(code)
        if item[1] == "enum"
    }
    aliases = {alias[1]: parse(alias[2]) for alias in _ALIAS.finditer(code)}
    return Names(frozenset(struct.name for struct in structs), enums, aliases)


def broken_in(source: str) -> Iterator[Broken]:
    """Give what crosses and may not, in the order of the lines."""
    code = rust_code(source)
    structs = tuple(_structs(code))
    functions = tuple(_functions(code))
    names = _names(code, structs)
    crossing = {struct.name for struct in structs if struct.public and struct.represented}
    waiting = [*functions, *(struct for struct in structs if struct.name in crossing)]
    if not waiting:
        # Nothing says what crosses: whatever there is, then.
        waiting = list(structs)
        crossing = {struct.name for struct in structs}
    owners = list(waiting)
    while waiting:
        reached = {name for part in waiting.pop().parts for name in names_in(part.type, names)} - crossing
        found = [struct for struct in structs if struct.name in reached]
        crossing |= reached
        owners += found
        waiting += found
    for owner in sorted(owners, key=lambda owner: owner.offset):
        if not owner.represented:
            yield Broken(owner.name, "", line_of(code, owner.offset), "struct", "no repr(C)")
        for part in owner.parts:
            for rule in dict.fromkeys(rules_of(part.type, names)):
                yield Broken(owner.name, part.name, line_of(code, part.offset), part.text, rule)
