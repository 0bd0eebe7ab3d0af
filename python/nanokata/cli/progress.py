"""Progress on stderr: a bar with the time left on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from nanokata.instrument import Progress

_LINE_EVERY_SECONDS = 10.0


def seconds_left(fraction: float, spent: float, expected: float) -> float:
    """Return the seconds left: what is left of those expected at first, and what the pace so far says later on."""
    at_first = max(expected - spent, 0.0)
    if fraction <= 0:
        return at_first
    return (1 - fraction) * at_first + fraction * (spent * (1 - fraction) / fraction)


def _left(fraction: float, spent: float, expected: float) -> str:
    return f"about {seconds_left(fraction, spent, expected):.0f} s left"


@dataclass(frozen=True, slots=True)
class Whole:
    """What a block's progress is a part of: when that began, what is before the block, how much of it the block is.

    `begun` is a reading of ``time.monotonic``, `before` and `share` are fractions.
    """

    begun: float
    before: float
    share: float


@contextmanager
def shown(what: str, expected: float, *, whole: Whole | None = None) -> Iterator[Progress]:
    """Give a callback that shows progress until the block is left; `expected` is how many seconds it may take.

    With `whole`, progress and the time left are of that, and so is `expected`.
    """
    console = Console(stderr=True)
    whole = whole or Whole(time.monotonic(), 0.0, 1.0)

    def left(fraction: float) -> str:
        return _left(fraction, time.monotonic() - whole.begun, expected)

    if console.is_terminal:
        with _bar(console, what, left) as bar:
            yield _within(whole, bar)
    else:
        yield _within(whole, _lines(console, left))


def _within(whole: Whole, update: Progress) -> Progress:
    return lambda doing, fraction: update(doing, whole.before + whole.share * fraction)


@contextmanager
def _bar(console: Console, what: str, left: Callable[[float], str]) -> Iterator[Progress]:
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Left(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(left(task.completed))

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), Left())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=1.0)

        def update(doing: str, fraction: float) -> None:
            bar.update(task, description=doing or what, completed=fraction)

        yield update


def _lines(console: Console, left: Callable[[float], str]) -> Progress:
    last = time.monotonic()

    def update(doing: str, fraction: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY_SECONDS:
            last = now
            line = f"{doing}: {100 * fraction:.0f} %, {left(fraction)}"
            console.print(line, soft_wrap=True, highlight=False, markup=False, emoji=False)

    return update
