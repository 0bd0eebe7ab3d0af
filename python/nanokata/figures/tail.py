"""Operations timed one by one: the share that takes longer, an arm a line, and the course over the stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.budget import BUDGET_NS, has_budget
from nanokata.errors import InvalidArgument
from nanokata.results.records import ArmResult, CellResult, Distribution, Interval, Stretch, Tail

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_WIDTH_INCHES = 10.0
_STRONG = ("scan_ordered", "table_compact")
_SHARES = (("p99", 1e-2), ("p999", 1e-3))
"""Percentiles that are marked, and which share of operations takes longer."""
_RARELY = 3e-6
"""The least share that is drawn where there are that many times."""
_TITLES = {"before": "before: the mix that the list was sorted for", "after": "after the shift"}
_SHIFTS = {"none": "after: the same packets again", "adversary": "after: an adversary's packets"}


def suits(result: RunResult) -> bool:
    """Whether operations of some race were timed one by one."""
    return bool(_timed(result))


def _timed(result: RunResult) -> list[CellResult]:
    return [cell for cell in result.report.cells if any(arm.tail for arm in cell.arms)]


def _arms(cell: CellResult) -> list[tuple[ArmResult, Tail]]:
    """Return the arms that are drawn: a control looks like what it is held against."""
    return [(arm, arm.tail) for arm in cell.arms if arm.tail is not None and arm.role != "control"]


def _shown(cells: Sequence[CellResult]) -> CellResult:
    """Return the race in which something happens, where there is one: the others are its controls."""
    return next((cell for cell in cells if cell.parameters.get("shift") == "adversary"), cells[0])


def exceeding(distribution: Distribution) -> tuple[list[float], list[float]]:
    """Return times and, at each, the share of operations that take longer or as long: a falling staircase's corners."""
    left = distribution.count
    times, shares = [], []
    for time, count in distribution.histogram:
        times.append(time)
        shares.append(left / distribution.count)
        left -= int(count)
    return times, shares


def tail(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw how many operations take longer than a time, an arm a line, with the timer's floor and the budget.

    Without `ax`: a panel for each part of the stream, and below it the course of each operation's least time over the
    stream. With `ax`: the last part alone.

    Raises
    ------
    InvalidArgument
        If no operation of the result was timed by itself.
    """
    cells = _timed(result)
    if not cells:
        wanted = "a result whose operations were timed one by one, as of dispatch.tail or race(…, tails=True)"
        raise InvalidArgument(
            f"result = {result.experiment}: wanted {wanted}", name="result", value=result.experiment, wanted=wanted
        )
    cell = _shown(cells)
    looks = style.looks([arm.arm for arm in cell.arms])
    _, first = _arms(cell)[0]
    parts = len(first.stretches())
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _shares(ax, cell, parts - 1, looks)
        ax.set_ylabel("share of operations that take as long or longer", fontsize=9)
        _legend(ax, cell, looks)
        return figure
    figure = style.new_figure(_WIDTH_INCHES, 7.6)
    grid = figure.add_gridspec(2, parts, height_ratios=(1.55, 1))
    panels: list[Axes] = []
    for part in range(parts):
        panel = figure.add_subplot(
            grid[0, part], sharex=panels[0] if panels else None, sharey=panels[0] if panels else None
        )
        _shares(panel, cell, part, looks, label=part == parts - 1)
        panels.append(panel)
    panels[0].set_ylabel("share that takes as long or longer", fontsize=9)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    _legend(panels[-1], cell, looks)
    _course(figure.add_subplot(grid[1, :]), cell, looks)
    figure.suptitle(f"{result.experiment}: {result.title}", x=0.01, ha="left", fontsize=12, color=style.INK)
    _note(figure, result, cell, first)
    return figure


def _note(figure: Figure, result: RunResult, cell: CellResult, any_tail: Tail) -> None:
    level = f"{100 * cell.median_level:.4g} %"
    times = any_tail.placements * any_tail.replays
    text = (
        f"{result.machine.name}; each operation alone between fences: latency in isolation, timer included; upper "
        f"panels: all times, interruptions too;\nbars: {level} intervals of the median placement's p99 and p99.9; "
        f"lower panel: each operation's least of {times} times, mean (line) and greatest (dots) of neighbours"
    )
    figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color=style.GREY)


def _name(stretch: Stretch, cell: CellResult) -> str:
    if stretch.name == "whole":
        return "all operations"
    if stretch.name == "after":
        return _SHIFTS.get(str(cell.parameters.get("shift")), _TITLES["after"])
    return _TITLES.get(stretch.name, stretch.name)


def _shares(ax: Axes, cell: CellResult, part: int, looks: dict[str, style.Look], *, label: bool = True) -> None:
    """Draw one stretch's staircases."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    arms = _arms(cell)
    for arm, found in arms:
        _staircase(ax, found.stretches()[part], looks[arm.arm], strong=arm.arm in _STRONG, hollow=cell.void)
    ax.set_xscale("log")
    ax.set_yscale("log")
    counts = [found.stretches()[part].all.count for _, found in arms]
    ax.set_ylim(max(_RARELY, 0.7 / max(counts)), 1.4)
    for name, share in _SHARES:
        if share > ax.get_ylim()[0]:
            ax.axhline(share, color=style.FAINT, linewidth=1, zorder=0)
            ax.annotate(
                f"p{'99' if name == 'p99' else '99.9'}", (0.995, share), xycoords=("axes fraction", "data"),
                xytext=(0, 2), textcoords="offset points", ha="right", fontsize=8, color=style.GREY,
            )  # fmt: skip
    _marks(ax, arms[0][1].floor.p50, has_budget(cell.unit), label=label)
    style.tidy(ax, grid="")
    ax.xaxis.set_major_locator(LogLocator(base=10))
    ax.xaxis.set_minor_locator(LogLocator(base=10, subs=(2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(_nanoseconds))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: _percent(share)))
    ax.set_xlabel("time of one operation, timer included", fontsize=9)
    style.title(ax, _name(arms[0][1].stretches()[part], cell))


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %" if share <= 1 else ""


def _nanoseconds(value: float, _: object) -> str:
    for size, unit in ((1e6, "ms"), (1e3, "µs")):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} ns"


def _staircase(ax: Axes, stretch: Stretch, look: style.Look, *, strong: bool, hollow: bool) -> None:
    times, shares = exceeding(stretch.all)
    width = 2.4 if strong else 1.3
    # From full height at the first time; the last corner drops out of the picture.
    ax.step(
        [times[0], *times, times[-1]], [1.0, *shares, 0.1 * shares[-1]],
        where="pre", color=look.colour, linewidth=width, zorder=3 if strong else 2,
    )  # fmt: skip
    for name, share in _SHARES:
        interval: Interval | None = getattr(stretch.typical, name)
        if interval is None or interval.low is None or interval.high is None:
            continue
        below, above = max(interval.estimate - interval.low, 0.0), max(interval.high - interval.estimate, 0.0)
        ax.errorbar(
            [interval.estimate], [share], xerr=[[below], [above]], color=look.colour, marker=look.mark, markersize=5,
            markerfacecolor="white" if hollow else look.colour, capsize=2.5, elinewidth=1.4, linestyle="none", zorder=4,
        )  # fmt: skip


def _marks(ax: Axes, floor: float | None, budget: bool, *, label: bool) -> None:
    marked = [(floor, "timer alone", ":")] if floor is not None else []
    if budget:
        marked.append((BUDGET_NS, f"budget, {BUDGET_NS:.0f} ns", "--"))
    for at, text, line in marked:
        ax.axvline(at, color=style.GREY, linewidth=1, linestyle=line, zorder=1)
        if label:
            ax.annotate(
                text, (at, 0.02), xycoords=("data", "axes fraction"), xytext=(3, 0), textcoords="offset points",
                rotation=90, fontsize=8, color=style.GREY, va="bottom",
            )  # fmt: skip


def _legend(ax: Axes, cell: CellResult, looks: dict[str, style.Look]) -> None:
    for arm, _ in _arms(cell):
        look = looks[arm.arm]
        ax.plot(
            [], [], color=look.colour, marker=look.mark, markersize=5, linewidth=2.4 if arm.arm in _STRONG else 1.3,
            label=arm.arm,
        )  # fmt: skip
    style.legend(ax, [style.void_reason(cell)])


def _course(ax: Axes, cell: CellResult, looks: dict[str, style.Look]) -> None:
    """Draw the least times along the stream, and where its parts meet."""
    arms = _arms(cell)
    for arm, found in arms:
        look = looks[arm.arm]
        at = [point.first + point.count / 2 for point in found.course]
        strong = arm.arm in _STRONG
        ax.plot(at, [point.mean for point in found.course], color=look.colour, linewidth=2.2 if strong else 1.2)
        ax.plot(
            at, [point.max for point in found.course], color=look.colour, marker=".", markersize=3.5,
            linestyle="none", alpha=0.55,
        )  # fmt: skip
    _, first = arms[0]
    for part in first.parts[1:]:
        ax.axvline(part.first, color=style.INK, linewidth=1.1)
    if first.floor.p50 is not None:
        ax.axhline(first.floor.p50, color=style.GREY, linewidth=1, linestyle=":")
    top = max(point.max for _, found in arms for point in found.course)
    if has_budget(cell.unit):
        ax.axhline(BUDGET_NS, color=style.GREY, linewidth=1, linestyle="--")
        top = max(top, BUDGET_NS)
    ax.set_ylim(0, 1.08 * top)
    ax.set_xlim(0, first.whole.count)
    style.tidy(ax, grid="")
    ax.set_xlabel("operation, in the order of the stream", fontsize=9)
    ax.set_ylabel("least time (ns)", fontsize=9)
    style.title(ax, "along the stream: what the code costs, all but free of the machine's interruptions")
    ax.figure.canvas.draw()
    ends = [(arm.arm, first.whole.count, found.course[-1].mean) for arm, found in arms]
    curves.label_ends(ax, ends, looks, strong=_STRONG, at=1.02, line_height=0.09)
