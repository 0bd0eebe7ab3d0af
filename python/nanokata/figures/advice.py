"""The figure of an advice: what list, sorted list and table cost, on this traffic and at worst, against the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanokata.render import numbers
from nanokata.render.advice import CHOICES

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.advice import Advice

_WAYS = ("list", "list, sorted", "table")
_SHIFT = 0.14


def advice(found: Advice, *, ax: Axes | None = None) -> Figure:
    """Draw a row a way: its cost on this traffic and on the packets worst for a list, beside the budget."""
    figure, axes = style.axes_or_new(ax, 9.0, 3.4)
    costs = found.costs
    worst = "packets that nobody claims" if costs.measured else "the worst packets"
    for shift, figures, colour, mark, name in (
        (-_SHIFT, costs.usual, style.BLUE, "o", "this traffic"),
        (_SHIFT, costs.worst, style.VERMILION, "s", worst),
    ):
        rows = [row + shift for row in range(len(_WAYS))]
        values = [item.value for item in figures]
        ends = [[item.value - item.low for item in figures], [item.high - item.value for item in figures]]
        axes.errorbar(
            values, rows, xerr=None if not costs.measured else ends, fmt=mark, markersize=6, color=colour,
            markerfacecolor=colour if costs.measured else "white", linewidth=1.4, capsize=3, label=name,
        )  # fmt: skip
        for value, row in zip(values, rows, strict=True):
            text = f"{numbers.cost(value)} ns ({numbers.percent(value / found.budget_ns)} of the budget)"
            axes.annotate(
                text, (value, row), xytext=(9, 0), textcoords="offset points", va="center", fontsize=8.5,
                color=colour, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )  # fmt: skip
    axes.axvline(found.budget_ns, color=style.INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        f"budget {numbers.cost(found.budget_ns)} ns", (found.budget_ns, -0.62), xytext=(4, 0),
        textcoords="offset points", fontsize=8.5, color=style.INK, va="center",
    )  # fmt: skip
    every = [item.value for item in (*costs.usual, *costs.worst)] + [found.budget_ns]
    # Room for the labels right of the dearest point, on a logarithmic axis.
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_xlim(min(every) / 1.5, max(every) * (max(every) / min(every)) ** 0.45 * 1.3)
    probings = (found.list, found.sorted, found.table)
    axes.set_yticks(
        range(len(_WAYS)),
        [f"{way}\n{item.mean:.1f} probes, {item.worst} at worst" for way, item in zip(_WAYS, probings, strict=True)],
    )
    axes.set_ylim(len(_WAYS) - 0.45, -0.85)
    axes.set_xlabel("ns a packet" if costs.measured else "ns a packet, assumed from probes", fontsize=9.5)
    style.tidy(axes, grid="x")
    style.title(axes, f"{found.handlers:,} handlers: {CHOICES[found.choice]}")
    style.legend(axes, (), above=True)
    if ax is None:
        how = "bars are 95 % intervals" if costs.measured else "hollow: not measured"
        figure.supxlabel(f"{found.machine.name}; {how}", x=0.01, ha="left", fontsize=8, color=style.GREY)
    return figure
