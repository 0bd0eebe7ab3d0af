"""What calling the handler costs, a row a mechanism: one target beside many, a panel a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanokata.results.records import CellResult

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_WIDTH_INCHES = 10.0
_HOT = "hot"
_LOOKS = {_HOT: style.Look(style.BLUE, "o")}
_MIXED = (style.Look(style.VERMILION, "s"), style.Look(style.ORANGE, "^"), style.Look(style.PURPLE, "D"))


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that someone published, from a machine that isn't this one."""

    arm: str
    body: str
    hot: bool
    ns_per_packet: float


PUBLISHED_MACHINE = "published kata (mixed: Zipf), i9-13980HX"
PUBLISHED = (
    Published("erased", "tiny", hot=False, ns_per_packet=8.57),
    Published("thin", "tiny", hot=False, ns_per_packet=10.24),
    Published("enum_match", "tiny", hot=False, ns_per_packet=10.98),
    Published("direct", "fat", hot=True, ns_per_packet=26.26),
    Published("thin", "fat", hot=True, ns_per_packet=27.57),
    # Its gap of 33.7 ns on top.
    Published("thin", "fat", hot=False, ns_per_packet=61.27),
)
"""The C++ dispatch kata's own figures: its virtual call is what `thin` is here."""


def _bodies(result: RunResult) -> dict[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = {}
    for cell in result.report.cells:
        found.setdefault(str(cell.parameters.get("body", "")), []).append(cell)
    return found


def _laws(cells: Sequence[CellResult]) -> list[str]:
    """Return the kinds of traffic, the one with one target first."""
    return sorted({str(cell.parameters.get("traffic")) for cell in cells}, key=lambda law: (law != _HOT, law))


def _rows(cells: Sequence[CellResult]) -> list[str]:
    """Return the arms from the top down: what all are the difference to, the arms, and controls last."""
    roles = {arm.arm: arm.role for cell in cells for arm in cell.arms}
    order = {"baseline": 0, "arm": 1, "control": 2}
    return sorted(roles, key=lambda arm: order[roles[arm]])


def suits(result: RunResult) -> bool:
    """Whether nothing but traffic and body varies, and each of their settings was raced once."""
    return set(result.report.varying()) <= {"traffic", "body"} and bool(result.report.cells)


def _shown(cells: Sequence[CellResult], rows: Sequence[str]) -> tuple[Published, ...]:
    bodies = {cell.parameters.get("body") for cell in cells}
    laws = _laws(cells)
    mixed = any(law != _HOT for law in laws)
    same = all(cell.parameters.get("handlers") == 100 for cell in cells)
    return tuple(
        item
        for item in PUBLISHED
        if same and item.body in bodies and item.arm in rows and (_HOT in laws if item.hot else mixed)
    )


def published(result: RunResult) -> tuple[str, ...]:
    """Return in words the published figures that are drawn beside this run's."""
    cells = result.report.cells
    return tuple(
        f"{item.arm}, {item.body} bodies, {'hot' if item.hot else 'mixed'}, "
        f"{item.ns_per_packet:g} ns/packet ({PUBLISHED_MACHINE})"
        for item in _shown(cells, _rows(cells))
    )


def mechanism(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw costs with their intervals, a row a mechanism, a mark a kind of traffic; the published figures as rings.

    Without `ax`: a panel a body. With `ax`: the first body alone.
    """
    bodies = _bodies(result)
    cells = result.report.cells
    rows = _rows(cells)
    mixed = [law for law in _laws(cells) if law != _HOT]
    looks = {**_LOOKS, **{law: _MIXED[index % len(_MIXED)] for index, law in enumerate(mixed)}}
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _panel(ax, next(iter(bodies.values())), rows, looks)
        return figure
    figure = style.new_figure(_WIDTH_INCHES, 1.9 + 0.36 * len(rows))
    panels = figure.subplots(1, len(bodies), sharey=True, squeeze=False)[0]
    for panel, (body, found) in zip(panels, bodies.items(), strict=True):
        _panel(panel, found, rows, looks)
        style.title(panel, f"{body} bodies" if body else "")
    _legend(figure, cells, looks, rings=bool(_shown(cells, rows)))
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=12, color=style.INK)
    style.note(figure, result.machine.name, cells)
    return figure


def _panel(ax: Axes, cells: Sequence[CellResult], rows: Sequence[str], looks: dict[str, style.Look]) -> None:
    height = {arm: len(rows) - 1 - row for row, arm in enumerate(rows)}
    for arm in rows:
        medians = [cell[arm].median for cell in cells if arm in cell]
        if len(medians) > 1:
            ax.plot([min(medians), max(medians)], [height[arm]] * 2, color=style.FAINT, linewidth=3, zorder=1)
        if not medians:
            ax.annotate(
                "not for these handlers", (0.02, height[arm]), xycoords=("axes fraction", "data"), va="center",
                fontsize=8, color=style.GREY,
            )  # fmt: skip
    for cell in cells:
        look = looks[str(cell.parameters.get("traffic"))]
        for found in cell.arms:
            low = found.median if found.low is None else found.low
            high = found.median if found.high is None else found.high
            ax.errorbar(
                found.median,
                height[found.arm],
                xerr=[[max(found.median - low, 0.0)], [max(high - found.median, 0.0)]],
                color=look.colour,
                marker=look.mark,
                markersize=6,
                markerfacecolor="white" if cell.void else look.colour,
                capsize=2.5,
                elinewidth=1.2,
                zorder=3,
            )
    for item in _shown(cells, rows):
        ax.plot(
            item.ns_per_packet, height[item.arm], marker="o", markersize=11, markerfacecolor="none",
            markeredgecolor=style.GREY, markeredgewidth=1.2, linestyle="none", zorder=2,
        )  # fmt: skip
    style.tidy(ax, grid="x")
    ax.set_xlim(0, None)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_yticks([height[arm] for arm in rows], [_row_name(cells, arm) for arm in rows])
    ax.set_xlabel(cells[0].unit, fontsize=9)


def _row_name(cells: Sequence[CellResult], arm: str) -> str:
    control = any(found.arm == arm and found.role == "control" for cell in cells for found in cell.arms)
    return style.literal(f"{arm} (control)" if control else arm)


def _legend(figure: Figure, cells: Sequence[CellResult], looks: dict[str, style.Look], *, rings: bool) -> None:
    from matplotlib.lines import Line2D

    def mark(look: style.Look, label: str, *, filled: bool = True, size: float = 6) -> Line2D:
        return Line2D(
            [], [], linestyle="none", marker=look.mark, markersize=size, markeredgecolor=look.colour,
            markerfacecolor=look.colour if filled else "none", label=label,
        )  # fmt: skip

    names = {law: "hot: one target" if law == _HOT else f"{law}: many targets" for law in _laws(cells)}
    entries = [mark(looks[law], name) for law, name in names.items()]
    if rings:
        entries.append(mark(style.Look(style.GREY, "o"), PUBLISHED_MACHINE, filled=False, size=10))
    for reason in dict.fromkeys(reason for cell in cells if (reason := style.void_reason(cell)) is not None):
        entries.append(mark(style.Look(style.GREY, "o"), f"void: {reason}", filled=False))
    figure.legend(
        handles=entries, loc="outside upper right", ncols=2, frameon=False, fontsize=8.5, labelcolor=style.GREY,
        handletextpad=0.3,
    )  # fmt: skip
