"""Progress on stderr: a bar with the time left on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from nanokata.instrument import Progress

_LINE_EVERY_SECONDS = 10.0


def _left(fraction: float, since: float) -> str:
    if fraction <= 0.02:
        return ""
    left = (time.monotonic() - since) * (1 - fraction) / fraction
    return f", about {left:.0f} s left"


@contextmanager
def shown(what: str) -> Iterator[Progress]:
    """Give a callback that shows progress until the block is left."""
    console = Console(stderr=True)
    if console.is_terminal:
        with _bar(console, what) as bar:
            yield bar
    else:
        yield _lines(console)


@contextmanager
def _bar(console: Console, what: str) -> Iterator[Progress]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=1.0)

        def update(doing: str, fraction: float) -> None:
            bar.update(task, description=doing or what, completed=fraction)

        yield update


def _lines(console: Console) -> Progress:
    since = time.monotonic()
    last = since

    def update(doing: str, fraction: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY_SECONDS:
            last = now
            console.print(f"{doing}: {100 * fraction:.0f} %{_left(fraction, since)}", soft_wrap=True, highlight=False)

    return update
