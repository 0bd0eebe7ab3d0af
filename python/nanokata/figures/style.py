"""The house style, in one place: colours, marks, type, and axes without clutter."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results.records import CellResult

# Okabe and Ito, "Color Universal Design" (2008), https://jfly.uni-koeln.de/color/: told apart with any kind of
# colour vision. Yellow is left out (too faint for lines on white); grey and a dark purple extend the set.
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INK, GREY, PLUM, FAINT = "#222222", "#777777", "#5B3A8C", "#DDDDDD"

_CYCLE = (VERMILION, BLUE, GREEN, ORANGE, SKY, PURPLE, PLUM, GREY, INK)
_MARKS = ("o", "s", "D", "^", "v", "P", "X", "h", "*")

VERDICT_COLOURS = {"faster": BLUE, "slower": VERMILION, "same": INK, "not resolved": GREY}


class Look(NamedTuple):
    """How an arm is drawn: the same in every panel."""

    colour: str
    mark: str


def looks(arms: Sequence[str]) -> dict[str, Look]:
    """Return a look for each arm; neighbours in the list differ in colour and mark."""
    return {arm: Look(_CYCLE[index % len(_CYCLE)], _MARKS[index % len(_MARKS)]) for index, arm in enumerate(arms)}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure outside pyplot's bookkeeping; sizes in inches."""
    from matplotlib.figure import Figure as NewFigure

    return NewFigure(figsize=(width, height), dpi=144, layout="constrained", facecolor="white")


def axes_or_new(ax: Axes | None, width: float, height: float) -> tuple[Figure, Axes]:
    """Return `ax` and its figure, or a new figure with one axes."""
    if ax is not None:
        return cast("Figure", ax.get_figure(root=True)), ax
    figure = new_figure(width, height)
    return figure, figure.add_subplot()


def tidy(ax: Axes, *, grid: str = "y") -> None:
    """Remove what doesn't carry data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(colors=INK, labelsize=9, color=GREY)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(axis=grid, color=FAINT, linewidth=0.7)  # type: ignore[arg-type]


def literal(text: str) -> str:
    """Return a text such that matplotlib shows it as it is: between two dollar signs it would read mathematics."""
    return text.replace("$", r"\$")


def title(ax: Axes, text: str) -> None:
    """Set a panel's title, left-aligned."""
    ax.set_title(literal(text), loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=8)


def void_reason(cell: CellResult) -> str | None:
    """Return in a few words why a race is void; `None` if it isn't."""
    if not cell.void:
        return None
    return textwrap.shorten((cell.reason or "no verdict").partition(": ")[0], 40, placeholder="…")


def legend(
    ax: Axes, reasons: Iterable[str | None], *, loc: Literal["best", "upper left"] = "best", above: bool = False
) -> None:
    """Draw the legend of what is labelled and of hollow points, one entry a reason why they are void.

    `above` the axes where rows of figures fill them.
    """
    for reason in dict.fromkeys(reason for reason in reasons if reason is not None):
        ax.plot(
            [], [], marker="o", markersize=6, markerfacecolor="white", markeredgecolor=GREY, linestyle="none",
            label=literal(f"void: {reason}"),
        )  # fmt: skip
    if ax.get_legend_handles_labels()[1]:
        drawn = ax.legend(loc=loc, frameon=False, fontsize=8.5, labelcolor=GREY, handletextpad=0.3)
        if above:
            drawn.set_loc("lower right")
            drawn.set_bbox_to_anchor((1.0, 1.0))


def note(figure: Figure, machine: str, cells: Iterable[CellResult]) -> None:
    """Write below a figure which machine it is from and what its bars are."""
    levels = ", ".join(sorted({f"{100 * cell.median_level:.4g} %" for cell in cells}))
    note_text(figure, f"{machine}; bars are {levels} intervals of the median")


def note_text(figure: Figure, text: str) -> None:
    """Write a line below a figure."""
    figure.supxlabel(literal(text), x=0.01, ha="left", fontsize=8, color=GREY)


def spread(positions: Sequence[float], gap: float, *, within: tuple[float, float] | None = None) -> list[float]:
    """Move label positions apart until neighbours are `gap` apart, each as near to its place as that allows.

    Those that have to stay `within` bounds come closer together than `gap` where there is no room for it.
    """
    if within is not None and len(positions) > 1:
        gap = min(gap, (within[1] - within[0]) / (len(positions) - 1))
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    # Pool-adjacent-violators on positions less their rank's offset: the least-squares spread.
    blocks: list[tuple[float, int]] = []
    for rank, index in enumerate(order):
        mean, size = positions[index] - rank * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    placed = [mean for mean, size in blocks for _ in range(size)]
    if within is not None:
        highest = max(within[0], within[1] - gap * (len(positions) - 1))
        placed = [min(max(mean, within[0]), highest) for mean in placed]
    result = [0.0] * len(positions)
    for rank, index in enumerate(order):
        result[index] = placed[rank] + rank * gap
    return result
