"""Operations that were timed one by one: percentiles an arm, and what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from nanokata.results.records import CellResult, Percentiles, Tail

from . import numbers, tables

_HEADS = ("p50", "p90", "p99", "p99.9", "max", "least p99", "least max")
FLOOR = "timer alone"
"""The row of what the timer and an empty call cost."""


def tails(placed: Sequence[tuple[str, CellResult]]) -> Iterator[RenderableType]:
    """Yield a table for each stretch of each race whose operations were timed one by one; `placed` has the settings."""
    timed = [(setting, cell) for setting, cell in placed if any(arm.tail for arm in cell.arms)]
    for setting, cell in timed:
        yield from _of_cell(setting, cell)
    if timed:
        found = [arm.tail for _, cell in timed for arm in cell.arms if arm.tail]
        yield Text(said(found), style="dim")
        yield Text()


def _of_cell(setting: str, cell: CellResult) -> Iterator[RenderableType]:
    arms = [(arm.arm, arm.tail) for arm in cell.arms if arm.tail]
    for number, stretch in enumerate(arms[0][1].stretches()):
        table = tables.blank()
        table.add_column("arm", no_wrap=True)
        for head in _HEADS:
            table.add_column(head.replace(" ", "\n"), justify="right", no_wrap=True)
        for arm, tail in arms:
            own = tail.stretches()[number]
            every, least = own.all, own.least
            costs = (every.p50, every.p90, every.p99, every.p999, every.max, least.p99, least.max)
            table.add_row(arm, *(numbers.cost(value) for value in costs))
        table.add_row(FLOOR, *_floor(arms[0][1].floor), style="dim")
        where = f", {stretch.name}" if arms[0][1].parts else ""
        yield tables.titled(f"One by one, {setting}{where}: {cell.unit}", table)
        yield Text()


def _floor(floor: Percentiles) -> list[str]:
    values = (floor.p50, floor.p90, floor.p99, floor.p999, floor.max)
    return ["" if value is None else numbers.cost(value) for value in values]


def said(tails: Sequence[Tail]) -> str:
    """Return what such figures are, and what they hold."""
    ticks = max(tail.tick_ns for tail in tails)
    times = min(tail.placements * tail.replays for tail in tails)
    turns = sum(tail.disturbed.turns for tail in tails)
    return (
        f"each operation by itself between fences: latency in isolation, the timer alone in every figure, tick "
        f"{numbers.cost(ticks)} ns\np99.9 and max hold whatever interrupted the machine ({turns} turns disturbed, none "
        f"left out); least: each operation's least of {times} times, all but free of that"
    )
