"""Exercises at the plugin boundary: begun from a starter, checked by building, verifying, racing and explaining.

>>> import nanokata as nk
>>> nk.exercises.start("order", "here", language="c")  # doctest: +SKIP
>>> print(nk.exercises.check("here/order.c").summary())  # doctest: +SKIP
"""

from __future__ import annotations

from .checking import Checked, check
from .manifest import Exercise, Files, exercise, exercises
from .repair import Broken, examine
from .starting import Started, start

__all__ = [
    "Broken",
    "Checked",
    "Exercise",
    "Files",
    "Started",
    "check",
    "examine",
    "exercise",
    "exercises",
    "start",
]
