"""Costs over the size of a batch, both logarithmic: what the figures of crossing and of boundaries have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nanokata.results.records import CellResult

_ARM = "batch_"
_WIDE = 20.0
"""An axis that spans more than this needs fewer numbers a decade."""
_FEW = (1.0, 2.0, 5.0)
_MANY = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)


def sizes(cell: CellResult, prefix: str = _ARM) -> list[curves.Point]:
    """Return the arms of a race that are batches, each at its size: ``batch_64`` at 64."""
    void = style.void_reason(cell)
    found = [
        curves.Point(float(arm.arm.removeprefix(prefix)), arm, void)
        for arm in cell.arms
        if arm.arm.startswith(prefix) and arm.arm.removeprefix(prefix).isdecimal()
    ]
    return sorted(found, key=lambda point: point.at)


def control(ax: Axes, cell: CellResult, at: float, look: style.Look) -> None:
    """Mark each control of a race with a cross at a size, in its line's colour: it has to lie on the line."""
    for arm in cell.arms:
        if arm.role == "control":
            ax.plot(at, arm.median, linestyle="none", marker="x", markersize=9, color=look.colour, zorder=7)


def control_legend(ax: Axes, reasons: Sequence[str | None]) -> None:
    """Say what the crosses are, and why points are void."""
    ax.plot([], [], linestyle="none", marker="x", markersize=8, color=style.GREY, label="control, built apart")
    style.legend(ax, reasons)


def finish(ax: Axes, points: Sequence[curves.Point], unit: str) -> None:
    """Scale and name the axes."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    style.tidy(ax)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_locator(FixedLocator(sorted({point.at for point in points})))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=_FEW if high / low > _WIDE else _MANY))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_xlabel("packets a crossing", fontsize=9)
    ax.set_ylabel(unit, fontsize=9)


def label(
    ax: Axes, ends: Sequence[tuple[str, float, float]], looks: Mapping[str, style.Look], *, strong: Sequence[str] = ()
) -> None:
    """Write each line's name beside its end, once the axes have their scale."""
    ax.figure.canvas.draw()
    curves.label_ends(ax, ends, dict(looks), strong=strong)
