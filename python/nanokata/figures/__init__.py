"""Figures of results: units on the axes, intervals drawn, colours that colour-blind readers can tell apart.

Each takes a result and, if wanted, an ``ax`` to draw into; each returns a matplotlib ``Figure`` that belongs to no
global state, so it shows once in a notebook and leaves matplotlib's settings alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .forest import forest
from .scaling import scaling
from .series import series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nanokata.results import RunResult

__all__ = ["draw", "forest", "scaling", "series"]


def draw(result: RunResult, *, ax: Axes | None = None) -> Figure:
    """Draw the figure that suits `result`: curves over the number that varies, ratios where none does."""
    if result.report.along() is None:
        return forest(result, ax=ax)
    if result.experiment == "dispatch.selection" and result.report.along() == "handlers":
        return scaling(result, ax=ax)
    return series(result, ax=ax)
