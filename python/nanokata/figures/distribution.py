"""What traffic makes of each way of finding, and which share of the table's win sorting captures, by permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanokata.results.records import CellResult, Contrast

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

_WIDTH_INCHES = 10.0
_OWN = {"traffic", "selections", "permutation"}
_FAMILY = "captured:"
_PUBLISHED = "published:"
_MOST_BESIDE = 0.36
"""Points of one column spread this far to either side."""
_SHARED = ("scan", "scan_ordered", "table_compact")
_STRONG = _SHARED


def _whole(result: RunResult) -> list[CellResult]:
    return [cell for cell in result.cells if cell.parameters.get("selections") == "all"]


def _name(traffic: str) -> str:
    """Return a traffic's name in lines that fit a column; a path's last part."""
    return traffic.rpartition("/")[2].replace("_", "\n")


def _shares(result: RunResult) -> dict[str, list[Contrast]]:
    """Return the shares that sorting captures, by traffic: one a permutation, or a single one."""
    found: dict[str, list[Contrast]] = {}
    for traffic in dict.fromkeys(str(cell.parameters["traffic"]) for cell in result.cells):
        many = [item for item in result.contrasts if item.name.startswith(f"{_FAMILY}{traffic}:")]
        one = [item for item in result.contrasts if item.name == f"{_FAMILY}{traffic}"]
        if many or one:
            found[traffic] = many or one
    return found


def suits(result: RunResult) -> bool:
    """Whether nothing but the traffic and its permutation varies, and there is more than one race."""
    varying = set(result.report.varying())
    return bool(varying) and varying <= _OWN and bool(_shares(result))


def distribution(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw each arm's cost by traffic, and below the share of the win that sorting captures for each permutation.

    With `ax`: the shares alone.
    """
    if ax is not None:
        figure, ax = style.axes_or_new(ax, 0, 0)
        _share_panel(ax, result)
        return figure
    whole = _whole(result)
    figure = style.new_figure(_WIDTH_INCHES, 7.6 if whole else 4.4)
    if whole:
        top, bottom = figure.subplots(2, 1, height_ratios=(1.25, 1))
        _cost_panel(top, whole)
    else:
        bottom = figure.add_subplot()
    _share_panel(bottom, result)
    figure.suptitle(result.title, x=0.01, ha="left", fontsize=12, color=style.INK)
    style.note(figure, result.machine.name, result.cells)
    return figure


def _cost_panel(ax: Axes, cells: list[CellResult]) -> None:
    arms = list(dict.fromkeys(arm.arm for cell in cells for arm in cell.arms if arm.role != "control"))
    looks = style.looks(arms)
    step = 0.8 / max(len(arms), 1)
    for number, arm in enumerate(arms):
        look = looks[arm]
        first = True
        for column, cell in enumerate(cells):
            if arm not in cell:
                continue
            found = cell[arm]
            below = 0.0 if found.low is None else max(found.median - found.low, 0.0)
            above = 0.0 if found.high is None else max(found.high - found.median, 0.0)
            ax.errorbar(
                column + (number - (len(arms) - 1) / 2) * step, found.median, yerr=[[below], [above]],
                color=look.colour, marker=look.mark, markersize=6.5 if arm in _STRONG else 5, linestyle="none",
                capsize=2.5, elinewidth=1.4, markerfacecolor="white" if cell.void else look.colour,
                label=arm if first else None,
            )  # fmt: skip
            first = False
    for column in range(1, len(cells)):
        ax.axvline(column - 0.5, color=style.FAINT, linewidth=0.8, zorder=0)
    style.tidy(ax)
    ax.set_yscale("log")
    _plain_log(ax)
    ax.set_xticks(range(len(cells)), [_name(str(cell.parameters["traffic"])) for cell in cells])
    ax.set_xlim(-0.5, len(cells) - 0.5)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel(cells[0].unit, fontsize=9)
    style.title(ax, "every way of finding, first permutation")
    for reason in dict.fromkeys(filter(None, map(style.void_reason, cells))):
        ax.plot([], [], "o", markerfacecolor="white", markeredgecolor=style.GREY, label=f"void: {reason}")
    ax.legend(
        loc="center left", bbox_to_anchor=(1.005, 0.5), frameon=False, fontsize=8.5, labelcolor=style.INK,
        handletextpad=0.2,
    )  # fmt: skip


def _plain_log(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _share_panel(ax: Axes, result: RunResult) -> None:
    from matplotlib.ticker import PercentFormatter

    shares = _shares(result)
    for column, (traffic, found) in enumerate(shares.items()):
        _draw_shares(ax, column, found, _in_probes(result, traffic))
        _draw_middle(ax, column, found, result, traffic)
        _draw_published(ax, column, traffic, result)
    low, high = ax.get_ylim()
    # Room for the figures below every point.
    ax.set_ylim(min(low, 0.0) - 0.16 * (max(high, 1.0) - min(low, 0.0)), max(high, 1.0) + 0.04)
    ax.axhline(1, color=style.GREY, linewidth=0.8, zorder=0)
    ax.axhline(0, color=style.GREY, linewidth=0.8, zorder=0)
    style.tidy(ax)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    # What lies below zero is room for text, unless a share does.
    ax.set_yticks([tick for tick in ax.get_yticks() if min(low, 0.0) - 1e-9 <= tick <= max(high, 1.0)])
    ax.set_xticks(range(len(shares)), [_name(traffic) for traffic in shares])
    ax.set_xlim(-0.5, len(shares) - 0.5)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("share of the table's win", fontsize=9)
    style.title(ax, "what sorting the list captures: a point a permutation, its interval, their median")
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    if once:
        ax.legend(
            once.values(), once.keys(), loc="center left", bbox_to_anchor=(1.005, 0.5), frameon=False, fontsize=8.5,
            labelcolor=style.INK, handletextpad=0.4,
        )  # fmt: skip


def _in_probes(result: RunResult, traffic: str) -> dict[str, float]:
    """Return the share in probes, exact, by the name of the contrast that has the measured one."""
    found = {}
    for cell in result.cells:
        if cell.parameters["traffic"] != traffic or not all(arm in cell for arm in _SHARED):
            continue
        probes = [cell[arm].probes for arm in _SHARED]
        means = [item.mean for item in probes if item is not None]
        if len(means) == len(_SHARED) and means[0] > means[2]:
            share = (means[0] - means[1]) / (means[0] - means[2])
            alone = cell.parameters["selections"] == "all"
            found[f"{_FAMILY}{traffic}" if alone else f"{_FAMILY}{traffic}:{cell.parameters['permutation']}"] = share
    return found


def _draw_shares(ax: Axes, column: int, found: list[Contrast], in_probes: dict[str, float]) -> None:
    known = sorted((item for item in found if item.value is not None), key=lambda item: item.value or 0.0)
    for place, item in enumerate(known):
        value = item.value or 0.0
        beside = 0.0 if len(known) == 1 else _MOST_BESIDE * (2 * place / (len(known) - 1) - 1)
        below = 0.0 if item.low is None else max(value - item.low, 0.0)
        above = 0.0 if item.high is None else max(item.high - value, 0.0)
        if item.name in in_probes:
            ax.plot(
                column + beside, in_probes[item.name], marker="_", markersize=8, markeredgewidth=1.6,
                color=style.ORANGE, linestyle="none", label="in probes (exact)", zorder=2,
            )  # fmt: skip
        ax.errorbar(
            column + beside, value, yerr=[[below], [above]], color=style.BLUE, marker="o", markersize=4.5,
            capsize=0, elinewidth=1.2, markerfacecolor="white" if item.void else style.BLUE, linestyle="none",
            label="void" if item.void else "measured",
        )  # fmt: skip


def _draw_middle(ax: Axes, column: int, found: list[Contrast], result: RunResult, traffic: str) -> None:
    """Draw the median over permutations, and write it with the range."""
    values = [item.value for item in found if item.value is not None and not item.void]
    middle = next((item for item in result.contrasts if item.name == f"{_FAMILY}{traffic}"), None)
    if middle is None or middle.value is None or not values:
        return
    if len(found) > 1:
        ax.plot(
            [column - 0.42, column + 0.42], [middle.value] * 2, color=style.VERMILION, linewidth=1.8, zorder=2,
            label="median",
        )  # fmt: skip
        text = f"{100 * middle.value:.0f} % ({100 * min(values):.0f}–{100 * max(values):.0f})"
    else:
        text = f"{100 * middle.value:.0f} %"
    ax.annotate(
        text, (column, 0.02), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=9,
        color=style.INK, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
    )  # fmt: skip


def published(result: RunResult) -> tuple[str, ...]:
    """Return in words the published share that is drawn beside this run's."""
    return tuple(
        f"{fact.name.removeprefix(_PUBLISHED)}: sorting captures {100 * fact.value:.0f} % (published kata, i9-13980HX)"
        for fact in result.facts
        if fact.name.startswith(_PUBLISHED) and fact.value is not None
    )


def _draw_published(ax: Axes, column: int, traffic: str, result: RunResult) -> None:
    for fact in result.facts:
        if fact.name == f"{_PUBLISHED}{traffic}" and fact.value is not None:
            ax.plot(
                column + 0.46, fact.value, marker="D", markersize=8, markerfacecolor="none",
                markeredgecolor=style.GREY, markeredgewidth=1.3, linestyle="none",
                label="published kata,\ni9-13980HX",
            )  # fmt: skip
