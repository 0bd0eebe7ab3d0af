"""A kata measured from end to end: its phases in order, and what they come to.

>>> import nanokata as nk
>>> run = nk.run("plugin-dispatch", quick=True)  # doctest: +SKIP
>>> run.page("report")  # doctest: +SKIP
"""

from __future__ import annotations

from nanokata.catalogue import nearest
from nanokata.errors import UnknownExperiment

from .plan import Examination, Job, Kata, Phase, Sentence, Setting
from .plugin_dispatch import PLUGIN_DISPATCH
from .result import KataRun, PhaseResult, Problem
from .running import KataInterrupted, Runner, run

__all__ = [
    "KATAS",
    "Examination",
    "Job",
    "Kata",
    "KataInterrupted",
    "KataRun",
    "Phase",
    "PhaseResult",
    "Problem",
    "Runner",
    "Sentence",
    "Setting",
    "find",
    "named",
    "run",
]

KATAS: dict[str, Kata] = {kata.name: kata for kata in (PLUGIN_DISPATCH,)}
"""The katas that can be run, by name."""


def named(name: object) -> Kata | None:
    """Return the kata of that name, if there is one."""
    return KATAS.get(name) if isinstance(name, str) else None


def find(name: str) -> Kata:
    """Return the kata of that name, or raise :class:`UnknownExperiment` with the nearest names."""
    if (kata := named(name)) is not None:
        return kata
    close = nearest(name, KATAS) or tuple(KATAS)
    raise UnknownExperiment(f"no kata is called {name!r}; nearest: {', '.join(close)}", name=name, nearest=close)
