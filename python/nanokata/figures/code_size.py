"""Code sizes as bars, with the instruction cache's size beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.render.numbers import byte_count
from nanokata.results.records import Fact

from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nanokata.instrument import Machine

_LOG_SPAN = 20
"""Where the largest size is this many times the smallest, the axis is logarithmic."""


_HANDLERS = "handlers"
"""What the facts on the handlers' own bodies are named after."""


def sized(facts: Sequence[Fact]) -> list[tuple[str, float]]:
    """Return the facts that are sizes of code, by what they are the size of: ``dyn_trait (tiny, 100)``."""
    named = [(fact, fact.name.split(":")) for fact in facts if fact.unit == "bytes" and fact.value is not None]
    return [
        (f"{what} ({', '.join(more)})" if more else what, fact.value or 0.0)
        for fact, (family, what, *more) in ((fact, [*parts, ""][: max(2, len(parts))]) for fact, parts in named)
        if family in {"code", "size"}
    ]


def _short(size: float) -> str:
    """Return a size with three digits at most: the fourth says nothing beside a bar."""
    return byte_count(float(f"{size:.3g}")) if size < 1024 else byte_count(float(f"{size / 1024:.3g}") * 1024)


def instruction_cache(machine: Machine) -> int | None:
    """Return the bytes of an L1 instruction cache, if the card has them."""
    caches = machine.get("caches") or ()
    sizes = [
        int(cache["bytes"])
        for cache in caches
        if cache.get("level") == 1 and cache.get("kind") in {"instruction", "unified"} and cache.get("bytes")
    ]
    return min(sizes, default=None)


def code_size(facts: Sequence[Fact], machine: Machine) -> Figure:
    """Draw a bar a size, in the facts' order, and the L1i's size as a line."""
    sizes = sized(facts)
    cache = instruction_cache(machine)
    figure = style.new_figure(9.2, 1.1 + 0.3 * len(sizes))
    ax = figure.add_subplot()
    values = [size for _, size in sizes]
    largest = max([*values, cache or 0.0])
    smallest = min(value for value in values if value > 0) if any(values) else 1.0
    if largest / smallest > _LOG_SPAN:
        ax.set_xscale("log", base=2)
        ax.set_xlim(smallest / 2, 3 * largest)
    else:
        ax.set_xlim(0, 1.15 * largest)
    # Handlers' bodies are the same whatever calls them: set apart.
    colours = [style.FAINT if name.startswith(_HANDLERS) else style.SKY for name, _ in sizes]
    ax.barh(range(len(sizes)), values, color=colours, height=0.68)
    for row, size in enumerate(values):
        ax.annotate(
            _short(size), (size, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5,
            color=style.INK, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )  # fmt: skip
    if cache is not None:
        ax.axvline(cache, color=style.VERMILION, linewidth=1.3, linestyle=(0, (4, 3)))
        ax.annotate(
            f"L1i, {byte_count(cache)}", (cache, 1.0), xycoords=("data", "axes fraction"), xytext=(4, 2),
            textcoords="offset points", fontsize=8.5, color=style.VERMILION,
        )  # fmt: skip
    style.tidy(ax, grid="x")
    ax.xaxis.set_major_formatter(lambda value, _: byte_count(value))
    ax.set_yticks(range(len(sizes)), [style.literal(name) for name, _ in sizes])
    ax.set_ylim(len(sizes) - 0.4, -0.6)
    ax.set_xlabel("bytes of code, jump tables included, by symbols", fontsize=9)
    return figure
