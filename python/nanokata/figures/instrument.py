"""The doctor's findings: how far an arm is from itself, and how often a verdict is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nanokata.instrument import LEAST_DETECTION, WORST_FALSE_VERDICTS

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.instrument import Doctor

_RATES = (
    ("false_verdict_rate", "called different\nfrom itself", WORST_FALSE_VERDICTS, "at most"),
    ("detection_rate_1", "+1 % of packets\ncalled slower", None, ""),
    ("detection_rate_2", "+2 % of packets\ncalled slower", LEAST_DETECTION, "at least"),
)
_APART = 0.16
"""Distance of a body's mark from the row's middle."""


def instrument(doctor: Doctor) -> Figure:
    """Draw what the doctor found: an arm against itself with the margin, and the rates of verdicts, a mark a body."""
    figure = style.new_figure(9.2, 3.1)
    itself, rates = figure.subplots(1, 2, width_ratios=(1, 1.35))
    looks = style.looks([str(body["body"]) for body in doctor["bodies"]])
    _itself(itself, doctor, looks)
    _rates(rates, doctor, looks)
    style.note_text(
        figure,
        f"{doctor['machine'].get('id', '')}; bars are 95 % intervals; {doctor['trials']} trials a body"
        if doctor["trials"]
        else f"{doctor['machine'].get('id', '')}; bars are 95 % intervals; one race a body, its blocks resampled",
    )
    return figure


def _offset(at: int, count: int) -> float:
    return (at - (count - 1) / 2) * 2 * _APART


def _itself(ax: Axes, doctor: Doctor, looks: Mapping[str, style.Look]) -> None:
    margin = 100 * doctor["margin"]
    ax.axvspan(-margin, margin, color=style.FAINT, linewidth=0, zorder=0)
    ax.axvline(0, color=style.GREY, linewidth=1, zorder=1)
    widest = 2 * margin
    for row, body in enumerate(doctor["bodies"]):
        ends = [body.get(f"again_{end}") for end in ("ratio", "low", "high")]
        if any(end is None for end in ends):
            continue
        middle, low, high = (100 * (end - 1) for end in ends if end is not None)
        widest = max(widest, 1.15 * abs(low), 1.15 * abs(high))
        look = looks[str(body["body"])]
        ax.errorbar(middle, row, xerr=[[middle - low], [high - middle]], **_bar(look))
    style.tidy(ax, grid="x")
    ax.set_xlim(-widest, widest)
    ax.set_yticks(range(len(doctor["bodies"])), [f"{body['body']} bodies" for body in doctor["bodies"]])
    ax.set_ylim(len(doctor["bodies"]) - 0.5, -0.5)
    ax.set_xlabel(f"difference in time (%); the band, ±{margin:g} %, counts as the same", fontsize=8.5)
    style.title(ax, "A table against itself")


def _bar(look: style.Look) -> dict[str, Any]:
    return {"color": look.colour, "marker": look.mark, "capsize": 3.5, "markersize": 6, "elinewidth": 1.8, "zorder": 3}


def _rates(ax: Axes, doctor: Doctor, looks: Mapping[str, style.Look]) -> None:
    bodies = doctor["bodies"]
    for row, (name, _, bound, words) in enumerate(_RATES):
        for at, body in enumerate(bodies):
            rate = body[name]
            share, low, high = (100 * rate[key] for key in ("rate", "low", "high"))
            # Of a rate at its very end the interval reaches to one side only.
            reach = [[max(share - low, 0.0)], [max(high - share, 0.0)]]
            look = looks[str(body["body"])]
            ax.errorbar(share, row + _offset(at, len(bodies)), xerr=reach, **_bar(look))
        if bound is not None:
            ax.plot([100 * bound] * 2, [row - 0.38, row + 0.38], color=style.INK, linewidth=1.2, linestyle=(0, (3, 2)))
            side = "left" if bound < 0.5 else "right"
            shift = 4 if bound < 0.5 else -4
            ax.annotate(
                f"{words} {100 * bound:g} %", (100 * bound, row + 0.38), xytext=(shift, 0), textcoords="offset points",
                fontsize=8, color=style.GREY, ha=side, va="bottom",
            )  # fmt: skip
    for body in bodies:
        look = looks[str(body["body"])]
        ax.plot([], [], color=look.colour, marker=look.mark, linestyle="none", label=f"{body['body']} bodies")
    style.tidy(ax, grid="x")
    ax.set_xlim(-3, 103)
    ax.set_yticks(range(len(_RATES)), [label for _, label, _, _ in _RATES])
    ax.set_ylim(len(_RATES) - 0.5, -0.5)
    ax.set_xlabel("share of verdicts (%)", fontsize=8.5)
    style.title(ax, "How often a verdict is so")
    style.legend(ax, [])
