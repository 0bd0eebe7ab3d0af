"""Phase 6: how much code it is. Sizes are read from symbols; what earlier phases found of them is gathered here."""

from __future__ import annotations

from nanokata.errors import NotMeasurable
from nanokata.results.records import Fact

from .plan import Examination, Setting
from .result import PhaseResult

_OF_CODE = frozenset({"code", "size", "line"})
"""The families of facts that speak of code size; others do if they are in bytes."""


def speaks_of_size(fact: Fact) -> bool:
    """Return whether a fact is about how much code something is."""
    return fact.unit == "bytes" or fact.name.partition(":")[0] in _OF_CODE


def examine(_setting: Setting, finished: tuple[PhaseResult, ...]) -> Examination:
    """Gather what earlier phases found of code size; raise :class:`NotMeasurable` where they found nothing."""
    found = {fact.name: fact for phase in finished for fact in phase.facts if speaks_of_size(fact)}
    if not found:
        what, reason = "code size", "no phase before this one read any"
        raise NotMeasurable(f"{what}: {reason}", what=what, reason=reason)
    return Examination(facts=tuple(found.values()))
