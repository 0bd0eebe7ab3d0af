"""Phase 7: what crossing the plugin boundary costs, and where batches win some of it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanokata.render.headline import listed
from nanokata.results.records import Contrast

from .plan import Sentence
from .verdict import spoken, why_missing, why_not

if TYPE_CHECKING:
    from nanokata.results import RunResult

    from .result import KataRun

CROSSING, BOUNDARIES = "plugin.crossing", "plugin.boundaries"
_BATCH = 64
"""The size of the batches that sentences speak of; figures and tables have all."""


def crossing(run: KataRun) -> Sentence:
    """Say what a packet's crossing costs, what batches recover of it, and what they recover of other boundaries."""
    topic = "crossing"
    parts: list[str] = []
    reasons: list[str] = []
    for experiment, say in ((CROSSING, _plugin), (BOUNDARIES, _others)):
        reason = why_missing(run, experiment)
        result = run.result(experiment)
        if reason is not None or result is None:
            reasons.append(reason or f"{experiment} wasn't run")
            continue
        text, why = say(result)
        parts += [text] if text else []
        reasons += [why] if why else []
    return Sentence(topic, " ".join(parts) or None, "; ".join(reasons) or None)


def _named(result: RunResult, family: str) -> list[Contrast]:
    return [contrast for contrast in result.contrasts if contrast.name.startswith(f"{family}:")]


def _plugin(result: RunResult) -> tuple[str | None, str | None]:
    """Return what the plugin ABI costs a packet, with predictable traffic where there is such."""
    crossings, recovered = _named(result, "crossing"), _named(result, f"recovered:{_BATCH}")
    cost = _hot(crossings)
    reason = why_not(cost, "what crossing to a plugin costs", result)
    if cost is None or reason is not None:
        return None, reason
    text = f"{spoken(cost)}{'' if cost.resolved else ' (not resolved from zero)'}"
    saved = _hot(recovered)
    if (reason := why_not(saved, f"what batches of {_BATCH} recover", result)) is not None or saved is None:
        return f"{_sentence(text)}", reason
    if not saved.resolved:
        return f"{_sentence(text)} What batches of {_BATCH} recover of it is not resolved: {spoken(saved)}.", None
    if (saved.value or 0.0) < 0:
        return f"{_sentence(text)} Batches of {_BATCH} recover nothing, they cost more: {spoken(saved)}.", None
    return f"{_sentence(text)} Batches of {_BATCH} recover some of it: {spoken(saved)}.", None


def _others(result: RunResult) -> tuple[str | None, str | None]:
    """Return what batches recover of each boundary, the most first."""
    found = _named(result, f"recovered:{_BATCH}")
    told = sorted((item for item in found if item.resolved), key=lambda item: -(item.value or 0.0))
    open_ = [item.what for item in found if item.resolved is False]
    void = [reason for item in found if (reason := why_not(item, item.what, result)) is not None]
    against = f"A race a boundary, batches of {_BATCH} against batches of one"
    text = f"{against}: {listed([spoken(item) for item in told], len(told))}." if told else None
    reasons = [f"not resolved: {listed(open_, len(open_))}"] if open_ else []
    reasons += void if found else [f"what batches of {_BATCH} recover wasn't measured"]
    return text, "; ".join(reasons) or None


def _hot(contrasts: list[Contrast]) -> Contrast | None:
    """Return the one with predictable traffic, else the first."""
    hot = (contrast for contrast in contrasts if contrast.name.endswith(":hot"))
    return next(hot, contrasts[0] if contrasts else None)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
