"""What the proposals make of the brief's own loop as handlers grow in number, with the table beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nanokata.results.records import CellResult, Contrast

from . import curves, style
from .scaling import PUBLISHED, PUBLISHED_MACHINE, Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_WIDTH_INCHES = 10.0
_SCAN, _TABLE = "scan", "table_compact"
_STRONG = (_SCAN, _TABLE)
_DASHED = "scan_static_keys"
"""An arm that may cost what the table does: dashed, so that both are seen."""
_RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 10,
    "markerfacecolor": "none",
    "markeredgewidth": 1.4,
    "linestyle": "none",
}


def suits(result: RunResult) -> bool:
    """Whether the number of handlers is all that varies."""
    return result.report.varying() == ("handlers",)


def _arms(cells: Sequence[CellResult]) -> list[str]:
    return list(dict.fromkeys(arm.arm for cell in cells for arm in cell.arms if arm.role != "control"))


def _published(cells: Sequence[CellResult]) -> tuple[Published, ...]:
    """Return what was published of scan and table for races like these: fat bodies, uniform traffic."""
    same = all(cell.parameters.get("traffic") == "uniform" and cell.parameters.get("body") == "fat" for cell in cells)
    return tuple(item for item in PUBLISHED if item.arm in _STRONG) if same else ()


def published(result: RunResult) -> tuple[str, ...]:
    """Return in words the published figures that are drawn beside this run's."""
    return tuple(
        f"{item.arm} at {item.handlers} handlers, {item.ns_per_packet:g} ns/packet ({PUBLISHED_MACHINE})"
        for item in _published(result.report.cells)
    )


def proposals(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw costs over the number of handlers, and what each arm gains over the scan, with intervals.

    With `ax`: the costs alone.
    """
    cells = result.report.cells
    arms = _arms(cells)
    looks = style.looks(arms)
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _costs(ax, cells, looks)
        style.legend(ax, [style.void_reason(cell) for cell in cells], loc="upper left")
        _label(ax, [(arm, *_last(cells, arm)) for arm in arms], looks)
        return figure
    figure = style.new_figure(_WIDTH_INCHES, 5.0)
    left, right = figure.subplots(1, 2)
    _costs(left, cells, looks)
    style.title(left, "cost")
    style.legend(left, [style.void_reason(cell) for cell in cells], loc="upper left")
    ends = _gains(right, result.contrasts, cells, looks)
    style.title(right, "gained over the scan")
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=12, color=style.INK)
    style.note(figure, result.machine.name, cells)
    _label(left, [(arm, *_last(cells, arm)) for arm in arms], looks)
    _label(right, ends, looks)
    return figure


def _last(cells: Sequence[CellResult], arm: str) -> tuple[float, float]:
    point = curves.points(cells, "handlers", arm)[-1]
    return point.at, point.arm.median


def _costs(ax: Axes, cells: Sequence[CellResult], looks: dict[str, style.Look]) -> None:
    for arm in _arms(cells):
        found = curves.points(cells, "handlers", arm)
        curves.draw_arm(ax, found, looks[arm], strong=arm in _STRONG, dashed=arm == _DASHED)
    shown = _published(cells)
    for item in shown:
        ax.plot(item.handlers, item.ns_per_packet, markeredgecolor=looks[item.arm].colour, zorder=5, **_RING)
    if shown:
        ax.plot([], [], markeredgecolor=style.GREY, label=PUBLISHED_MACHINE, **_RING)
    _axes(ax, cells[0].unit)
    ax.set_ylim(0, None)


def _axes(ax: Axes, unit: str) -> None:
    style.tidy(ax)
    ax.set_xlim(0, None)
    ax.set_xlabel("handlers", fontsize=9)
    ax.set_ylabel(unit, fontsize=9)


def _gains(
    ax: Axes, contrasts: Sequence[Contrast], cells: Sequence[CellResult], looks: dict[str, style.Look]
) -> list[tuple[str, float, float]]:
    """Draw what each arm gains over the scan; return where its line ends."""
    ends = []
    for arm in _arms(cells):
        prefix = f"gain:{arm}:"
        found = [
            (int(contrast.name.removeprefix(prefix)), contrast)
            for contrast in contrasts
            if contrast.name.startswith(prefix) and contrast.value is not None
        ]
        if not found:
            continue
        found.sort(key=lambda item: item[0])
        values = [contrast.value or 0.0 for _, contrast in found]
        below = [_reach(contrast.value, contrast.low) for _, contrast in found]
        above = [_reach(contrast.high, contrast.value) for _, contrast in found]
        look = looks[arm]
        ax.errorbar(
            [at for at, _ in found],
            values,
            yerr=[below, above],
            color=look.colour,
            marker=look.mark,
            markersize=6.5 if arm in _STRONG else 4.5,
            linewidth=2.8 if arm in _STRONG else 1.3,
            linestyle=(0, (3, 2)) if arm == _DASHED else "-",
            capsize=2.5,
            elinewidth=1.2,
            zorder=3 if arm in _STRONG else 4,
        )
        void = [(float(at), value) for (at, contrast), value in zip(found, values, strict=True) if contrast.void]
        curves.hollow(ax, void, look, order=4)
        ends.append((arm, float(found[-1][0]), values[-1]))
    ax.axhline(0, color=style.GREY, linewidth=1, zorder=1)
    _axes(ax, cells[0].unit)
    return ends


def _reach(high: float | None, low: float | None) -> float:
    return math.nan if high is None or low is None else max(high - low, 0.0)


def _label(ax: Axes, ends: Sequence[tuple[str, float, float]], looks: dict[str, style.Look]) -> None:
    ax.figure.canvas.draw()
    curves.label_ends(ax, ends, looks, strong=_STRONG)
