"""The tables of a run: a race in full, races side by side, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nanokata.budget import has_budget, share
from nanokata.results.records import ArmResult, CellResult, Contrast

from . import numbers

STYLES = {"faster": "green", "slower": "red", "same": "", "not resolved": "yellow"}


class _WordsAsTheyAre(Table):
    """A table that shows its words as they are: no markup, no emoji codes, whatever a file or an arm is called."""

    def add_column(self, header: RenderableType = "", *args: Any, **options: Any) -> None:  # noqa: ANN401 (rich's own)
        super().add_column(_as_it_is(header), *args, **options)

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:  # noqa: ANN401 (rich's own)
        super().add_row(*(None if cell is None else _as_it_is(cell) for cell in cells), **options)


def _as_it_is(cell: RenderableType) -> RenderableType:
    return Text(cell) if isinstance(cell, str) else cell


def blank() -> Table:
    """Return an empty table in the house style."""
    return _WordsAsTheyAre(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        collapse_padding=True,
    )


def titled(title: str, table: Table) -> RenderableType:
    """Return `table` below its title, which may be wider than the table."""
    return Group(Text(title, style="bold"), table) if title else table


def verdict(arm: ArmResult, baseline: str) -> Text:
    """Return the arm's verdict in words, short where the column's heading names what it is against."""
    if arm.role == "baseline":
        return Text("baseline", style="dim")
    words = arm.words
    for joint in ("than", "as", "against"):
        words = words.removesuffix(f" {joint} {baseline}")
    if arm.role == "control":
        words = f"{arm.verdict} (control)"
    return Text(words, style=STYLES.get(arm.verdict or "", ""))


def race_table(cell: CellResult, title: str) -> RenderableType:
    """Return a race in full: an arm a row."""
    budget = has_budget(cell.unit)
    probing = any(arm.probes for arm in cell.arms)
    per = cell.unit.partition("/")[0]
    table = blank()
    table.add_column("arm", no_wrap=True)
    if probing:
        table.add_column("probes", justify="right", no_wrap=True)
    table.add_column(per, justify="right", no_wrap=True)
    table.add_column(numbers.level(cell.median_level), no_wrap=True)
    table.add_column("cycles", justify="right", no_wrap=True)
    if budget:
        table.add_column("budget", justify="right", no_wrap=True)
    table.add_column(f"against {cell.baseline.arm}")
    for arm in cell.arms:
        row = [arm.arm]
        if probing:
            row.append(f"{arm.probes.mean:.2f}" if arm.probes else "")
        row += [numbers.cost(arm.median), numbers.span(arm.low, arm.high), numbers.cost(arm.cycles)]
        if budget:
            row.append(numbers.percent(share(arm.median)))
        table.add_row(*row, verdict(arm, cell.baseline.arm))
    return titled(f"{title}: {cell.unit}" if title else cell.unit, table)


ENDED = {
    "precision": "precision reached",
    "time_bound": "time was up",
    "block_bound": "most blocks reached",
}


def how_measured(*cells: CellResult) -> str:
    """Return one line on how the races went, the worst of them where they differ."""
    blocks = sorted({cell.blocks for cell in cells})
    counted = str(blocks[0]) if len(blocks) == 1 else f"{blocks[0]}–{blocks[-1]}"
    levels = ", ".join(sorted({numbers.level(cell.level) for cell in cells}))
    ended = ", ".join(sorted({ENDED[cell.ended] for cell in cells}))
    spent = numbers.seconds(sum(cell.seconds for cell in cells))
    half = max(cell.half_width for cell in cells)
    line = f"{counted} blocks; ratios to ±{100 * half:.2f} % at {levels}; {ended}, {spent}"
    widest = max(cells, key=lambda cell: cell.resolvable_margin)
    if widest.resolvable_margin > widest.margin:
        line += f"\ncontrols bear out differences beyond ±{100 * widest.resolvable_margin:.2f} % only"
    return line


def counted(cell: CellResult) -> str | None:
    """Return one line with the events that were counted for each arm; ``None`` where none were."""
    arms = []
    for arm in cell.arms:
        events = [
            f"{numbers.cost(counter.per_operation)} {counter.name.replace('_', ' ')}"
            for counter in arm.counters
            if counter.per_operation is not None
        ]
        if events:
            arms.append(f"{arm.arm} {', '.join(events)}")
    return f"counted per {cell.unit.partition('/')[2]}: {'; '.join(arms)}" if arms else None


def side_by_side(cells: Sequence[CellResult], heads: Sequence[str], title: str) -> RenderableType:
    """Return several races of the same arms: an arm a row, a race a column; cost and half-width."""
    table = blank()
    table.add_column(cells[0].unit, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for arm in cells[0].arms:
        table.add_row(arm.arm, *(_with_half_width(cell[arm.arm]) for cell in cells))
    return titled(title, table)


def series_table(
    cells: Sequence[CellResult], varying: Sequence[str], settings: Sequence[Sequence[str]], title: str
) -> RenderableType:
    """Return many races of few arms: a race a row, an arm a column."""
    first = cells[0]
    table = blank()
    for name in varying:
        table.add_column(name, justify="right", no_wrap=True)
    for arm in first.arms:
        table.add_column(f"{arm.arm} {first.unit}", justify="right")
    others = [arm for arm in first.arms if arm.role != "baseline"]
    for arm in others:
        table.add_column(f"{arm.arm} against {arm.against}")
    for cell, values in zip(cells, settings, strict=True):
        costs = [_with_half_width(cell[arm.arm]) for arm in first.arms]
        table.add_row(*values, *costs, *(verdict(cell[arm.arm], arm.against) for arm in others))
    return titled(title, table)


def _with_half_width(arm: ArmResult) -> str:
    return numbers.with_half_width(arm.median, (arm.high - arm.low) / 2)


def contrast_table(contrasts: Sequence[Contrast]) -> RenderableType:
    """Return what follows from several races, each figure with its interval and its share of the budget."""
    budget = any(has_budget(contrast.unit) for contrast in contrasts)
    units = list(dict.fromkeys(contrast.unit for contrast in contrasts))
    levels = ", ".join(sorted({numbers.level(item.level) for item in contrasts}))
    table = blank()
    table.add_column("figure", ratio=1)
    table.add_column(units[0] if len(units) == 1 else "value", justify="right", no_wrap=True)
    table.add_column(f"{levels} interval", no_wrap=True)
    if len(units) > 1:
        table.add_column("unit", no_wrap=True)
    if budget:
        table.add_column("budget", justify="right", no_wrap=True)
    for item in contrasts:
        row = [item.what, numbers.cost(item.value), numbers.interval(item.low, item.high)]
        if len(units) > 1:
            row.append(item.unit)
        if budget:
            row.append(numbers.percent(share(item.value)) if has_budget(item.unit) else "")
        table.add_row(*row)
    return titled("What follows", table)
