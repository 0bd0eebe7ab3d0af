"""Curves over a parameter, with intervals and labels at the line ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nanokata.results.records import ArmResult, CellResult

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Point(NamedTuple):
    """An arm's result at a value of the parameter, and why it is void if it is."""

    at: float
    arm: ArmResult
    void: str | None


def points(cells: Sequence[CellResult], parameter: str, arm: str) -> list[Point]:
    """Return an arm's results in order of the parameter, from the cells that have it."""
    found = [
        Point(float(cell.parameters[parameter]), cell[arm], style.void_reason(cell)) for cell in cells if arm in cell
    ]
    return sorted(found, key=lambda point: point.at)


def draw_arm(
    ax: Axes,
    found: Sequence[Point],
    look: style.Look,
    *,
    strong: bool,
    dashed: bool = False,
) -> None:
    """Draw an arm's medians with their intervals, none where there were too few blocks; void points are hollow."""
    medians = [point.arm.median for point in found]
    below = [math.nan if point.arm.low is None else max(point.arm.median - point.arm.low, 0.0) for point in found]
    above = [math.nan if point.arm.high is None else max(point.arm.high - point.arm.median, 0.0) for point in found]
    # A thin line over a thick one: where they coincide both are seen.
    order = (3 if strong else 4) + (0.5 if dashed else 0)
    ax.errorbar(
        [point.at for point in found],
        medians,
        yerr=[below, above],
        color=look.colour,
        marker=look.mark,
        markersize=6.5 if strong else 4.5,
        linewidth=2.8 if strong else 1.3,
        linestyle=(0, (3, 2)) if dashed else "-",
        capsize=2.5,
        elinewidth=1.2,
        zorder=order,
    )
    hollow(ax, [(point.at, point.arm.median) for point in found if point.void is not None], look, order=order)


def hollow(ax: Axes, found: Sequence[tuple[float, float]], look: style.Look, *, order: float) -> None:
    """Draw points over a line as hollow marks."""
    if found:
        ax.plot(
            *zip(*found, strict=True),
            linestyle="none",
            marker=look.mark,
            markersize=6,
            markerfacecolor="white",
            markeredgecolor=look.colour,
            zorder=order + 2,
        )


def label_ends(
    ax: Axes,
    ends: Sequence[tuple[str, float, float]],
    looks: dict[str, style.Look],
    *,
    strong: Sequence[str],
    at: float = 1.045,
    line_height: float = 0.055,
) -> None:
    """Write each arm's name beside the end of its line; names are moved apart, with a leader where they moved.

    `ends` are (name, x, y); `at` is where the names stand and `line_height` how high one is, both as
    shares of the axes.
    """
    to_axes = ax.transAxes.inverted()
    heights = [to_axes.transform(ax.transData.transform((x, y)))[1] for _, x, y in ends]
    for (name, x, y), height in zip(ends, style.spread(heights, line_height, within=(0.0, 1.0)), strict=True):
        ax.annotate(
            style.literal(name),
            xy=(x, y),
            xytext=(at, height),
            textcoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=looks[name].colour,
            fontweight="bold" if name in strong else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": looks[name].colour,
                "lw": 0.6,
                "alpha": 0.6,
                "shrinkB": 4,
            },
            annotation_clip=False,
        )
