"""Checks that need no clock, as tiles: what held, and what didn't."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.results.records import Check

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW = 9.6, 0.34
"""Inches: the figure's width, and the height of a row of tiles."""
_PER_ROW = 5
_LOOKS = {
    "held": (style.BLUE, "white", "✓"),
    "failed": (style.VERMILION, "white", "✗"),
    "not_applicable": (style.FAINT, style.INK, "–"),
}
"""Tile, letters and sign by outcome: told apart without colours too."""


def rows_of(checks: Sequence[Check]) -> list[tuple[str, list[tuple[str, Check]]]]:
    """Return the checks by family, a few a row, each with the part of its name that is its own in the family."""
    families: dict[str, list[tuple[str, Check]]] = {}
    for check in checks:
        family, _, own = check.name.partition(":")
        families.setdefault(family, []).append((own or family, check))
    return [
        (family if at == 0 else "", members[at : at + _PER_ROW])
        for family, members in families.items()
        for at in range(0, len(members), _PER_ROW)
    ]


def invariants(checks: Sequence[Check], *, title: str) -> Figure:
    """Draw a tile a check, a row or more a family; what failed is hatched besides."""
    rows = rows_of(checks)
    figure = style.new_figure(_WIDTH, 0.9 + _ROW * len(rows))
    ax = figure.add_subplot()
    for number, (_, members) in enumerate(rows):
        for at, (name, check) in enumerate(members):
            _tile(ax, at, number, name, check)
    ax.set_xlim(0, _PER_ROW)
    ax.set_ylim(len(rows), 0)
    ax.set_xticks([])
    ax.set_yticks([number + 0.5 for number in range(len(rows))], [style.literal(family) for family, _ in rows])
    ax.tick_params(axis="y", length=0, labelsize=9)
    for side in ax.spines.values():
        side.set_visible(False)
    held = sum(check.outcome == "held" for check in checks)
    style.title(ax, f"{title}: {held} of {len(checks)} held")
    return figure


def _tile(ax: Axes, column: int, row: int, name: str, check: Check) -> None:
    from matplotlib.patches import Rectangle

    colour, letters, sign = _LOOKS[check.outcome]
    hatch = "////" if check.outcome == "failed" else None
    ax.add_patch(
        Rectangle(
            (column + 0.01, row + 0.07), 0.98, 0.86, facecolor=colour, edgecolor="white", linewidth=0, hatch=hatch
        )
    )
    box = {"facecolor": colour, "edgecolor": "none", "pad": 1.5} if hatch else None
    ax.text(
        column + 0.5, row + 0.5, style.literal(f"{sign} {name}"), ha="center", va="center", fontsize=8.5, color=letters,
        bbox=box,
    )  # fmt: skip
