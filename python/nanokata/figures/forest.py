"""A race as a forest plot: each arm's time relative to its baseline, with the band that counts as the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.results.records import ArmResult, CellResult

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_LOG_BEYOND = 1.6
"""Where the largest ratio is this much above or below one, the axis is logarithmic."""


def _limits(arms: Sequence[ArmResult], margin: float) -> tuple[float, float, bool]:
    # A race of hardly any blocks may have a ratio that reaches down to nothing: no place on a logarithmic axis.
    lows = [end for arm in arms for end in (arm.ratio_low, arm.ratio) if end is not None and end > 0]
    highs = [end for arm in arms for end in (arm.ratio_high, arm.ratio) if end is not None]
    low, high = min([1 - 2 * margin, *lows]), max([1 + 2 * margin, *highs])
    logarithmic = max(high, 1 / low) > _LOG_BEYOND
    if logarithmic:
        pad = 0.08 * math.log(high / low)
        return low * math.exp(-pad), high * math.exp(pad), True
    pad = 0.08 * (high - low)
    return low - pad, high + pad, False


def forest(result: RunResult, *, cell: int | None = None, ax: Axes | None = None) -> Figure:
    """Draw the ratios of a race: a row an arm, its interval, its verdict in words, controls below a rule.

    Parameters
    ----------
    result : RunResult
        A race, or a run: all its races, a panel each.
    cell : int, optional
        Draw this race of a run only.
    ax : matplotlib Axes, optional
        Where to draw one race (the first, unless `cell` says another); a new figure if left out.
    """
    races = result.cells if cell is None and ax is None else (result.cells[cell or 0],)
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _panel(ax, races[0])
        return figure
    heights = [1.1 + 0.36 * len(race.arms) for race in races]
    figure = style.new_figure(8.6, sum(heights))
    panels = figure.subplots(len(races), 1, squeeze=False, height_ratios=heights)
    for panel, race in zip(panels[:, 0], races, strict=True):
        _panel(panel, race)
        settings = (f"{name} {result.spoken(name, race.parameters[name])}" for name in result.report.varying())
        style.title(panel, ", ".join(settings) or result.title)
    return figure


def _panel(ax: Axes, race: CellResult) -> None:
    compared = sorted((arm for arm in race.arms if arm.ratio is not None), key=lambda arm: arm.role == "control")
    low, high, logarithmic = _limits(compared, race.margin)
    if logarithmic:
        ax.set_xscale("log")
    ax.set_xlim(low, high)
    band = race.margin if race.resolvable_margin is None else max(race.margin, race.resolvable_margin)
    ax.axvspan(1 - band, 1 + band, color=style.FAINT, alpha=0.5, linewidth=0, zorder=0)
    ax.axvspan(1 - race.margin, 1 + race.margin, color=style.FAINT, linewidth=0, zorder=0)
    ax.axvline(1, color=style.GREY, linewidth=1, zorder=1)
    for row, arm in enumerate(compared):
        _wider_band(ax, row, arm, race)
        _draw_row(ax, row, arm, void=race.void)
    style.legend(ax, [style.void_reason(race)], above=True)
    controls = sum(arm.role == "control" for arm in compared)
    if 0 < controls < len(compared):
        ax.axhline(len(compared) - controls - 0.5, color=style.FAINT, linewidth=1)
    _dress(ax, race, compared)


def _wider_band(ax: Axes, row: int, arm: ArmResult, race: CellResult) -> None:
    """Draw the band by which an arm in one code layout was judged, in its own row."""
    if arm.margin is not None and arm.judged_wider(race):
        ax.fill_betweenx(
            [row - 0.4, row + 0.4], 1 - arm.margin, 1 + arm.margin, color=style.FAINT, alpha=0.5, linewidth=0, zorder=0
        )


def _draw_row(ax: Axes, row: int, arm: ArmResult, *, void: bool) -> None:
    ratio, low, high = arm.ratio, arm.ratio_low, arm.ratio_high
    if ratio is None:
        return
    wide = low is None or high is None
    colour = style.GREY if void or wide else style.VERDICT_COLOURS.get(arm.verdict or "", style.INK)
    ax.errorbar(
        ratio,
        row,
        xerr=[
            [math.nan if low is None else max(ratio - low, 0.0)],
            [math.nan if high is None else max(high - ratio, 0.0)],
        ],
        color=colour,
        capsize=3.5,
        marker="D" if arm.role == "control" else "o",
        markersize=6,
        elinewidth=1.8,
        markerfacecolor="white" if void or wide or arm.verdict == "not resolved" else colour,
        zorder=3,
    )
    ax.annotate(
        "too few blocks" if wide else "void" if void and arm.role == "arm" else style.literal(arm.words),
        xy=(1.015, row),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=9,
        color=colour,
        annotation_clip=False,
    )


def _dress(ax: Axes, race: CellResult, compared: Sequence[ArmResult]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    style.tidy(ax, grid="x")
    ax.set_yticks(range(len(compared)))
    names = (arm.arm if arm.role != "control" else f"{arm.arm} (control)" for arm in compared)
    ax.set_yticklabels([style.literal(name) for name in names])
    ax.set_ylim(len(compared) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    if ax.get_xscale() == "log":
        ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(
        style.literal(
            f"time relative to {race.baseline.arm} (its {race.unit}: {race.baseline.median:.4g}); "
            f"{100 * race.level:.4g} % intervals; {_band(race)}"
        ),
        fontsize=8.5,
        color=style.GREY,
    )


def _band(race: CellResult) -> str:
    if race.bears_out == math.inf:
        return "controls bear out no difference: too few blocks"
    if race.bears_out is not None:
        return f"controls bear out differences beyond ±{100 * race.bears_out:.2f} % only"
    return f"the band, ±{100 * race.margin:g} %, counts as the same"
