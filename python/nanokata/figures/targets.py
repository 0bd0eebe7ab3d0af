"""Call targets alone: what an indirect call costs against how many targets it has and in which order they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.results.records import CellResult

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_LOOKS = {
    "random": style.Look(style.VERMILION, "o"),
    "periodic": style.Look(style.BLUE, "s"),
    "one": style.Look(style.GREEN, "D"),
}


def suits(result: RunResult) -> bool:
    """Whether the number of targets is what varies."""
    return result.report.along() == "targets" and result.report.varying() == ("targets",)


def panel(ax: Axes, cells: Sequence[CellResult]) -> None:
    """Draw the cost of each order over the number of targets."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ends = []
    for order, look in _LOOKS.items():
        found = curves.points(cells, "targets", order)
        curves.draw_arm(ax, found, look, strong=order == "random")
        ends.append((order, found[-1].at, found[-1].arm.median))
    style.tidy(ax)
    values = sorted({float(cell.parameters["targets"]) for cell in cells})
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_locator(FixedLocator(values))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_ylim(0, None)
    ax.set_xlabel("targets of the call", fontsize=9)
    ax.set_ylabel(cells[0].unit, fontsize=9)
    ax.figure.canvas.draw()
    curves.label_ends(ax, ends, _LOOKS, strong=["random"], line_height=0.08)


def targets(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw what one target, all in turn and random ones cost, with intervals, over the number of targets."""
    own = ax is None
    figure, ax = style.axes_or_new(ax, 8.6, 4.4)
    panel(ax, result.cells)
    style.title(ax, f"{result.experiment}: {result.title}")
    style.legend(ax, [style.void_reason(cell) for cell in result.cells], loc="upper left")
    if own:
        style.note(figure, result.machine.name, result.cells)
    return figure
