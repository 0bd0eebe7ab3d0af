"""What a table costs somebody else: the neighbour's cost a load beside each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanokata.results.records import CellResult

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_WIDTH_INCHES = 9.6
_ARMS = ("beside_nobody", "beside_null", "beside_table_compact", "beside_hash_map", "beside_table_direct16")
_OWN = {"place", "keys"}


def _panels(result: RunResult) -> dict[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = {}
    for cell in result.cells:
        found.setdefault(str(cell.parameters["place"]), []).append(cell)
    return found


def suits(result: RunResult) -> bool:
    """Whether nothing but the place and the keys varies."""
    return set(result.report.varying()) <= _OWN and all("beside_nobody" in cell for cell in result.cells)


def neighbour(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw the neighbour's cost a load beside each table, a colour a kind of keys, with intervals; a panel a place.

    With `ax`: the first place alone.
    """
    panels = _panels(result)
    looks = style.looks(list(dict.fromkeys(str(cell.parameters["keys"]) for cell in result.cells)))
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _panel(ax, next(iter(panels.values())), looks)
        _name_rows(ax)
        style.legend(ax, [style.void_reason(cell) for cell in result.cells])
        return figure
    figure = style.new_figure(_WIDTH_INCHES, 4.3)
    row = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for panel, (place, cells) in zip(row, panels.items(), strict=True):
        _panel(panel, cells, looks)
        style.title(panel, place.replace("_", " "))
    _name_rows(row[0])
    _legend(figure, row[0], result)
    size = result.spoken("working_set", result.cells[0].parameters["working_set"])
    figure.suptitle(f"{result.title}: a set of {size}", x=0.01, ha="left", fontsize=12, color=style.INK)
    style.note(figure, result.machine.name, result.cells)
    return figure


def _panel(ax: Axes, cells: list[CellResult], looks: dict[str, style.Look]) -> None:
    step = 0.7 / max(len(cells), 1)
    highest = 0.0
    for number, cell in enumerate(cells):
        keys = str(cell.parameters["keys"])
        for place, name in enumerate(_ARMS):
            arm = cell[name]
            below = 0.0 if arm.low is None else max(arm.median - arm.low, 0.0)
            above = 0.0 if arm.high is None else max(arm.high - arm.median, 0.0)
            highest = max(highest, arm.median + above)
            ax.errorbar(
                arm.median, place + (number - (len(cells) - 1) / 2) * step, xerr=[[below], [above]],
                color=looks[keys].colour, marker=looks[keys].mark, markersize=5.5, capsize=2.5, elinewidth=1.4,
                markerfacecolor="white" if cell.void else looks[keys].colour, linestyle="none",
                label=f"{keys} keys" if place == 0 else None,
            )  # fmt: skip
    for place in range(1, len(_ARMS)):
        ax.axhline(place - 0.5, color=style.FAINT, linewidth=0.8, zorder=0)
    style.tidy(ax, grid="x")
    ax.set_xlim(0, max(ax.get_xlim()[1], 1.08 * highest))
    ax.set_ylim(len(_ARMS) - 0.5, -0.5)
    ax.set_xlabel("neighbour's ns a load", fontsize=9)


def _legend(figure: Figure, ax: Axes, result: RunResult) -> None:
    """Draw one legend for all panels, above them: bars fill the panels themselves."""
    if any(cell.void for cell in result.cells):
        ax.plot([], [], marker="o", markersize=6, markerfacecolor="white", markeredgecolor=style.GREY,
                linestyle="none", label="hollow: void")  # fmt: skip
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper right", ncols=len(labels), frameon=False, fontsize=8.5,
        labelcolor=style.GREY, handletextpad=0.3, columnspacing=1.2,
    )  # fmt: skip


def _name_rows(ax: Axes) -> None:
    ax.set_yticks(range(len(_ARMS)), [name.replace("_", " ") for name in _ARMS])
    ax.tick_params(axis="y", length=0)
