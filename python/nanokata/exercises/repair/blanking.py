"""What isn't code becomes blanks, so that offsets and lines stay: comments, literals, the preprocessor's lines."""

from __future__ import annotations

import re

__all__ = ["c_code", "rust_code"]

_C_PIECE = re.compile(
    r"""(?P<keep>\bextern\s*"C(?:\+\+)?"|visibility\s*\(\s*"default"\s*\)|\b\d[\w.']*)"""
    r"""|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)"""
    r"""|\b(?:u8|u|U|L)?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)\""""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_RUST_PIECE = re.compile(
    r"""(?P<keep>\bextern\s*"[\w-]*")"""
    r"""|//[^\n]*|(?P<block>/\*)"""
    r"""|\b(?:b|c)?r(?P<hashes>\#*)".*?"(?P=hashes)"""
    r"""|(?:\b(?:b|c))?"(?:\\.|[^"\\])*"|(?:\bb)?'(?:\\[^\n]+?|[^\\'\n])'""",
    re.DOTALL | re.VERBOSE,
)
_NESTING = re.compile(r"/\*|\*/")


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def c_code(source: str) -> str:
    """Return a source in C or C++ with blanks for all that declares nothing."""
    code = _C_PIECE.sub(lambda piece: piece[0] if piece["keep"] else _blank(piece[0]), source)
    return _PREPROCESSOR.sub(lambda line: _blank(line[0]), code)


def _end_of_block(source: str, start: int) -> int:
    """Return where a Rust block comment ends, which may hold others."""
    depth = 0
    for mark in _NESTING.finditer(source, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(source)


def rust_code(source: str) -> str:
    """Return a source in Rust with blanks for comments and literals."""
    pieces, at = [], 0
    while (piece := _RUST_PIECE.search(source, at)) is not None:
        end = _end_of_block(source, piece.start()) if piece["block"] else piece.end()
        found = source[piece.start() : end]
        pieces += [source[at : piece.start()], found if piece["keep"] else _blank(found)]
        at = end
    return "".join([*pieces, source[at:]])
