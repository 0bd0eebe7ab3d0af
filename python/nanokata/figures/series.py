"""Any experiment over the parameter that varies: an arm a line, intervals drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.errors import InvalidArgument
from nanokata.render.numbers import byte_count
from nanokata.results.records import CellResult

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_LOG_SPAN = 32
"""A parameter whose largest value is this many times its smallest is drawn on a logarithmic axis."""
_LOG_COST_SPAN = 20
"""The same for costs."""
_CHARACTER = 0.0125
"""Width of a tick label's character as a share of the axis, in a figure of the usual width."""


def _pick(result: RunResult, parameter: str | None) -> str:
    numeric = [
        name
        for name in result.report.varying()
        if all(
            isinstance(cell.parameters[name], (int, float)) and not isinstance(cell.parameters[name], bool)
            for cell in result.cells
        )
    ]
    if parameter is None and numeric:
        return numeric[0]
    if parameter in numeric:
        return str(parameter)
    wanted = f"one of {', '.join(numeric)}" if numeric else "a result in which a number varies"
    raise InvalidArgument(
        f"parameter = {parameter!r}: wanted {wanted}", name="parameter", value=repr(parameter), wanted=wanted
    )


def _scale(ax: Axes, cells: Sequence[CellResult], parameter: str, unit: str) -> bool:
    """Scale the axis to the parameter's values; return whether its ticks carry the unit."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    values = sorted({float(cell.parameters[parameter]) for cell in cells})
    if values[0] <= 0 or values[-1] / values[0] < _LOG_SPAN:
        return False
    ax.set_xscale("log", base=2)
    shown = byte_count if unit == "bytes" else "{:g}".format
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_locator(FixedLocator(apart(values, [shown(value) for value in values])))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))
    return unit == "bytes"


def apart(values: Sequence[float], labels: Sequence[str]) -> list[float]:
    """Return the values whose labels don't overprint each other on a logarithmic axis; the first and last stay."""
    places = [math.log(value / values[0]) / math.log(values[-1] / values[0]) for value in values]
    halves = [_CHARACTER * (len(label) + 1) / 2 for label in labels]

    def collide(one: int, other: int) -> bool:
        return abs(places[other] - places[one]) < halves[one] + halves[other]

    last = len(values) - 1
    kept = [0]
    for index in range(1, last):
        if not collide(kept[-1], index) and not collide(index, last):
            kept.append(index)
    if not last or not collide(kept[-1], last):
        kept.append(last)
    return [values[index] for index in dict.fromkeys(kept)]


def _axis_label(parameter: str, unit: str, *, carried: bool) -> str:
    spoken = parameter.replace("_", " ")
    if carried:
        return "size" if spoken == unit else spoken.removesuffix(f" {unit}")
    return f"{spoken} ({unit})" if unit and unit not in spoken else spoken


def series(result: RunResult, *, parameter: str | None = None, ax: Axes | None = None) -> Figure:
    """Draw costs over `parameter` (by default the first number that varies), an arm a line, with intervals.

    Where other parameters vary too, each of their settings has lines of its own.

    Raises
    ------
    InvalidArgument
        If no number of that name varies in the result.
    """
    name = _pick(result, parameter)
    cells = result.cells
    lines = _lines(result, name)
    looks = style.looks(list(lines))
    own = ax is None
    figure, ax = style.axes_or_new(ax, 8.6, 4.6)
    if own:
        style.note(figure, result.machine.name, cells)
    strong = [label for label, found in lines.items() if found[0].arm.role == "baseline"][:1]
    for label, found in lines.items():
        control = found[0].arm.role == "control"
        curves.draw_arm(ax, found, looks[label], strong=label in strong, dashed=control)
    style.tidy(ax)
    unit = result.unit_of(name)
    carried = _scale(ax, cells, name, unit)
    _scale_costs(ax, cells)
    ax.set_xlabel(_axis_label(name, unit, carried=carried), fontsize=9)
    ax.set_ylabel(cells[0].unit, fontsize=9)
    style.title(ax, f"{result.experiment}: {result.title}")
    style.legend(ax, [point.void for found in lines.values() for point in found])
    figure.canvas.draw()
    ends = [(label, found[-1].at, found[-1].arm.median) for label, found in lines.items()]
    curves.label_ends(ax, ends, looks, strong=strong)
    return figure


def _lines(result: RunResult, parameter: str) -> dict[str, list[curves.Point]]:
    others = [name for name in result.report.varying() if name != parameter]
    groups: dict[str, list[CellResult]] = {}
    for cell in result.cells:
        setting = "".join(f", {name} {cell.parameters[name]}" for name in others)
        groups.setdefault(setting, []).append(cell)
    lines = {}
    for setting, cells in groups.items():
        for arm, role in dict.fromkeys((arm.arm, arm.role) for cell in cells for arm in cell.arms):
            control = " (control)" if role == "control" else ""
            lines[f"{arm}{setting}{control}"] = curves.points(cells, parameter, arm)
    return lines


def _scale_costs(ax: Axes, cells: Sequence[CellResult]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    medians = [arm.median for cell in cells for arm in cell.arms]
    if min(medians) <= 0 or max(medians) / min(medians) < _LOG_COST_SPAN:
        ax.set_ylim(0, None)
        return
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
