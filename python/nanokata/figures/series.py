"""Any experiment over the parameter that varies: an arm a line, intervals drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.errors import InvalidArgument
from nanokata.results.records import ArmResult, CellResult

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_LOG_SPAN = 32
"""A parameter whose largest value is this many times its smallest is drawn on a logarithmic axis."""
_LOG_COST_SPAN = 20
"""The same for costs."""
_MOST_TICKS = 9


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


def _scale(ax: Axes, cells: Sequence[CellResult], parameter: str, unit: str) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    from nanokata.render.numbers import byte_count

    values = sorted({float(cell.parameters[parameter]) for cell in cells})
    if values[0] > 0 and values[-1] / values[0] >= _LOG_SPAN:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_minor_locator(NullLocator())
        step = -(-len(values) // _MOST_TICKS)
        ax.xaxis.set_major_locator(FixedLocator(values[::step]))
        shown = byte_count if unit == "bytes" else "{:g}".format
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))


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
    figure, ax = style.axes_or_new(ax, 8.6, 4.6)
    strong = [label for label, found in lines.items() if found[0][1].role == "baseline"][:1]
    for label, found in lines.items():
        control = found[0][1].role == "control"
        curves.draw_arm(ax, found, looks[label], strong=label in strong, dashed=control)
    style.tidy(ax)
    unit = result.unit_of(name)
    _scale(ax, cells, name, unit)
    _scale_costs(ax, cells)
    spoken = name.replace("_", " ")
    ax.set_xlabel(f"{spoken} ({unit})" if unit and unit not in spoken else spoken, fontsize=9)
    ax.set_ylabel(cells[0].unit, fontsize=9)
    style.title(ax, f"{result.experiment}: {result.title}")
    figure.canvas.draw()
    ends = [(label, found[-1][0], found[-1][1].median) for label, found in lines.items()]
    curves.label_ends(ax, ends, looks, strong=strong)
    return figure


def _lines(result: RunResult, parameter: str) -> dict[str, list[tuple[float, ArmResult]]]:
    others = [name for name in result.report.varying() if name != parameter]
    groups: dict[str, list[CellResult]] = {}
    for cell in result.cells:
        setting = "".join(f", {name} {cell.parameters[name]}" for name in others)
        groups.setdefault(setting, []).append(cell)
    return {
        f"{arm}{setting}": curves.points(cells, parameter, arm)
        for setting, cells in groups.items()
        for arm in dict.fromkeys(arm.arm for cell in cells for arm in cell.arms)
    }


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
