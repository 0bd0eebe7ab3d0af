"""A simulation's figures: events an operation, a panel each, and instructions by part. Exact counts: no intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.errors import InvalidArgument
from nanokata.render.simulation import count
from nanokata.results.simulation import EVENTS, PARTS

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results.simulation import SimulatedArm, SimulatedCell, SimulatedProfile, SimulationResult

SHOWN = ("instructions", "i1_misses", "conditional_mispredicts", "indirect_mispredicts", "d1_misses")
"""The events that are drawn unless others are asked for."""

_TITLES = {
    "instructions": "instructions",
    "data_reads": "data reads",
    "data_writes": "data writes",
    "i1_misses": "I1 misses",
    "d1_misses": "D1 misses",
    "ll_misses": "LL misses",
    "conditional_branches": "conditional\nbranches",
    "conditional_mispredicts": "conditional\nmispredictions",
    "indirect_branches": "indirect\nbranches",
    "indirect_mispredicts": "indirect\nmispredictions",
}
_ROW_HEIGHT = 0.3
_COLOURS = {"loop": style.VERMILION, "matches": style.ORANGE, "process": style.BLUE, "other": style.GREY}
_HATCHES = {"loop": "", "matches": "///", "process": "", "other": "..."}

_Row = tuple[str, "SimulatedArm"]


def _rows(pairs: Sequence[tuple[SimulatedCell, SimulatedArm]], settings: Sequence[str]) -> list[_Row]:
    """Return a label and an arm a row; the arm's name only where arms differ, the setting only where settings do."""
    arms_differ = len({arm.arm for _, arm in pairs}) > 1
    labels = []
    for (_, arm), setting in zip(pairs, settings, strict=True):
        words = [word for word in (setting, arm.arm if arms_differ or not setting else "") if word]
        labels.append((": ".join(words), arm))
    return labels


def simulation(result: SimulationResult, *, events: Sequence[str] | None = None, ax: Axes | None = None) -> Figure:
    """Draw events an operation: a panel an event, a row an arm and setting.

    Parameters
    ----------
    result : SimulationResult
        What to draw.
    events : sequence of str, optional
        Which events, by their names in the rows; five of them by default.
    ax : matplotlib Axes, optional
        Where to draw one event (the first of `events`); a new figure if left out.
    """
    chosen = tuple(SHOWN if events is None else events)
    for event in chosen or ("",):
        if event not in EVENTS:
            wanted = f"wanted some of {', '.join(EVENTS)}"
            raise InvalidArgument(f"events = {event!r}: {wanted}", name="events", value=repr(event), wanted=wanted)
    pairs = [(cell, arm) for cell in result.cells for arm in cell.arms]
    rows = _rows(pairs, [result.spoken(cell) for cell, _ in pairs])
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _panel(ax, rows, chosen[0], labelled=True)
        return figure
    figure = style.new_figure(9.6, 1.5 + _ROW_HEIGHT * len(rows))
    panels = figure.subplots(1, len(chosen), squeeze=False)[0]
    for number, (panel, event) in enumerate(zip(panels, chosen, strict=True)):
        _panel(panel, rows, event, labelled=number == 0)
    note = (
        f"events a {result.report.operation}, simulated by callgrind (valgrind {result.report.valgrind}): exact counts"
    )
    figure.supxlabel(f"{note}; {result.machine.name}", x=0.01, ha="left", fontsize=8, color=style.GREY)
    return figure


def _panel(ax: Axes, rows: Sequence[_Row], event: str, *, labelled: bool) -> None:
    values = [arm[event] for _, arm in rows]
    most = max(values, default=0.0)
    looks = style.looks(list(dict.fromkeys(arm.arm for _, arm in rows)))
    for row, ((_, arm), value) in enumerate(zip(rows, values, strict=True)):
        ax.barh(row, value, height=0.62, color=looks[arm.arm].colour, zorder=2)
        ax.annotate(
            count(value), (value, row), xytext=(3, 0), textcoords="offset points",
            va="center", fontsize=8, color=style.INK,
        )  # fmt: skip
    style.tidy(ax, grid="")
    # Room for the numbers beside the bars; one event never seen still has an axis.
    ax.set_xlim(0, 1.75 * most if most else 1)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)))
    ax.set_yticklabels([label for label, _ in rows] if labelled else [])
    ax.tick_params(axis="y", length=0)
    ax.set_title(_TITLES[event], loc="left", fontsize=9.5, color=style.INK, fontweight="bold", pad=6)


def profile(profile: SimulatedProfile, *, ax: Axes | None = None) -> Figure:
    """Draw each arm's instructions an operation by part, exclusive: a bar an arm and setting."""
    pairs = list(profile.arms())
    rows = _rows(pairs, [profile.result.spoken(cell) for cell, _ in pairs])
    own = ax is None
    figure, ax = style.axes_or_new(ax, 8.6, 1.5 + 1.3 * _ROW_HEIGHT * len(rows))
    longest = max((arm["instructions"] for _, arm in rows), default=1.0)
    for row, (_, arm) in enumerate(rows):
        left = 0.0
        for part in PARTS:
            value = arm.profile[part].exclusive.instructions / arm.operations
            ax.barh(
                row, value, left=left, height=0.62, color=_COLOURS[part], hatch=_HATCHES[part], edgecolor="white",
                linewidth=0.6, label=part if row == 0 else None, zorder=2,
            )  # fmt: skip
            left += value
        shares = ", ".join(f"{part} {100 * arm.profile.share(part):.0f} %" for part in PARTS[:-1])
        ax.annotate(
            f"{count(arm['instructions'])}: {shares}", (left, row), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize=8, color=style.INK,
        )  # fmt: skip
    style.tidy(ax, grid="")
    ax.set_xlim(0, 1.62 * longest)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)))
    ax.set_yticklabels([label for label, _ in rows])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(
        f"instructions a {profile.result.report.operation}, exclusive, simulated", fontsize=9, color=style.INK
    )
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=len(PARTS), frameon=False, fontsize=8.5, labelcolor=style.INK
    )
    if own:
        text = "exact counts; loop: the arm's own loop with what was inlined into it"
        figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color=style.GREY)
    return figure
