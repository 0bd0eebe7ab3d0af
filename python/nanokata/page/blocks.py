"""What a page consists of, whatever it is written as. All texts are plain: whoever writes them escapes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Tone = Literal["", "dim", "good", "bad", "warn"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` is 1 for the page's own, `anchor` what links to it name."""

    level: int
    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or a line of one."""

    text: str
    strong: bool = False
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its caption, a heading a column (none at all for pairs), its rows.

    `right` are the columns that are set to the right; `dim` the rows that say nothing, as those of void races. The
    first column names the rows.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = field(default_factory=frozenset)
    dim: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Code:
    """Something to be typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure: its file's name and content, what it shows in words, and the experiment that it is of, if it is."""

    name: str
    png: bytes = field(repr=False)
    alt: str
    experiment: str = ""


Block = Heading | Paragraph | Items | Table | Code | Picture
