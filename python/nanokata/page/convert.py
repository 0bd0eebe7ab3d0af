"""From what the terminal shows to a page's blocks: the same tables, with headings and captions of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from .blocks import Block, Paragraph, Table, Tone

if TYPE_CHECKING:
    from rich.console import RenderableType

_TONES: dict[str, Tone] = {"red": "bad", "yellow": "warn", "green": "good"}


def blocks_of(renderables: Iterable[RenderableType]) -> Iterator[Block]:
    """Yield the blocks for what the terminal would show; empty lines are left out."""
    for renderable in renderables:
        if isinstance(renderable, Group):
            yield from _grouped(list(renderable.renderables))
        elif isinstance(renderable, RichTable):
            yield _table("", renderable)
        elif isinstance(renderable, Text):
            yield from _paragraph(renderable)
        else:
            raise TypeError(f"no block shows a {type(renderable).__name__}")


def _grouped(parts: list[RenderableType]) -> Iterator[Block]:
    """Yield the blocks of a group; a text and a table are a table and its caption."""
    if len(parts) == 2 and isinstance(parts[0], Text) and isinstance(parts[1], RichTable):
        yield _table(parts[0].plain, parts[1])
    else:
        yield from blocks_of(parts)


def _paragraph(text: Text) -> Iterator[Paragraph]:
    style = text.style if isinstance(text.style, Style) else Style.parse(text.style)
    colour = style.color.name if style.color is not None else ""
    tone: Tone = "dim" if style.dim else _TONES.get(colour, "")
    for line in text.plain.splitlines():
        if line.strip():
            yield Paragraph(line, strong=bool(style.bold), tone=tone)


def _words(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def _table(caption: str, table: RichTable) -> Table:
    columns = [[_words(cell) for cell in column.cells] for column in table.columns]
    header = tuple(" ".join(_words(column.header).split()) for column in table.columns) if table.show_header else ()
    return Table(
        caption=caption,
        header=header,
        rows=tuple(zip(*columns, strict=True)),
        right=frozenset(at for at, column in enumerate(table.columns) if column.justify == "right"),
        dim=frozenset(at for at, row in enumerate(table.rows) if "dim" in str(row.style or "")),
    )
