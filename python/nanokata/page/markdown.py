"""A page as Markdown, its pictures as files beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from .blocks import Block, Code, Heading, Items, Paragraph, Picture, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$!])")
_AT_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")
"""What begins a list, a rule or a heading where it stands first."""


def markdown(blocks: Sequence[Block]) -> str:
    """Return the blocks as Markdown (CommonMark, with tables as GitHub has them)."""
    return "\n\n".join(_block(block) for block in blocks) + "\n"


def plain(text: str) -> str:
    """Return a text such that Markdown shows it as it is."""
    escaped = _SPECIAL.sub(r"\\\1", text)
    return _AT_START.sub(lambda found: f"{found[1]}{_literal(found[2])}", escaped)


def _literal(mark: str) -> str:
    return f"{mark[:-1]}\\{mark[-1]}"


def _block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {plain(text)}"
        case Paragraph(text, strong):
            return f"**{plain(text)}**" if strong else plain(text)
        case Items(items):
            return "\n".join(f"- {plain(' '.join(item.split()))}" for item in items)
        case Code(text):
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}sh\n{text}\n{fence}"
        case Picture(name, _, alt):
            return f"![{plain(alt)}]({quote(name)})"
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    width = len(table.rows[0]) if table.rows else len(table.header)
    header = table.header or ("",) * width
    rule = ["---:" if at in table.right else "---" for at in range(width)]
    lines = [_row(header), f"| {' | '.join(rule)} |", *(_row(row) for row in table.rows)]
    caption = [f"**{plain(table.caption)}**", ""] if table.caption else []
    return "\n".join([*caption, *lines])


def _row(cells: Sequence[str]) -> str:
    # Nothing begins a list in a table, and a line of it is a line.
    shown = ("<br>".join(_SPECIAL.sub(r"\\\1", line) for line in cell.split("\n")) for cell in cells)
    return f"| {' | '.join(shown)} |"
