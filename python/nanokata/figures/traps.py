"""A trap's figure: the wrong and the right answer, what the check said of each, and what each race measured."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nanokata.render.numbers import cost
from nanokata.results.records import Answer, CellResult, Trap

from . import curves, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_WRONG, _INJECTED, _RIGHT = style.VERMILION, style.ORANGE, style.BLUE
_COLOURS = {"wrong": _WRONG, "injected": _INJECTED, "right": _RIGHT}
_TEXT_WIDTH = 84
"""Characters of a line of text across the panel of answers."""
_MOST_LINES = 2
_BACKED: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
"""Behind text, so that no line of the grid crosses it."""


def suits(result: RunResult) -> bool:
    """Whether the result has a trap to draw: both its wrong and its right configuration were run."""
    return result.trap is not None


def traps(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw a trap: its two answers with their intervals and what the check said; beside them every race's costs.

    Parameters
    ----------
    result : RunResult
        A run of an experiment of the area ``traps``, with the wrong and the right configuration.
    ax : matplotlib Axes, optional
        Where to draw the answers alone; a new figure with both panels if left out.
    """
    trap = result.trap
    if trap is None:
        raise ValueError(f"{result.experiment} has no wrong and right answer: run both configurations")
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _answers(ax, trap)
        return figure
    figure = style.new_figure(10, 3.9)
    left, right = figure.subplots(1, 2, width_ratios=[1.55, 1])
    _answers(left, trap)
    style.title(left, result.title)
    if result.report.along() is None:
        _races(right, result)
    else:
        _sweep(right, result)
    style.note(figure, result.machine.name, result.cells)
    return figure


def _answers(ax: Axes, trap: Trap) -> None:
    from matplotlib.ticker import MaxNLocator

    rows = [
        (
            1.0,
            trap.wrong,
            _INJECTED if trap.bite == "injected" else _WRONG,
            True,
            f"{trap.check} {_word(trap.fires, 'fires')}: {trap.wrong_detail}",
        ),
        (0.0, trap.right, _RIGHT, False, f"{trap.check} {_word(trap.holds, 'holds')}: {trap.right_detail}"),
    ]
    for at, answer, colour, wrong, said in rows:
        _point(ax, at, answer, colour, hollow=wrong)
        ax.annotate(
            _wrapped(_capital(answer.text)),
            (0.015, at + 0.13),
            xycoords=("axes fraction", "data"),
            va="bottom",
            fontsize=8.8,
            color=style.INK,
            bbox=_BACKED,
        )
        ax.annotate(
            _wrapped(said),
            (0.015, at - 0.13),
            xycoords=("axes fraction", "data"),
            va="top",
            fontsize=8,
            color=style.GREY,
            bbox=_BACKED,
        )
    style.tidy(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_yticks([1.0, 0.0], ["wrong" if trap.bite != "injected" else "wrong\n(injected)", "right"])
    ax.set_ylim(-0.55, 1.5)
    ends = [end for answer in (trap.wrong, trap.right) for end in (answer.low, answer.value, answer.high)]
    low, high = _limits([end for end in ends if end is not None])
    ax.set_xlim(low, high)
    ax.axvline(0, color=style.GREY, linewidth=1, zorder=1)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.set_xlabel(f"the answer ({trap.right.unit}){_bite(trap)}", fontsize=9)


def _limits(ends: Sequence[float]) -> tuple[float, float]:
    low, high = min(0.0, *ends), max(0.0, *ends)
    pad = 0.06 * (high - low or 1.0)
    return low - pad, high + 2.5 * pad


def _bite(trap: Trap) -> str:
    match trap.bite:
        case "yes":
            return ""
        case "injected":
            return "; its cause is injected"
        case "no":
            return "; it doesn't bite on this machine"


def _word(outcome: str, good: str) -> str:
    return {"held": good, "failed": f"does NOT {good.removesuffix('s')}"}.get(outcome, "can't be examined here")


def _point(ax: Axes, at: float, answer: Answer, colour: str, *, hollow: bool) -> None:
    below = math.nan if answer.low is None else max(answer.value - answer.low, 0.0)
    above = math.nan if answer.high is None else max(answer.high - answer.value, 0.0)
    ax.errorbar(
        answer.value,
        at,
        xerr=[[below], [above]],
        color=colour,
        marker="X" if hollow else "o",
        markersize=9,
        markerfacecolor="white" if hollow else colour,
        capsize=4,
        elinewidth=1.8,
        zorder=4,
    )
    ax.annotate(
        cost(answer.value),
        (answer.value if answer.high is None else max(answer.value, answer.high), at),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontsize=9.5,
        fontweight="bold",
        color=colour,
    )


def _races(ax: Axes, result: RunResult) -> None:
    """Draw each arm's cost in each configuration."""
    cells = result.cells
    arms = list(dict.fromkeys(arm.arm for cell in cells for arm in cell.arms))
    for number, cell in enumerate(cells):
        name = str(cell.parameters.get("configuration", ""))
        colour = _COLOURS.get(name, style.INK)
        offset = 0.18 * (number - (len(cells) - 1) / 2)
        for row, arm in enumerate(arms):
            if arm in cell:
                found = cell[arm]
                _bar(ax, row + offset, found.median, found.low, found.high, colour, hollow=cell.faulty or cell.void)
        label = f"{name} (void)" if cell.void and not cell.faulty else name
        face = "white" if cell.faulty or cell.void else colour
        ax.plot([], [], marker="o", linestyle="none", color=colour, markerfacecolor=face, label=label)
    style.tidy(ax, grid="x")
    ax.set_yticks(range(len(arms)), arms)
    ax.set_ylim(len(arms) - 0.4, -0.6)
    highest = max(arm.median if arm.high is None else arm.high for cell in cells for arm in cell.arms)
    ax.set_xlim(-0.03 * (highest or 1.0), 1.06 * (highest or 1.0))
    ax.set_xlabel(cells[0].unit, fontsize=9)
    style.title(ax, "what was measured")
    ax.legend(frameon=False, fontsize=8.5, labelcolor=style.GREY, loc="upper center", ncols=len(cells),
              bbox_to_anchor=(0.45, -0.2), handletextpad=0.2, columnspacing=1.0)  # fmt: skip


def _bar(
    ax: Axes, at: float, median: float, low: float | None, high: float | None, colour: str, *, hollow: bool
) -> None:
    ax.errorbar(
        median,
        at,
        xerr=[
            [math.nan if low is None else max(median - low, 0.0)],
            [math.nan if high is None else max(high - median, 0.0)],
        ],
        color=colour,
        marker="o",
        markersize=5.5,
        markerfacecolor="white" if hollow else colour,
        capsize=3,
        elinewidth=1.4,
        zorder=3,
    )


def _sweep(ax: Axes, result: RunResult) -> None:
    """Draw costs over the parameter that varies; those of faulty races are hollow."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    from .series import apart

    along = str(result.report.along())
    cells = result.cells
    arms = [arm.arm for arm in cells[0].arms if arm.role != "control"]
    looks = style.looks(arms)
    for arm in arms:
        found = curves.points(cells, along, arm)
        curves.draw_arm(ax, found, looks[arm], strong=arm == cells[0].baseline.arm)
        faulty = [(float(cell.parameters[along]), cell[arm].median) for cell in cells if _hollow(cell)]
        curves.hollow(ax, faulty, looks[arm], order=4)
        ax.plot([], [], color=looks[arm].colour, marker=looks[arm].mark, label=arm)
    style.tidy(ax)
    values = sorted({float(cell.parameters[along]) for cell in cells})
    if values[0] > 0:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_locator(FixedLocator(apart(values, [f"{value:,.0f}" for value in values])))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.set_ylim(0, None)
    unit = result.unit_of(along)
    ax.set_xlabel(f"{along} ({unit})" if unit else along, fontsize=9)
    ax.set_ylabel(cells[0].unit, fontsize=9)
    style.title(ax, "hollow: the check fires")
    style.legend(ax, [])


def _hollow(cell: CellResult) -> bool:
    return cell.faulty or cell.void


def _wrapped(text: str) -> str:
    lines = textwrap.wrap(text, _TEXT_WIDTH)
    if len(lines) > _MOST_LINES:
        lines = [
            *lines[: _MOST_LINES - 1],
            textwrap.shorten(" ".join(lines[_MOST_LINES - 1 :]), _TEXT_WIDTH, placeholder=" …"),
        ]
    return "\n".join(lines)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
