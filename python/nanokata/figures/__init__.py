"""Figures of results: units on the axes, intervals drawn, colours that colour-blind readers can tell apart.

Each takes a result and, if wanted, an ``ax`` to draw into; each returns a matplotlib ``Figure`` that belongs to no
global state, so it shows once in a notebook and leaves matplotlib's settings alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .forest import forest
from .scaling import scaling
from .series import series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

__all__ = ["draw", "forest", "scaling", "series"]


_OF_EXPERIMENTS = {
    "dispatch.selection": "scaling",
    "dispatch.calibration": "calibration",
    "dispatch.residual": "residual",
    "dispatch.distribution": "distribution",
    "dispatch.neighbour": "neighbour",
}
"""The experiments with a figure of their own: the module here, whose function of the same name draws it.

Its ``suits(result)`` says whether that figure can be drawn of this result (what it needs may not vary in it); if not,
the general one is.
"""


def draw(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw the figure that suits `result`: its experiment's own, curves over the number that varies, or ratios."""
    own = _OF_EXPERIMENTS.get(result.experiment)
    if own is not None:
        module = importlib.import_module(f"{__name__}.{own}")
        if module.suits(result):
            drawn: Figure = getattr(module, own)(result, ax=ax)
            return drawn
    if result.report.along() is None:
        return forest(result, ax=ax)
    return series(result, ax=ax)
