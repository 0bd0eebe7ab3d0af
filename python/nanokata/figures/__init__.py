"""Figures of results: units on the axes, intervals drawn, colours that colour-blind readers can tell apart.

Each takes a result and, if wanted, an ``ax`` to draw into; each returns a matplotlib ``Figure`` that belongs to no
global state, so it shows once in a notebook and leaves matplotlib's settings alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from nanokata.errors import NotMeasurable

from .forest import forest
from .scaling import scaling
from .series import series
from .tail import tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.phases import PhaseResult
    from nanokata.results import RunResult

__all__ = ["draw", "forest", "of_examination", "published", "scaling", "series", "tail"]


_OF_EXPERIMENTS = {
    "dispatch.mechanism": "mechanism",
    "dispatch.proposals": "proposals",
    "dispatch.selection": "scaling",
    "dispatch.icache": "icache",
    "dispatch.fetch": "fetch",
    "dispatch.targets": "targets",
    "dispatch.tail": "tail",
    "dispatch.calibration": "calibration",
    "dispatch.residual": "residual",
    "dispatch.distribution": "distribution",
    "dispatch.neighbour": "neighbour",
    "plugin.crossing": "crossing",
    "plugin.boundaries": "boundaries",
    "plugin.twins": "twins",
}
"""The experiments with a figure of their own: the module here, whose function of the same name draws it.

Its ``suits(result)`` says whether that figure can be drawn of this result (what it needs may not vary in it); if not,
the general one is.
"""


_OF_AREAS = {"traps": "traps"}
"""The same for whole areas."""


def draw(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw the figure that suits `result`: its experiment's own, curves over the number that varies, or ratios.

    Raises :class:`NotMeasurable` where nothing was timed, as of a sabotaged run.
    """
    if not result.cells:
        why = f"sabotaged with {result.report.sabotage}" if result.report.sabotage else "no race came to an end"
        raise NotMeasurable(f"{result.experiment} has no figure: nothing was timed ({why})")
    own = _OF_EXPERIMENTS.get(result.experiment) or _OF_AREAS.get(result.experiment.partition(".")[0])
    if own is not None:
        module = importlib.import_module(f"{__name__}.{own}")
        if module.suits(result):
            drawn: Figure = getattr(module, own)(result, ax=ax)
            return drawn
    if result.report.along() is None:
        return forest(result, ax=ax)
    return series(result, ax=ax)


def published(result: RunResult) -> tuple[str, ...]:
    """Return, in words, the published figures that are drawn into the figure of `result` as reference marks.

    A figure module that draws such marks has a function ``published(result)`` that says which.
    """
    own = _OF_EXPERIMENTS.get(result.experiment)
    if own is None:
        return ()
    module = importlib.import_module(f"{__name__}.{own}")
    if not hasattr(module, "published") or not module.suits(result):
        return ()
    return tuple(module.published(result))


def of_examination(phase: PhaseResult) -> Callable[[], Figure] | None:
    """Return what draws what a phase of a kata examined itself, if that can be drawn."""
    from nanokata.instrument import machine

    from .code_size import code_size, sized
    from .instrument import instrument
    from .invariants import invariants

    examined = phase.examined
    if (doctor := examined.doctor) is not None:
        return lambda: instrument(doctor)
    if examined.checks:
        return lambda: invariants(examined.checks, title=phase.phase.title)
    if sized(examined.facts):
        return lambda: code_size(examined.facts, machine())
    return None
