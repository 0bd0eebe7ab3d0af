"""The main job's figure: what finding a handler costs as their number grows, and how many probes it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nanokata.budget import BUDGET_NS, has_budget
from nanokata.results.records import CellResult

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from nanokata.results import RunResult

_WIDTH_INCHES = 10.0  # what a notebook shows without shrinking
_STRONG = ("scan", "table_compact")
_BESIDE_ANOTHER = "table_direct16"
"""An arm that costs almost what `table_compact` does: dashed, so that both are seen."""


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that someone published, from a machine that isn't this one."""

    arm: str
    handlers: int
    ns_per_packet: float


PUBLISHED_MACHINE = "published kata, i9-13980HX"
PUBLISHED = (
    Published("scan", 50, 119.2),
    Published("scan", 100, 142.8),
    Published("table_compact", 10, 36.2),
    Published("table_compact", 100, 67.8),
)
"""The C++ dispatch kata's own figures (fat bodies, uniform traffic)."""


def _bodies(result: RunResult) -> dict[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = {}
    for report in result.report.reports():
        if report.experiment == result.experiment:
            for cell in report.cells:
                found.setdefault(str(cell.parameters.get("body", "")), []).append(cell)
    return found


def _arms(cells: Sequence[CellResult]) -> list[str]:
    return list(dict.fromkeys(arm.arm for cell in cells for arm in cell.arms if arm.role != "control"))


def _published(cells: Sequence[CellResult]) -> tuple[Published, ...]:
    """Return what was published for races like these: fat bodies, uniform traffic; nothing for others."""
    same = all(cell.parameters.get("traffic") == "uniform" and cell.parameters.get("body") == "fat" for cell in cells)
    arms = _arms(cells)
    return tuple(item for item in PUBLISHED if item.arm in arms) if same else ()


def _draw_published(ax: Axes, shown: Sequence[Published], looks: dict[str, style.Look]) -> None:
    hollow: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "markeredgewidth": 1.4, "linestyle": "none"}
    for item in shown:
        colour = looks[item.arm].colour
        ax.plot(item.handlers, item.ns_per_packet, markersize=10, markeredgecolor=colour, zorder=5, **hollow)
    if shown:
        ax.plot([], [], markersize=10, markeredgecolor=style.GREY, label=PUBLISHED_MACHINE, **hollow)


def _cost_panel(ax: Axes, cells: Sequence[CellResult], looks: dict[str, style.Look]) -> None:
    for arm in _arms(cells):
        curves.draw_arm(
            ax,
            curves.points(cells, "handlers", arm),
            looks[arm],
            strong=arm in _STRONG,
            dashed=arm == _BESIDE_ANOTHER,
        )
    style.tidy(ax)
    ax.set_xlim(0, None)


def _budget_line(ax: Axes, *, label: bool) -> None:
    ax.axhline(BUDGET_NS, color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    if label:
        ax.annotate(
            f"budget, {BUDGET_NS:.0f} ns",
            (0.02, BUDGET_NS),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            fontsize=8.5,
            color=style.GREY,
        )


def _percent_of_budget(ns: ArrayLike) -> NDArray[np.float64]:
    return 100 * np.asarray(ns, dtype=np.float64) / BUDGET_NS


def _ns_of_percent(percent: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(percent, dtype=np.float64) * BUDGET_NS / 100


def _budget_axis(ax: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    right = ax.secondary_yaxis("right", functions=(_percent_of_budget, _ns_of_percent))
    right.set_ylabel("share of the budget", fontsize=9, color=style.GREY)
    right.yaxis.set_major_formatter(PercentFormatter(decimals=0))
    right.tick_params(labelsize=9, colors=style.GREY)
    right.spines["right"].set_color(style.FAINT)


def _probe_panel(ax: Axes, cells: Sequence[CellResult], looks: dict[str, style.Look]) -> None:
    for arm in _arms(cells):
        # A count is exact, whatever the clock said: void or not, it stands.
        found = [
            (point.at, point.arm.probes.mean) for point in curves.points(cells, "handlers", arm) if point.arm.probes
        ]
        if found:
            ax.plot(
                *zip(*found, strict=True),
                color=looks[arm].colour,
                marker=looks[arm].mark,
                markersize=4,
                linewidth=2.4 if arm in _STRONG else 1.2,
                linestyle=(0, (3, 2)) if arm == _BESIDE_ANOTHER else "-",
                zorder=3 if arm in _STRONG else 4,
            )
    style.tidy(ax)
    ax.set_ylim(0, None)
    ax.set_xlim(0, None)
    ax.set_xlabel("handlers", fontsize=9)


def published(result: RunResult) -> tuple[str, ...]:
    """Return in words the published figures that are drawn beside this run's."""
    drawn = (item for cells in _bodies(result).values() for item in _published(cells))
    return tuple(
        f"{item.arm} at {item.handlers} handlers, {item.ns_per_packet:g} ns/packet ({PUBLISHED_MACHINE})"
        for item in drawn
    )


def suits(result: RunResult) -> bool:
    """Whether the number of handlers is what varies."""
    return result.report.along() == "handlers"


def scaling(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw cost over the number of handlers, an arm a line, with intervals and the share of the budget.

    Without `ax`: a column a body (fat, tiny), probes a packet below, the published laptop's figures as hollow marks.
    With `ax`: the costs of the first body alone.
    """
    bodies = _bodies(result)
    first = next(iter(bodies.values()))
    looks = style.looks(_arms([cell for cells in bodies.values() for cell in cells]))
    unit = first[0].unit
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _cost_panel(ax, first, looks)
        ax.set_ylim(0, None)
        ax.set_xlabel("handlers", fontsize=9)
        ax.set_ylabel(unit, fontsize=9)
        style.legend(ax, [style.void_reason(cell) for cell in first], loc="upper left")
        _label(ax, first, looks)
        return figure

    figure = style.new_figure(_WIDTH_INCHES, 6.4)
    grid = figure.subplots(2, len(bodies), sharex=True, sharey="row", squeeze=False, height_ratios=(3, 1.25))
    for column, (body, cells) in enumerate(bodies.items()):
        top, bottom = grid[0][column], grid[1][column]
        _cost_panel(top, cells, looks)
        style.title(top, f"{body} bodies" if body else "")
        _draw_published(top, _published(cells), looks)
        style.legend(top, [style.void_reason(cell) for cell in cells], loc="upper left")
        _probe_panel(bottom, cells, looks)
    ceiling = 1.06 * _highest(bodies)
    grid[0][0].set_ylim(0, ceiling)
    if has_budget(unit) and ceiling > BUDGET_NS:
        for column, top in enumerate(grid[0]):
            _budget_line(top, label=column == len(bodies) - 1)
    grid[0][0].set_ylabel(unit, fontsize=9)
    grid[1][0].set_ylabel("probes/packet", fontsize=9)
    if has_budget(unit):
        _budget_axis(grid[0][0])
    # A single panel has the budget's axis between its lines' ends and their names.
    _label(grid[0][-1], next(reversed(bodies.values())), looks, at=1.045 if len(bodies) > 1 else 1.16)
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=12, color=style.INK)
    style.note(figure, result.machine.name, first)
    return figure


def _highest(bodies: Mapping[str, Sequence[CellResult]]) -> float:
    """Return the highest figure that is drawn: an interval's end, a median without one, or what was published."""
    cells = [cell for group in bodies.values() for cell in group]
    measured = [arm.median if arm.high is None else arm.high for cell in cells for arm in cell.arms]
    return max(measured + [item.ns_per_packet for group in bodies.values() for item in _published(group)])


def _label(ax: Axes, cells: Sequence[CellResult], looks: dict[str, style.Look], *, at: float = 1.045) -> None:
    ends = []
    for arm in _arms(cells):
        last = curves.points(cells, "handlers", arm)[-1]
        ends.append((arm, last.at, last.arm.median))
    ax.figure.canvas.draw()
    curves.label_ends(ax, ends, looks, strong=_STRONG, at=at)
