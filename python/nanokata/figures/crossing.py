"""What crossing the plugin ABI costs: batches over their size, beside the ways that take a packet at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import batches, curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult
    from nanokata.results.records import CellResult

_WIDTH_INCHES = 10.0
_HEIGHT_INCHES = 4.6
_BATCHED, _INTERNAL = "plugin, batched", "internal, batched"
_LOOKS = {
    _BATCHED: style.Look(style.VERMILION, "o"),
    "plugin": style.Look(style.BLUE, "s"),
    "v1": style.Look(style.SKY, "v"),
    "dyn_internal": style.Look(style.GREEN, "D"),
    "inlined": style.Look(style.ORANGE, "^"),
    _INTERNAL: style.Look(style.GREY, "X"),
}
_EACH = ("plugin", "v1", "dyn_internal", "inlined")


def suits(result: RunResult) -> bool:
    """Whether nothing but the traffic varies, and batches were raced."""
    return set(result.report.varying()) <= {"traffic"} and all(batches.sizes(cell) for cell in result.cells)


def crossing(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw costs over the size of a batch with intervals; what takes a packet at a time is a level line.

    Without `ax`: a panel a kind of traffic. With `ax`: the first alone.
    """
    cells = result.cells
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _panel(ax, cells[0])
        return figure
    figure = style.new_figure(_WIDTH_INCHES, _HEIGHT_INCHES)
    panels = figure.subplots(1, len(cells), squeeze=False)[0]
    for panel, cell in zip(panels, cells, strict=True):
        _panel(panel, cell)
        style.title(panel, f"{cell.parameters['traffic']} traffic")
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=12, color=style.INK)
    style.note(figure, result.machine.name, cells)
    return figure


def _panel(ax: Axes, cell: CellResult) -> None:
    found = batches.sizes(cell)
    last = found[-1].at
    curves.draw_arm(ax, found, _LOOKS[_BATCHED], strong=True)
    inside = batches.sizes(cell, "internal_batch_")
    for point in inside:
        # One by one: what lies between them wasn't raced.
        curves.draw_arm(ax, [point], _LOOKS[_INTERNAL], strong=False)
    ends = [(_BATCHED, last, found[-1].arm.median)]
    ends += [(_INTERNAL, inside[-1].at, inside[-1].arm.median)] if inside else []
    for name in _EACH:
        if name in cell:
            _level(ax, cell, name, (found[0].at, last))
            ends.append((name, last, cell[name].median))
    batches.control(ax, cell, found[0].at, _LOOKS["plugin"])
    batches.finish(ax, found, cell.unit)
    batches.control_legend(ax, [style.void_reason(cell)])
    batches.label(ax, ends, _LOOKS, strong=[_BATCHED])


def _level(ax: Axes, cell: CellResult, name: str, across: tuple[float, float]) -> None:
    """Draw what costs the same whatever a batch holds: a line and its interval's band."""
    arm, look = cell[name], _LOOKS[name]
    ax.plot(across, [arm.median] * 2, color=look.colour, linewidth=1.4, zorder=2)
    if arm.low is not None and arm.high is not None:
        ax.fill_between(across, arm.low, arm.high, color=look.colour, alpha=0.18, linewidth=0, zorder=1)
    if cell.void:
        curves.hollow(ax, [(across[0], arm.median)], look, order=3)
