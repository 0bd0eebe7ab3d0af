"""Phase 6: how much code it is. Sizes are read from symbols; what earlier phases found of them is gathered here."""

from __future__ import annotations

from collections.abc import Iterator

from nanokata.results.records import Fact

from .plan import Examination, Setting
from .result import PhaseResult

_OF_CODE = ("size:", "code:", "code_size", "l1i")
"""How the facts' names begin that speak of code size."""


def examine(_setting: Setting, finished: tuple[PhaseResult, ...]) -> Examination:
    """Gather what is known of code size."""
    return Examination(facts=tuple(_gathered(finished)))


def _gathered(finished: tuple[PhaseResult, ...]) -> Iterator[Fact]:
    for phase in finished:
        yield from (fact for fact in phase.facts if fact.name.startswith(_OF_CODE))
