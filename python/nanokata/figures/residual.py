"""Where a table stops paying: costs over the residual share, a column a list length, and the probes below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanokata.results.records import CellResult

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_WIDTH_INCHES = 10.0
_ALONG = "residual_share"
_STRONG = "table_compact"
_MOST_COLUMNS = 5


def _columns(result: RunResult) -> dict[int, list[CellResult]]:
    found: dict[int, list[CellResult]] = {}
    for cell in result.cells:
        found.setdefault(int(cell.parameters["list_length"]), []).append(cell)
    return dict(sorted(found.items()))


def _arms(cells: list[CellResult]) -> list[str]:
    return list(dict.fromkeys(arm.arm for cell in cells for arm in cell.arms if arm.role != "control"))


def suits(result: RunResult) -> bool:
    """Whether the share varies, and nothing else but the lists' length."""
    varying = set(result.report.varying())
    return _ALONG in varying and varying <= {_ALONG, "list_length"} and len(_columns(result)) <= _MOST_COLUMNS


def residual(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw costs over the residual share with intervals, and where the table and the sorted scan cross.

    Without `ax`: a column a list length, expected probes below. With `ax`: the costs of the shortest lists.
    """
    columns = _columns(result)
    first = next(iter(columns.values()))
    looks = style.looks(_arms(first))
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _costs(ax, first, looks)
        ax.set_ylim(0, None)
        ax.set_xlabel("residual share of handlers", fontsize=9)
        ax.set_ylabel(first[0].unit, fontsize=9)
        style.legend(ax, [style.void_reason(cell) for cell in first])
        ax.figure.canvas.draw()
        _label(ax, first, looks)
        return figure
    figure = style.new_figure(_WIDTH_INCHES, 6.0)
    grid = figure.subplots(2, len(columns), sharex=True, sharey="row", squeeze=False, height_ratios=(3, 1.3))
    for column, (length, cells) in enumerate(columns.items()):
        top, bottom = grid[0][column], grid[1][column]
        _costs(top, cells, looks)
        _crossing(result, top, f"crossing:scan_ordered:{length}")
        style.title(top, f"lists of up to {length}")
        _probes(bottom, cells, looks)
        _crossing(result, bottom, f"crossing-probes:scan_ordered:{length}")
        bottom.set_xlabel("residual share", fontsize=9)
    grid[0][0].set_ylim(0, None)
    grid[1][0].set_ylim(0, None)
    grid[0][0].set_ylabel(first[0].unit, fontsize=9)
    grid[1][0].set_ylabel("expected\nprobes/packet", fontsize=9)
    style.legend(grid[0][0], [style.void_reason(cell) for cell in result.cells], loc="upper left")
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=12, color=style.INK)
    style.note(figure, result.machine.name, result.cells)
    figure.canvas.draw()
    _label(grid[0][-1], list(columns.values())[-1], looks)
    return figure


def _costs(ax: Axes, cells: list[CellResult], looks: dict[str, style.Look]) -> None:
    for arm in _arms(cells):
        curves.draw_arm(ax, curves.points(cells, _ALONG, arm), looks[arm], strong=arm == _STRONG)
    style.tidy(ax)


def _probes(ax: Axes, cells: list[CellResult], looks: dict[str, style.Look]) -> None:
    """Draw the expected probes; comparisons of keys are no calls and stay out."""
    for arm in _arms(cells):
        if arm == "scan_keys":
            continue
        found = [
            (point.at, point.arm.probes.mean if point.arm.probes.expected is None else point.arm.probes.expected)
            for point in curves.points(cells, _ALONG, arm)
            if point.arm.probes is not None
        ]
        if found:
            ax.plot(
                *zip(*found, strict=True), color=looks[arm].colour, marker=looks[arm].mark, markersize=4,
                linewidth=2.4 if arm == _STRONG else 1.2,
            )  # fmt: skip
    style.tidy(ax)


def _crossing(result: RunResult, ax: Axes, name: str) -> None:
    """Mark where the table and the sorted scan cross, if the run found a bracket."""
    for fact in result.facts:
        if fact.name == name and fact.value is not None:
            ax.axvline(fact.value, color=style.GREY, linewidth=1, linestyle=(0, (2, 3)), zorder=1)
            ax.annotate(
                f"crosses\nnear {fact.value:.2f}", (fact.value, 0.02), xycoords=("data", "axes fraction"),
                xytext=(-4 if fact.value > 0.5 else 4, 0), textcoords="offset points", fontsize=8, color=style.GREY,
                ha="right" if fact.value > 0.5 else "left", va="bottom",
            )  # fmt: skip


def _label(ax: Axes, cells: list[CellResult], looks: dict[str, style.Look]) -> None:
    ends = []
    for arm in _arms(cells):
        last = curves.points(cells, _ALONG, arm)[-1]
        ends.append((arm, last.at, last.arm.median))
    curves.label_ends(ax, ends, looks, strong=[_STRONG], at=1.06)
