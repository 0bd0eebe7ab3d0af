"""Reachable code as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from . import numbers
from .tables import blank, titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from nanokata.binary import Reach

_SHOWN = 10


def reach_renderable(reach: Reach) -> RenderableType:
    """Return the sum, the largest functions, and what isn't in it."""
    table = blank()
    table.add_column("largest functions", overflow="fold")
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("of all", justify="right", no_wrap=True)
    for function in reach.functions[:_SHOWN]:
        table.add_row(Text(function.name), f"{function.bytes:,}", numbers.percent(function.bytes / reach.bytes))
    rest = reach.functions[_SHOWN:]
    if rest:
        table.add_row(f"{len(rest)} more", f"{sum(function.bytes for function in rest):,}", "")
    unknown = blank()
    unknown.add_column(f"indirect calls and jumps, targets unknown: {len(reach.unknown)}", overflow="fold")
    unknown.add_column("in", overflow="fold")
    for site in reach.unknown[:_SHOWN]:
        unknown.add_row(Text(f"{site.address:#x} {site.text}"), Text(site.function))
    if len(reach.unknown) > _SHOWN:
        unknown.add_row(f"{len(reach.unknown) - _SHOWN} more", "")
    parts = [titled(f"code reachable from {reach.root}", table), Text(_against_l1i(reach))]
    if reach.unknown:
        parts.append(unknown)
    parts += [
        Text(line)
        for line in (
            _named("called in other files, not counted", reach.imports),
            _named("not entered, as asked", reach.excluded),
            _named("called, but no symbol says how large", reach.unsized_targets),
        )
        if line
    ]
    how = (
        "counted: whole functions by their symbols, each byte once, over direct calls and jumps, jump tables, and "
        "slots that the file fills itself; an upper bound of these, not of what indirect calls reach"
    )
    return Group(*parts, Text(how, style="dim"))


def _against_l1i(reach: Reach) -> str:
    size = f" ({numbers.byte_count(reach.bytes)})" if reach.bytes >= 1024 else ""
    count = len(reach.functions)
    lines = f"{reach.lines:,} lines of {reach.line_bytes} B"
    found = f"{reach.bytes:,} bytes{size} in {count} function{'s' * (count != 1)}, {lines}"
    if reach.l1i_bytes is None or reach.ratio is None:
        return f"{found}; the size of the L1i isn't known here"
    fits = "fits" if reach.ratio <= 1 else "doesn't fit"
    return f"{found}: {reach.ratio:.2f} of the {numbers.byte_count(reach.l1i_bytes)} L1i, {fits}"


def _named(what: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{what}: {shown}{more}"
