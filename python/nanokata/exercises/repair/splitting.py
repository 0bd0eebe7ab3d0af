"""Brackets: where one closes, and what stands between separators outside of all of them."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["close", "line_of", "pieces"]

_OPEN, _CLOSED = "([{<", ")]}>"


def _depth_after(code: str, at: int, *, angles: bool) -> int:
    """Return by how much a character changes the depth; the arrow of ``->`` is no bracket."""
    sign = code[at]
    if sign in "<>" and (not angles or (sign == ">" and at > 0 and code[at - 1] in "-=")):
        return 0
    return (sign in _OPEN) - (sign in _CLOSED)


def close(code: str, start: int, *, angles: bool = False) -> int:
    """Return the offset of the bracket that closes the one at `start`; the end of the code if none does.

    `angles` says whether ``<`` and ``>`` are brackets too.
    """
    depth = 0
    for at in range(start, len(code)):
        depth += _depth_after(code, at, angles=angles)
        if depth == 0:
            return at
    return len(code)


def pieces(code: str, start: int, end: int, separator: str = ",") -> Iterator[tuple[int, str]]:
    """Give offset and text of each piece of ``code[start:end]`` between separators outside of brackets."""
    depth, begun = 0, start
    for at in range(start, end):
        if depth == 0 and code[at] == separator:
            yield begun, code[begun:at]
            begun = at + 1
        depth += _depth_after(code, at, angles=True)
    yield begun, code[begun:end]


def line_of(code: str, offset: int) -> int:
    """Return the line of an offset, from 1."""
    return code.count("\n", 0, offset) + 1
