"""Whether handlers' bodies are distinct: merged ones would leave no instruction cache to measure."""

from __future__ import annotations

from nanokata.dispatch import HandlerSet, distinct_bodies
from nanokata.results.records import Check

HANDLERS = 100
"""How many handlers the kata speaks of."""
BODIES = ("fat", "tiny")


def distinct_check(*bodies: str) -> Check:
    """Return whether all handlers' bodies compute different things, told by what they compute."""
    counts = {body: distinct_bodies(HandlerSet(HANDLERS, body=body)) for body in bodies or BODIES}
    detail = ", ".join(f"{count} different results from {HANDLERS} {body} bodies" for body, count in counts.items())
    held = all(count == HANDLERS for count in counts.values())
    return Check("bodies-distinct", "held" if held else "failed", f"{detail}, on the same packets")
