"""Targets and code in the real dispatch: the factorial's effects, and beside them each cause by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nanokata.results.records import Contrast, Report

from . import fetch, style, targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

PUBLISHED_MACHINE = "published kata, i9-13980HX"
PUBLISHED: Mapping[str, tuple[float, float]] = {
    "targets:zipf": (7.2, 9.4),
    "both:zipf": (33.0, 37.0),
    "control:zipf": (0.10, 0.10),
}
"""The C++ dispatch kata's own gaps from hot to skewed traffic, least and most over its mechanisms, 100 handlers."""

_ROWS = (
    ("targets", "targets vary (tiny bodies)", style.BLUE),
    ("interaction", "fetching code adds", style.VERMILION),
    ("both", "targets and code vary (fat bodies)", style.INK),
    ("control", "control: direct, fat", style.GREY),
)
_SPOKEN = {
    "periodic": "all handlers in turn − one",
    "uniform": "all at random (uniform) − one",
    "zipf": "all at random (Zipf) − one",
}
_ONE_HANDLER = "dyn − direct, fat"


class _Row(NamedTuple):
    label: str
    contrast: Contrast | None
    """`None` for a heading."""
    colour: str


def suits(result: RunResult) -> bool:
    """Whether there is a gap between one handler and many to be drawn."""
    return bool(_laws(result.report))


def published(result: RunResult) -> tuple[str, ...]:
    """Return in words the published figures that are drawn beside this run's."""
    names = {contrast.name for contrast in result.report.contrasts}
    spoken = {family: label for family, label, _ in _ROWS}
    return tuple(
        f"{spoken[name.partition(':')[0]]}, hot to Zipf: {_span(*ends)} ns/packet ({PUBLISHED_MACHINE})"
        for name, ends in _published(result).items()
        if name in names
    )


def _span(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _published(result: RunResult) -> Mapping[str, tuple[float, float]]:
    """Return what was published for as many handlers as these races have; nothing for others."""
    return PUBLISHED if {cell.parameters.get("handlers") for cell in result.cells} == {100} else {}


def _laws(report: Report) -> list[str]:
    names = [contrast.name.split(":", 1) for contrast in report.contrasts if ":" in contrast.name]
    return list(dict.fromkeys(law for family, law in names if family in {"targets", "both"}))


def _rows(report: Report) -> list[_Row]:
    by_name = {contrast.name: contrast for contrast in report.contrasts}
    rows = []
    if "one-handler" in by_name:
        rows.append(_Row("one handler, the usual benchmark", None, style.INK))
        rows.append(_Row(_ONE_HANDLER, by_name["one-handler"], style.PLUM))
    for law in _laws(report):
        rows.append(_Row(_SPOKEN.get(law, f"{law} − one handler"), None, style.INK))
        rows += [
            _Row(label, by_name[f"{family}:{law}"], colour)
            for family, label, colour in _ROWS
            if f"{family}:{law}" in by_name
        ]
    return rows


def _gaps(ax: Axes, result: RunResult) -> None:
    rows = _rows(result.report)
    shown = _published(result)
    for height, row in enumerate(rows):
        if row.contrast is not None:
            _mark(ax, height, row, shown.get(row.contrast.name))
    style.tidy(ax, grid="x")
    ax.axvline(0, color=style.GREY, linewidth=1, zorder=1)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.tick_params(axis="y", length=0)
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        if row.contrast is None:
            label.set_fontweight("bold")
    drawn = any(row.contrast is not None and row.contrast.name in shown for row in rows)
    if drawn:
        ax.plot([], [], color=style.GREY, alpha=0.35, linewidth=7, solid_capstyle="butt", label=PUBLISHED_MACHINE)
    ax.set_xlabel(f"difference, {result.cells[0].unit}", fontsize=9)
    voids = [row.contrast for row in rows if row.contrast is not None and row.contrast.void]
    style.legend(ax, ["a race that it rests on has no verdict"] if voids else [])


def _mark(ax: Axes, height: int, row: _Row, published: tuple[float, float] | None) -> None:
    contrast = row.contrast
    if contrast is None or contrast.value is None:
        return
    if contrast.low is not None and contrast.high is not None:
        ax.plot([contrast.low, contrast.high], [height, height], color=row.colour, linewidth=2.2, zorder=3)
    face = "white" if contrast.void else row.colour
    ax.plot(
        contrast.value, height, marker="o", markersize=6, markerfacecolor=face, markeredgecolor=row.colour, zorder=4
    )
    if published is not None:
        low, high = published
        # A figure without a spread is a short bar too.
        ax.plot(
            [low - 0.1, high + 0.1], [height, height], color=style.GREY, alpha=0.35, linewidth=7,
            solid_capstyle="butt", zorder=2,
        )  # fmt: skip


def icache(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw the gaps between one handler and many, with their intervals, by traffic and by what of it is drawn.

    Without `ax`, and where they were run: code fetch alone and call targets alone in panels of their own.
    """
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _gaps(ax, result)
        return figure
    beside = [report for report in result.companions if _drawable(report)]
    height = max(3.4, 1.4 + 0.29 * len(_rows(result.report)), 2.6 * len(beside))
    figure = style.new_figure(10.0 if beside else 8.6, height)
    if beside:
        grid = figure.add_gridspec(len(beside), 2, width_ratios=(1.15, 1))
        main = figure.add_subplot(grid[:, 0])
        panels = [figure.add_subplot(grid[row, 1]) for row in range(len(beside))]
    else:
        main, panels = figure.add_subplot(), []
    _gaps(main, result)
    style.title(main, "In the real dispatch")
    for report, panel in zip(beside, panels, strict=True):
        _companion(panel, report, result)
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=12, color=style.INK)
    _note(figure, result)
    return figure


def _drawable(report: Report) -> bool:
    if not report.cells:
        return False
    along = report.along()
    counted = all(fetch.ARM in cell and cell[fetch.ARM].footprint_bytes for cell in report.cells)
    return (report.experiment == "dispatch.fetch" and along == "bodies" and counted) or (
        report.experiment == "dispatch.targets" and report.varying() == ("targets",)
    )


def _companion(ax: Axes, report: Report, result: RunResult) -> None:
    if report.experiment == "dispatch.fetch":
        fetch.panel(ax, report.cells, result.machine)
        style.title(ax, "Code fetch alone: direct calls")
    else:
        targets.panel(ax, report.cells)
        style.title(ax, "Targets alone: tiny bodies")
    style.legend(ax, [style.void_reason(cell) for cell in report.cells], loc="upper left")


def _note(figure: Figure, result: RunResult) -> None:
    levels = ", ".join(sorted({f"{100 * level:.4g} %" for level in _levels(result)}))
    text = f"{result.machine.name}; bars are {levels} intervals"
    figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color=style.GREY)


def _levels(result: RunResult) -> Sequence[float]:
    own = [contrast.level for contrast in result.report.contrasts]
    ratios = [
        cell.level for report in result.companions for cell in report.cells if report.experiment == "dispatch.fetch"
    ]
    medians = [
        cell.median_level
        for report in result.companions
        for cell in report.cells
        if report.experiment == "dispatch.targets"
    ]
    return [*own, *ratios, *medians]
