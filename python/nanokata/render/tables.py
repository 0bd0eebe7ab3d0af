"""The tables of a run: a race in full, races side by side, and what follows from them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nanokata.budget import has_budget, share
from nanokata.results.records import ArmResult, CellResult, Contrast

from . import numbers

_WITHIN = re.compile(r" \(within [^)]*\)$")
_WIDEST_LINE_OF_A_HEAD = 12

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


def verdict(cell: CellResult, arm: ArmResult, baseline: str, *, mark_control: bool = True) -> Text:
    """Return the arm's verdict in words, short where the column's heading names what it is against."""
    if arm.role == "baseline":
        return Text("baseline", style="dim")
    control = " (control)" if arm.role == "control" and mark_control else ""
    if not cell.void and (arm.ratio_low is None or arm.ratio_high is None):
        return Text(f"{numbers.TOO_FEW}{control}", style="yellow")
    if arm.arm in cell.inconclusive_controls:
        return Text(f"inconclusive{control}", style="yellow")
    if cell.void and arm.role == "arm":
        return Text("void", style="dim")
    if arm.role == "control":
        return Text(f"{arm.verdict}{control}", style=STYLES.get(arm.verdict or "", ""))
    # How wide "same" is stands below the table, once.
    words = arm.words if arm.judged_wider(cell) else _WITHIN.sub("", arm.words)
    for joint in ("than", "as", "against"):
        words = words.removesuffix(f" {joint} {baseline}").replace(f" {joint} {baseline} (within", " (within")
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
        # The verdicts' column and the line below say why, so that rows stay a line.
        missing = len(cell.arms) > 1 and (arm.low is None or arm.high is None)
        row += [numbers.cost(arm.median), "–" if missing else numbers.span(arm.low, arm.high), numbers.cost(arm.cycles)]
        if budget:
            row.append("" if cell.void else numbers.percent(share(arm.median)))
        table.add_row(*row, verdict(cell, arm, cell.baseline.arm), style="dim" if cell.void else "")
    return titled(f"{title}: {cell.unit}" if title else cell.unit, table)


ENDED = {
    "precision": "precision reached",
    "time_bound": "time was up",
    "block_bound": "most blocks reached",
}
_ENDED_EACH = {
    "precision": "{some} of {all} reached the precision",
    "time_bound": "time was up for {some}",
    "block_bound": "most blocks reached by {some}",
}


def _how_ended(cells: Sequence[CellResult]) -> str:
    counts = Counter[str](cell.ended for cell in cells)
    if len(counts) == 1:
        return ENDED[cells[0].ended]
    said = (
        words.format(some=counts[end], all=len(cells))
        for end, words in _ENDED_EACH.items()
        if end in counts or end == "precision"
    )
    return ", ".join(said)


def _precision(cells: Sequence[CellResult]) -> str | None:
    compared = [cell for cell in cells if any(arm.role != "baseline" for arm in cell.arms)]
    if not compared:
        return None
    levels = ", ".join(sorted({numbers.level(cell.level) for cell in compared}))
    halves = [cell.half_width for cell in compared if cell.half_width is not None]
    if len(halves) < len(compared):
        where = "" if not halves else f" in {len(compared) - len(halves)} of {len(compared)}"
        return f"{numbers.TOO_FEW} for an interval of the ratios{where}"
    return f"ratios to ±{100 * max(halves):.2f} % at {levels}"


def how_measured(*cells: CellResult) -> str:
    """Return one line on how the races went, the worst of them where they differ."""
    blocks = sorted({cell.blocks for cell in cells})
    counted = str(blocks[0]) if len(blocks) == 1 else f"{blocks[0]}–{blocks[-1]}"
    spent = numbers.seconds(sum(cell.seconds for cell in cells))
    parts = (f"{counted} blocks", _precision(cells), f"{_how_ended(cells)}, {spent}")
    line = "; ".join(part for part in parts if part)
    same = [(cell, arm) for cell in cells for arm in cell.arms if arm.verdict == "same" and arm.role == "arm"]
    if any(not cell.void and not arm.judged_wider(cell) for cell, arm in same):
        margins = ", ".join(sorted({f"±{100 * cell.margin:g} %" for cell in cells}))
        line += f"\nsame: within {margins}"
    borne_out = [cell.bears_out for cell in cells if cell.bears_out is not None and not cell.void]
    if borne_out and max(borne_out) == math.inf:
        line += f"\ncontrols bear out no difference: {numbers.TOO_FEW}"
    elif borne_out:
        line += f"\ncontrols bear out differences beyond ±{100 * max(borne_out):.2f} % only"
    return line


_COLD_BEYOND = 1.1
"""Where an arm's first rep after a build took this many times its median, the footer says so."""


def cold(*cells: CellResult) -> str | None:
    """Return one line on what a cold run would have shown: the arms whose first rep took longer; ``None`` if none did.

    Of several races, the one where it was most.
    """
    most: dict[str, float] = {}
    for cell in cells:
        for arm in cell.arms:
            if arm.role != "control":
                most[arm.arm] = max(most.get(arm.arm, 0.0), arm.cold_ratio)
    slower = [f"{name} {numbers.times(ratio)}" for name, ratio in most.items() if ratio > _COLD_BEYOND]
    return f"first rep after a build, against the median: {', '.join(slower)}" if slower else None


_SOFTWARE_EVENTS = frozenset({"context_switches", "page_faults", "cpu_migrations", "task_clock"})


def counted(cell: CellResult) -> str | None:
    """Return one line with the events that were counted for each arm; ``None`` where none were.

    Software events (switches, faults) are seen around every rep, and have their place in the checks: they are shown
    where nothing else was asked for.
    """
    arms = []
    for arm in cell.arms:
        software_only = all(counter.name in _SOFTWARE_EVENTS for counter in arm.counters)
        events = [
            f"{numbers.cost(counter.per_operation)} {counter.name.replace('_', ' ')}"
            for counter in arm.counters
            if counter.per_operation is not None and (software_only or counter.name not in _SOFTWARE_EVENTS)
        ]
        if events:
            arms.append(f"{arm.arm} {', '.join(events)}")
    return f"counted per {cell.unit.partition('/')[2]}: {'; '.join(arms)}" if arms else None


def not_counted(cells: Sequence[CellResult]) -> str | None:
    """Return one line with the counters that were asked for and can't be had here, by reason; ``None`` without any."""
    reasons: dict[str, dict[str, None]] = {}
    for counter in (counter for cell in cells for arm in cell.arms for counter in arm.counters):
        if counter.per_operation is None and counter.note:
            reasons.setdefault(counter.note, {})[counter.name] = None
    if not reasons:
        return None
    return "not counted: " + "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


def side_by_side(cells: Sequence[CellResult], heads: Sequence[str], title: str) -> RenderableType:
    """Return several races of the same arms: an arm a row, a race a column; cost and half-width."""
    table = blank()
    table.add_column(cells[0].unit, no_wrap=True)
    for head, cell in zip(heads, cells, strict=True):
        table.add_column(
            f"{head}\nvoid" if cell.void else head, justify="right", no_wrap=True, style="dim" if cell.void else ""
        )
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
        table.add_column(_broken(name), justify="right", no_wrap=True)
    for arm in first.arms:
        table.add_column(_broken(arm.arm), justify="right", no_wrap=True)
    others = [arm for arm in first.arms if arm.role != "baseline"]
    for arm in others:
        control = "\n(control)" if arm.role == "control" else ""
        table.add_column(f"{_broken(arm.arm)}{control}\nagainst\n{_broken(arm.against)}")
    for cell, values in zip(cells, settings, strict=True):
        costs = [_with_half_width(cell[arm.arm]) for arm in first.arms]
        verdicts = [verdict(cell, cell[arm.arm], arm.against, mark_control=False) for arm in others]
        table.add_row(*values, *costs, *verdicts, style="dim" if cell.void else "")
    return titled(f"{title}: {first.unit}" if title else first.unit, table)


def _broken(name: str) -> str:
    """Return a name in lines that fit a narrow column, broken at its underscores and spaces."""
    lines = [""]
    for part in re.findall(r"[^_ ]*[_ ]?", name):
        if lines[-1] and len(lines[-1]) + len(part) > _WIDEST_LINE_OF_A_HEAD:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _with_half_width(arm: ArmResult) -> str:
    half = None if arm.low is None or arm.high is None else (arm.high - arm.low) / 2
    return numbers.with_half_width(arm.median, half)


def voided(cells: Sequence[CellResult], settings: Sequence[str]) -> list[str]:
    """Return a line a reason why races are void, with the races' settings where there are several."""
    by_reason: dict[str, list[str]] = {}
    for cell, setting in zip(cells, settings, strict=True):
        if cell.void:
            by_reason.setdefault(cell.reason or "the verdicts don’t stand", []).append(setting)
    if len(cells) == 1:
        return [f"no verdict: {reason}" for reason in by_reason]
    return [f"void ({'; '.join(where)}): {reason}" for reason, where in by_reason.items()]


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
        value = "" if item.value is None else numbers.cost(item.value)
        row = [item.what, value, "void" if item.void else numbers.interval(item.low, item.high)]
        if len(units) > 1:
            row.append(item.unit)
        if budget:
            shared = item.value is not None and has_budget(item.unit) and not item.void
            row.append(numbers.percent(share(item.value)) if shared and item.value is not None else "")
        table.add_row(*row, style="dim" if item.void else "")
    return titled("What follows", table)
