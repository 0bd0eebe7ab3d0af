"""Where batching pays: costs over the size of a batch, a boundary a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import batches, curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_CONTROL_AT = 64.0
"""The size of the batches that the control has once more."""


def suits(result: RunResult) -> bool:
    """Whether nothing but the boundary varies."""
    return set(result.report.varying()) <= {"boundary"}


def boundaries(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw each boundary's costs over the size of a batch with intervals, and its control as a cross."""
    cells = result.cells
    names = [str(cell.parameters["boundary"]) for cell in cells]
    looks = style.looks(names)
    own = ax is None
    figure, ax = style.axes_or_new(ax, 8.6, 5.2)
    ends, drawn = [], []
    for name, cell in zip(names, cells, strict=True):
        found = batches.sizes(cell)
        curves.draw_arm(ax, found, looks[name], strong=name == "plugin")
        batches.control(ax, cell, _CONTROL_AT, looks[name])
        ends.append((name, found[-1].at, found[-1].arm.median))
        drawn += found
    batches.finish(ax, drawn, cells[0].unit)
    style.title(ax, f"{result.experiment}: {result.title}")
    batches.control_legend(ax, [style.void_reason(cell) for cell in cells])
    if own:
        style.note(figure, result.machine.name, cells)
    batches.label(ax, ends, looks, strong=["plugin"])
    return figure
