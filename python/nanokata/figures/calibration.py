"""What the budget of a packet buys here: each operation's cost, and how many of them fill it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult
    from nanokata.results.records import CellResult

_WIDTH_INCHES = 9.6
_ROW_INCHES = 0.34
_MISS = "branch-miss"
_LEVELS = frozenset({"l1", "l2", "l3", "dram"})
_FAMILIES = {"load": style.BLUE, "branch": style.VERMILION, "call": style.GREEN}


class _Row(NamedTuple):
    """One operation: cost and its interval in nanoseconds, cycles where they are known."""

    name: str
    ns: float
    low: float | None
    high: float | None
    cycles: float | None
    void: str | None


def _spoken(operation: str) -> str:
    """Return an operation's name as a reader wants it; levels of the memory in capitals."""
    words = operation.split("_")
    return " ".join(word.upper() if word in _LEVELS else word for word in words)


def _of_cell(cell: CellResult) -> _Row:
    arm = cell["operation"]
    name = _spoken(str(cell.parameters["operation"]))
    return _Row(name, arm.median, arm.low, arm.high, arm.cycles, style.void_reason(cell))


def _rows(result: RunResult) -> list[_Row]:
    rows = [_of_cell(cell) for cell in result.cells]
    for contrast in result.contrasts:
        if contrast.name == _MISS and contrast.value is not None and contrast.value > 0:
            beside = next((row for row in rows if row.name == "branch random"), None)
            ghz = beside.cycles / beside.ns if beside is not None and beside.cycles else None
            cycles = None if ghz is None else contrast.value * ghz
            void = "a branch race" if contrast.void else None
            # Its interval may reach below zero, where a logarithmic axis has no place.
            low = None if contrast.low is None or contrast.low <= 0 else contrast.low
            rows.append(_Row("branch mispredicted", contrast.value, low, contrast.high, cycles, void))
    return sorted(rows, key=lambda row: row.ns)


def suits(result: RunResult) -> bool:
    """Whether operations are what varies."""
    return result.report.varying() == ("operation",)


def calibration(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw each operation's cost on a logarithmic axis, with its interval, its cycles, and how many fill the budget."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    rows = _rows(result)
    own = ax is None
    figure, ax = style.axes_or_new(ax, _WIDTH_INCHES, 1.7 + _ROW_INCHES * len(rows))
    budget = 1e9 / float(result.cells[0].parameters["rate"])
    for place, row in enumerate(rows):
        _draw(ax, place, row, budget)
    ax.set_xscale("log")
    ax.set_xlim(min(row.low or row.ns for row in rows) / 1.3, 1.15 * max(budget, *(row.high or row.ns for row in rows)))
    ax.set_ylim(-0.6, len(rows) - 0.1)
    ax.set_yticks(range(len(rows)), [row.name for row in rows])
    ax.axvline(budget, color=style.GREY, linewidth=1, linestyle=(0, (4, 3)))
    ax.annotate(
        f"budget, {budget:.0f} ns", (budget, len(rows) - 0.45), xytext=(-4, 0), textcoords="offset points",
        fontsize=8.5, color=style.GREY, ha="right", va="center",
    )  # fmt: skip
    style.tidy(ax, grid="x")
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("ns an operation", fontsize=9)
    style.title(ax, result.title)
    ax.text(1.02, len(rows) - 0.45, f"cycles  fill {budget:.0f} ns", transform=ax.get_yaxis_transform(),
            fontsize=8.5, color=style.GREY, va="center")  # fmt: skip
    style.legend(ax, [row.void for row in rows], above=True)
    if own:
        style.note(figure, result.machine.name, result.cells)
    return figure


def _draw(ax: Axes, place: int, row: _Row, budget: float) -> None:
    colour = style.GREY if row.void else _FAMILIES.get(row.name.partition(" ")[0], style.INK)
    below = 0.0 if row.low is None else max(row.ns - row.low, 0.0)
    above = 0.0 if row.high is None else max(row.high - row.ns, 0.0)
    ax.errorbar(
        row.ns, place, xerr=[[below], [above]], color=colour, marker="o", markersize=6, capsize=3, elinewidth=1.6,
        markerfacecolor="white" if row.void else colour, zorder=3,
    )  # fmt: skip
    cycles = "" if row.cycles is None or row.cycles != row.cycles else f"{row.cycles:,.1f}"
    count = budget / row.ns
    filled = "void" if row.void else f"{count:,.1f}" if count < 10 else f"{count:,.0f}"
    for text, at in ((cycles, 1.075), (filled, 1.15)):
        ax.text(at, place, text, transform=ax.get_yaxis_transform(), fontsize=9, color=colour, va="center", ha="right")
