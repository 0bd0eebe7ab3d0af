"""Code fetch alone: what a straight line of direct calls costs more as its code outgrows the instruction cache."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nanokata.render.numbers import byte_count
from nanokata.results.records import CellResult

from . import curves, style
from .series import apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

ARM = "many_bodies"
_LOOKS = {"fat": style.Look(style.VERMILION, "o"), "tiny": style.Look(style.BLUE, "s")}


def suits(result: RunResult) -> bool:
    """Whether the lines' code was counted, and more than one number of bodies was measured."""
    return result.report.along() == "bodies" and all(ARM in cell and cell[ARM].footprint_bytes for cell in result.cells)


def l1i_bytes(machine: Mapping[str, Any], cpu: int | None) -> int | None:
    """Return the size of the L1 instruction cache of `cpu`, of any CPU if that isn't known; `None` without one."""
    found = [
        cache for cache in machine.get("caches", ()) if cache.get("level") == 1 and cache.get("kind") == "instruction"
    ]
    mine = [cache for cache in found if cpu in cache.get("cpus", ())]
    return next((int(cache["bytes"]) for cache in [*mine, *found]), None)


def panel(ax: Axes, cells: Sequence[CellResult], machine: Mapping[str, Any]) -> None:
    """Draw the rise over a single body against the code that a pass runs, fat and tiny bodies a line each."""
    for body in dict.fromkeys(str(cell.parameters["body"]) for cell in cells):
        look = _LOOKS.get(body, style.Look(style.GREEN, "D"))
        found = sorted(
            (cell for cell in cells if cell.parameters["body"] == body), key=lambda cell: cell[ARM].footprint_bytes or 0
        )
        xs = [float(cell[ARM].footprint_bytes or math.nan) for cell in found]
        middles, below, above = _rises(found)
        ax.errorbar(
            xs, middles, yerr=[below, above], color=look.colour, marker=look.mark, markersize=5, linewidth=1.8,
            capsize=2.5, elinewidth=1.2, zorder=3,
        )  # fmt: skip
        points = zip(xs, middles, found, strict=True)
        curves.hollow(ax, [(x, y) for x, y, cell in points if cell.void], look, order=3)
        # Above its end; the control's ends far left of the other's, which goes past it on the right.
        tiny = body == "tiny"
        top = middles[-1] + (0.0 if math.isnan(above[-1]) else above[-1])
        ax.annotate(
            "tiny (control)" if tiny else body, (xs[-1], top), xytext=(3 if tiny else 0, 5),
            textcoords="offset points", fontsize=8.5, fontweight="bold", color=look.colour,
            ha="right" if tiny else "center", va="bottom", zorder=5,
        )  # fmt: skip
    style.tidy(ax)
    _scale(ax, cells)
    ax.axhline(0, color=style.GREY, linewidth=0.8, zorder=1)
    cache = l1i_bytes(machine, cells[0].cpu)
    if cache is not None:
        ax.axvline(cache, color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        ax.annotate(
            f"L1i, {byte_count(cache)}", (cache, 0.98), xycoords=("data", "axes fraction"), xytext=(-3, 0),
            textcoords="offset points", fontsize=8.5, color=style.GREY, va="top", ha="right",
        )  # fmt: skip
    ax.set_xlabel("code that a pass runs", fontsize=9)
    ax.set_ylabel(f"over one body, {cells[0].unit}", fontsize=9)
    ax.margins(x=0.08, y=0.16)


def _rises(cells: Sequence[CellResult]) -> tuple[list[float], list[float], list[float]]:
    """Return each cell's rise over one body in its unit, and how far its interval reaches below and above.

    From the paired ratio, whose interval is much narrower than the difference of two medians'.
    """
    middles, below, above = [], [], []
    for cell in cells:
        arm, base = cell[ARM], cell.baseline.median
        ratio = 1.0 if arm.ratio is None else arm.ratio
        middles.append((ratio - 1) * base)
        below.append(math.nan if arm.ratio_low is None else max(ratio - arm.ratio_low, 0.0) * base)
        above.append(math.nan if arm.ratio_high is None else max(arm.ratio_high - ratio, 0.0) * base)
    return middles, below, above


def _scale(ax: Axes, cells: Sequence[CellResult]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    sizes = [cell[ARM].footprint_bytes or 1 for cell in cells]
    ax.set_xscale("log", base=2)
    powers = [float(2**power) for power in range(math.ceil(math.log2(min(sizes))), int(math.log2(max(sizes))) + 1)]
    ax.xaxis.set_minor_locator(NullLocator())
    if len(powers) > 1:
        ax.xaxis.set_major_locator(FixedLocator(apart(powers, [byte_count(int(power)) for power in powers])))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: byte_count(round(value))))


def fetch(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw the rise of `many_bodies` over `one_body` against the code that a pass runs, with the L1i's size."""
    own = ax is None
    figure, ax = style.axes_or_new(ax, 8.6, 4.4)
    panel(ax, result.cells, result.machine)
    style.title(ax, f"{result.experiment}: {result.title}")
    style.legend(ax, [style.void_reason(cell) for cell in result.cells], loc="upper left")
    if own:
        note(figure, result.machine.name, result.cells)
    return figure


def note(figure: Figure, machine: str, cells: Sequence[CellResult]) -> None:
    """Write below a figure which machine it is from, and that its bars are of paired ratios."""
    levels = ", ".join(sorted({f"{100 * cell.level:.4g} %" for cell in cells}))
    text = f"{machine}; bars are {levels} intervals of the ratio, as nanoseconds"
    figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color=style.GREY)
