"""Ways of dispatching in C++ relative to the same in Rust, with what layout alone can do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult
    from nanokata.results.records import CellResult


def suits(result: RunResult) -> bool:
    """Whether nothing but the twin varies."""
    return result.report.varying() in {(), ("twin",)}


def twins(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw a row for each twin: its time relative to Rust's, with interval, and both costs beside it."""
    cells = result.report.cells
    figure, ax = style.axes_or_new(ax, 8.6, 1.6 + 0.5 * len(cells))
    for row, cell in enumerate(cells):
        _row(ax, row, cell)
    margin = cells[0].margin
    ax.axvspan(1 - margin, 1 + margin, color=style.FAINT, linewidth=0, zorder=1)
    ax.axvline(1, color=style.GREY, linewidth=1, zorder=2)
    style.tidy(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_yticks(range(len(cells)))
    ax.set_yticklabels([style.literal(str(cell.parameters["twin"])) for cell in cells])
    ax.set_ylim(len(cells) - 0.4, -0.6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    wide = max((cell["cpp"].margin or margin for cell in cells), default=margin)
    ax.set_xlabel(
        style.literal(
            f"time in C++ relative to Rust; {100 * cells[0].level:.4g} % intervals; "
            f"light band, ±{100 * wide:.1f} %: what code layout alone can do"
        ),
        fontsize=8.5,
        color=style.GREY,
    )
    style.title(ax, result.title)
    style.legend(ax, [style.void_reason(cell) for cell in cells], above=True)
    return figure


def _row(ax: Axes, row: int, cell: CellResult) -> None:
    cpp, rust = cell["cpp"], cell["rust"]
    margin = cpp.margin or cell.margin
    band = ([row - 0.4, row + 0.4], 1 - margin, 1 + margin)
    ax.fill_betweenx(*band, color=style.FAINT, alpha=0.5, linewidth=0, zorder=0)
    known = cpp.ratio is not None and cpp.ratio_low is not None and cpp.ratio_high is not None
    colour = style.VERDICT_COLOURS.get(cpp.verdict or "", style.INK) if known and not cell.void else style.GREY
    ratio = math.nan if cpp.ratio is None else cpp.ratio
    ends = (ratio if cpp.ratio_low is None else cpp.ratio_low, ratio if cpp.ratio_high is None else cpp.ratio_high)
    ax.errorbar(
        ratio,
        row,
        xerr=[[max(ratio - ends[0], 0.0)], [max(ends[1] - ratio, 0.0)]],
        color=colour,
        capsize=3.5,
        marker="o",
        markersize=6,
        elinewidth=1.8,
        markerfacecolor=colour if known and not cell.void and cpp.verdict != "not resolved" else "white",
        zorder=3,
    )
    ax.annotate(
        style.literal(f"{cpp.median:.3g} in C++, {rust.median:.3g} in Rust ({cell.unit})"),
        xy=(1.015, row),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=9,
        color=colour,
        annotation_clip=False,
    )
