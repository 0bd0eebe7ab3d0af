"""Binaries as evidence: the functions of an ELF file, and the code that is reachable from one of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanokata import arguments
from nanokata.instrument import Progress
from nanokata.results.records import Record
from nanokata.shown import Shown

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Function", "Reach", "Reached", "Unknown", "functions", "reach"]


@dataclass(frozen=True, slots=True)
class Function(Record):
    """A function as a symbol tells of it; `size` in bytes of code, `address` in the file."""

    name: str
    symbol: str
    aliases: tuple[str, ...]
    address: int
    size: int
    section: str


@dataclass(frozen=True, slots=True)
class Reached(Record):
    """A function that is reached, and how many bytes of code it has."""

    name: str
    address: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Unknown(Record):
    """An indirect call or jump whose target the file doesn't tell."""

    function: str
    address: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Reach(Record, Shown):
    """The code that direct calls and jumps lead to from `root`, itself included.

    Functions count with their whole size, cold paths and all, each byte once: an upper bound for what was found. What
    indirect calls lead to (`unknown`), and what other files bring (`imports`), isn't in it.
    """

    path: str
    root: str
    bytes: int
    lines: int
    """Cache lines that these bytes touch."""
    line_bytes: int
    functions: tuple[Reached, ...]
    """Greatest first."""
    unknown: tuple[Unknown, ...]
    imports: tuple[str, ...]
    excluded: tuple[str, ...]
    unsized_targets: tuple[str, ...]
    """Called, but without a sized symbol."""
    l1i_bytes: int | None
    """Size of this machine's L1 instruction cache."""
    machine: str
    document: dict[str, Any] = field(repr=False)

    @property
    def ratio(self) -> float | None:
        """The touched lines' bytes over the L1 instruction cache's; ``None`` where its size isn't known."""
        return None if self.l1i_bytes is None else self.lines * self.line_bytes / self.l1i_bytes

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""
        return json.dumps({**self.document, "ratio": self.ratio}, indent=indent, ensure_ascii=False)

    def __rich__(self) -> RenderableType:
        from nanokata.render.binary import reach_renderable

        return reach_renderable(self)

    def __repr__(self) -> str:
        return f"<Reach of {self.root}: {self.bytes} bytes in {len(self.functions)} functions>"


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else arguments.path("path", path)


def reach(
    path: str | os.PathLike[str] | None,
    symbol: str,
    *,
    without: Sequence[str] = (),
    progress: Progress | None = None,
) -> Reach:
    """Sum the code that is statically reachable from a function, against this machine's L1 instruction cache.

    Direct calls and jumps are followed, through jump tables, the procedure linkage table and slots that the file itself
    fills; indirect ones are listed as unknown.

    Parameters
    ----------
    path : path
        An executable or shared object (ELF, x86-64); ``None`` is nanokata's own extension.
    symbol : str
        The function: its name, demangled or as a symbol, or a part that fits only one.
    without : sequence of str
        Functions whose name holds one of these aren't entered, as ``["core::panicking"]``; they are listed.
    progress : callable, optional
        As for :func:`nanokata.run`.

    Raises
    ------
    BinaryError
        If the file can't be read, isn't such a file, is stripped, or has no such function.
    """
    from nanokata import _core

    wanted = "wanted a sequence of texts"
    if isinstance(without, (str, bytes)):
        raise arguments.wrong_type("without", without, wanted)
    excluded = [arguments.word("without", text, wanted) for text in without]
    name = arguments.word("symbol", symbol, "wanted a function's name")
    document = json.loads(_core.reach(_path(path), name, without=excluded, progress=progress))
    found = {**document["reach"], "l1i_bytes": document["l1i_bytes"], "machine": document["machine"]}
    return Reach.from_json({**found, "document": found})


def functions(path: str | os.PathLike[str] | None, contains: str = "") -> tuple[Function, ...]:
    """Return the functions of a file whose demangled name holds `contains`, by address; all of them if it is empty.

    `path` as for :func:`reach`. Raises ``BinaryError`` as it does.
    """
    from nanokata import _core

    found = _core.functions(_path(path), contains=arguments.word("contains", contains, "wanted a text"))
    return tuple(Function.from_json(item) for item in json.loads(found))
