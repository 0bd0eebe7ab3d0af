"""What crosses of a source in C or C++: the structs that others can see, and the signatures of what is exported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .blanking import c_code
from .broken import Broken
from .c_types import Names, declared, names_in, rules_of
from .splitting import close, line_of, pieces
from .statements import statements

__all__ = ["broken_in"]

_ATTRIBUTE = re.compile(
    r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\[\[[^\]]*\]\]|\balignas\s*\([^()]*\)|__extension__"
)
_STRUCT = re.compile(r"\b(?<!enum )(struct|class|union)\s*(\w*)\s*(?:final\s*)?(:[^:;{(][^;{(]*)?\{")
_ENUM = re.compile(r"\benum\b\s*(?:class\b|struct\b)?\s*(\w*)\s*(:\s*[^{;]+)?\{")
_BEHIND = re.compile(r"\s*(\w+)\s*[;,]")
_TYPEDEF = re.compile(r"\btypedef\s+([^;{}()]+?)\b(\w+)\s*;")
_TYPEDEF_FUNCTION = re.compile(r"\btypedef\s+([^;{}()]+\(\s*\*\s*(\w+)\s*\)\s*\([^;{}]*\))\s*;")
_USING = re.compile(r"\busing\s+(\w+)\s*=\s*([^;{}]+);")
_FUNCTION = re.compile(r"(?:^|(?<=[;{}]))(?P<result>[^;{}()=]*?[\s*&])(?P<name>\w+)\s*\(", re.DOTALL)
_VISIBLE = "EXPORTED__"
_EXPORTED = re.compile(rf'NANOKATA_\w*EXPORT\b|extern\s*"C"|{_VISIBLE}')
_BLOCK = re.compile(r'extern\s*"C"\s*\{')
_OPEN_SCOPE = re.compile(r'(?:\bnamespace\s+\w[\w:]*|extern\s*"C")\s*$')
_STORAGE = re.compile(rf'NANOKATA_\w*(?:EXPORT|_C)\b|{_VISIBLE}|extern\s*(?:"C")?|\b(?:static|inline|constexpr)\b')


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    offset: int
    text: str
    rules: tuple[str, ...] = ()
    """Those that follow from how it is declared, whatever its type."""


@dataclass(frozen=True, slots=True)
class _Owner:
    name: str
    offset: int
    parts: tuple[_Part, ...]
    rules: tuple[str, ...] = ()


def _fields(code: str, start: int, end: int) -> Iterator[_Part]:
    for offset, text in statements(code, start, end):
        if re.match(r"\s*virtual\b", text):
            found = re.search(r"(~?\w+)\s*\(", text)
            yield _Part(found[1] if found else "", offset, "virtual function", ("virtual",))
            continue
        if re.match(r"\s*(?:static|using|typedef|friend|template|constexpr|explicit|operator)\b", text):
            continue
        outside = _without_arguments(text)
        if "(" in outside.partition("=")[0] and not re.search(r"\(\s*\*", outside):
            continue  # A method: it takes no bytes.
        yield from _declarators(offset, text)


def _without_arguments(text: str) -> str:
    """Return a declaration without its templates' arguments."""
    while (opening := text.find("<")) >= 0:
        text = text[:opening] + text[close(text, opening, angles=True) + 1 :]
    return text


def _declarators(offset: int, text: str) -> Iterator[_Part]:
    """Give each name of a declaration, as of ``uint32_t a = 1, *b, c : 3``."""
    shared = ""
    for at, piece in pieces(text, 0, len(text)):
        declarator = re.sub(r"(?:\{.*|=.*)\Z", "", piece, flags=re.DOTALL)
        width = re.search(r"(?<!:):(?!:)\s*\w+\s*$", declarator)
        declarator = declarator[: width.start()] if width else declarator
        name, spelled = declared(shared + declarator)
        shared = shared or re.sub(r"[*&\s]*\w+\s*(?:\[[^\]]*\]\s*)*$", " ", declarator)
        if spelled:
            begun = offset + at + len(piece) - len(piece.lstrip())
            yield _Part(name, begun, spelled, ("bit-field",) if width else ())


def _structs(code: str) -> Iterator[tuple[str, _Owner]]:
    """Give each struct under each of its names."""
    for struct in _STRUCT.finditer(code):
        closing = close(code, struct.end() - 1)
        behind = _BEHIND.match(code, closing + 1)
        typedef = re.search(r"\btypedef\s*$", code[: struct.start()]) is not None
        name = struct[2] or (behind[1] if behind else "") or "unnamed"
        rules = ("base class",) if struct[3] else ()
        owner = _Owner(name, struct.start(), tuple(_fields(code, struct.end(), closing)), rules)
        yield name, owner
        if behind and typedef and behind[1] != name:
            yield behind[1], owner


def _enums(code: str) -> Iterator[tuple[str, bool]]:
    for enum in _ENUM.finditer(code):
        behind = _BEHIND.match(code, close(code, enum.end() - 1) + 1)
        for name in {enum[1], behind[1] if behind else ""} - {""}:
            yield name, enum[2] is not None


def _without_attributes(code: str) -> str:
    """Return code of the same length with blanks for attributes, but for a word where one makes a symbol visible."""

    def word(found: re.Match[str]) -> str:
        kept = _VISIBLE if "visibility" in found[0] and '"default"' in found[0] else ""
        return kept + re.sub(r"[^\n]", " ", found[0][len(kept) :])

    return _ATTRIBUTE.sub(word, code)


def _file_scope(code: str) -> str:
    """Return code of the same length with blanks for what braces hold; named namespaces and ``extern "C"`` stay."""
    kept, at = [], 0
    while (opening := code.find("{", at)) >= 0:
        end = opening if _OPEN_SCOPE.search(code, at, opening) else close(code, opening)
        kept += [code[at : opening + 1], re.sub(r"[^\n]", " ", code[opening + 1 : end])]
        at = max(end, opening + 1)
    return "".join([*kept, code[at:]])


def _functions(code: str, *, plus: bool) -> Iterator[_Owner]:
    """Give what is exported and defined here: in C what isn't static, in C++ what says so."""
    code = _file_scope(code)
    blocks = [(block.end(), close(code, block.end() - 1)) for block in _BLOCK.finditer(code)]
    for found in _FUNCTION.finditer(code):
        closing = close(code, found.end() - 1)
        exported = _EXPORTED.search(found["result"]) is not None or found["name"].startswith("nanokata_")
        exported = exported or any(start <= found.start() < end for start, end in blocks)
        local = re.search(r"\bstatic\b|\btypedef\b|\busing\b", found["result"]) is not None
        if local or (plus and not exported) or re.compile(r"[^;{}=]*\{").match(code, closing + 1) is None:
            continue
        result = " ".join(_STORAGE.sub(" ", found["result"]).split())
        begun = found.start("name")
        parts = [_Part("result", begun, result)]
        parts += [_Part(*_parameter(at, text)) for at, text in pieces(code, found.end(), closing) if text.strip()]
        yield _Owner(found["name"], begun, tuple(parts))


def _parameter(offset: int, text: str) -> tuple[str, int, str]:
    name, spelled = declared(text)
    return name or "parameter", offset + len(text) - len(text.lstrip()), spelled


def _reached(waiting: list[_Owner], structs: dict[str, _Owner], names: Names) -> list[_Owner]:
    owners = list(dict.fromkeys(waiting))
    for owner in owners:
        for part in owner.parts:
            found = (structs[name] for name in names_in(part.text, names) if name in structs)
            owners += [struct for struct in dict.fromkeys(found) if struct not in owners]
    return owners


def broken_in(source: str, *, plus: bool) -> Iterator[Broken]:
    """Give what crosses and may not, in the order of the lines; `plus` says whether it is C++."""
    code = _without_attributes(c_code(source))
    structs = dict(_structs(code))
    aliases = {found[2]: found[1] for found in (*_TYPEDEF.finditer(code), *_TYPEDEF_FUNCTION.finditer(code))}
    aliases |= {found[1]: found[2] for found in _USING.finditer(code)}
    opened = plus and re.search(r"\busing\s+(?:namespace\s+std\b|std\s*::)", code) is not None
    enums = dict(_enums(code))
    aliases = {name: meant for name, meant in aliases.items() if name not in structs and name not in enums}
    names = Names(frozenset(structs), enums, aliases, opened)
    functions = list(_functions(code, plus=plus))
    for owner in sorted(_reached(functions or list(structs.values()), structs, names), key=lambda owner: owner.offset):
        for rule in owner.rules:
            yield Broken(owner.name, "", line_of(code, owner.offset), "struct", rule)
        for part in owner.parts:
            rules = part.rules if "virtual" in part.rules else (*rules_of(part.text, names), *part.rules)
            for rule in dict.fromkeys(rules):
                yield Broken(owner.name, part.name, line_of(code, part.offset), part.text, rule)
