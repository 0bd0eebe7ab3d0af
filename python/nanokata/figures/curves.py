"""Curves over a parameter, with intervals and labels at the line ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.results.records import ArmResult, CellResult

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def points(cells: Sequence[CellResult], parameter: str, arm: str) -> list[tuple[float, ArmResult]]:
    """Return an arm's results in order of the parameter, from the cells that have it."""
    found = [(float(cell.parameters[parameter]), cell[arm]) for cell in cells if arm in cell]
    return sorted(found, key=lambda point: point[0])


def draw_arm(
    ax: Axes,
    found: Sequence[tuple[float, ArmResult]],
    look: style.Look,
    *,
    strong: bool,
    dashed: bool = False,
) -> None:
    """Draw an arm's medians with their intervals."""
    x = [value for value, _ in found]
    medians = [arm.median for _, arm in found]
    below = [max(arm.median - arm.low, 0.0) for _, arm in found]
    above = [max(arm.high - arm.median, 0.0) for _, arm in found]
    ax.errorbar(
        x,
        medians,
        yerr=[below, above],
        color=look.colour,
        marker=look.mark,
        markersize=5.5 if strong else 4.5,
        linewidth=2.2 if strong else 1.3,
        linestyle="--" if dashed else "-",
        capsize=2.5,
        elinewidth=1.2,
        zorder=4 if strong else 3,
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
    for (name, x, y), height in zip(ends, style.spread(heights, line_height), strict=True):
        ax.annotate(
            name,
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
