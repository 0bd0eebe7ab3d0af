"""The verdict's sentences. Each is made of recorded numbers; without them it says why it isn't said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata.budget import has_budget, share
from nanokata.render import numbers
from nanokata.render.headline import calling_of, finding_of, listed, side_by_side
from nanokata.results.records import Contrast

from .plan import Sentence

if TYPE_CHECKING:
    from nanokata.results import RunResult

    from .result import KataRun

_MIXED = "uniform"
"""The traffic with many targets that the mechanisms' experiment has by itself; without it, the last that was run."""
SELECTION, MECHANISM, DISTRIBUTION = "dispatch.selection", "dispatch.mechanism", "dispatch.distribution"


def why_missing(run: KataRun, experiment: str) -> str | None:
    """Return why nothing rests on an experiment: it didn't run, gave no result, or a check of it failed."""
    result = run.result(experiment)
    if result is None:
        problem = run.problem(experiment)
        return f"{experiment}: {problem.reason}" if problem else f"{experiment} wasn't run"
    failed = list(dict.fromkeys(check.name for check in result.checks if check.voids))
    return f"{experiment}: a check failed ({listed(failed)})" if failed else None


def _contrasts(run: KataRun, experiment: str) -> tuple[Contrast, ...]:
    result = run.result(experiment)
    return result.contrasts if result is not None else ()


def _why_void(result: RunResult | None) -> str:
    """Return why races of a result are void, in its own words."""
    reports = result.report.reports() if result is not None else ()
    reasons = (cell.reason for report in reports for cell in report.cells if cell.void)
    return next((reason for reason in reasons if reason), "its races have no verdict")


def why_not(contrast: Contrast | None, what: str, result: RunResult | None) -> str | None:
    """Return why nothing can be said of a contrast; `None` where something can."""
    if contrast is None:
        return f"{what} wasn't measured"
    if contrast.void:
        return f"{what} is void: {_why_void(result)}"
    if contrast.value is None or contrast.low is None or contrast.high is None:
        return f"{what} has no interval: too little was measured"
    return None


def resolved(contrast: Contrast) -> bool | None:
    """Return whether a difference's interval lies on one side of zero; `None` where it is void or has none."""
    return contrast.resolved


def spoken(contrast: Contrast) -> str:
    """Return a contrast as a sentence names it: what it is, its value, its interval, its share of the budget."""
    value = contrast.value if contrast.value is not None else 0.0
    budget = f", {numbers.percent(share(value))} of the budget" if has_budget(contrast.unit) else ""
    unit = contrast.unit.partition("/")[0]
    return f"{contrast.what} {numbers.cost(value)} {unit} {numbers.interval(contrast.low, contrast.high)}{budget}"


def finding_and_calling(run: KataRun) -> Sentence:
    """Say what finding the handler costs beside what calling it costs."""
    topic = "finding against calling"
    for experiment in (SELECTION, MECHANISM):
        if (reason := why_missing(run, experiment)) is not None:
            return Sentence(topic, reason=reason)
    finding = finding_of(_contrasts(run, SELECTION))
    searched = run.result(SELECTION)
    law = str(searched.cells[0].parameters.get("traffic")) if searched is not None and searched.cells else ""
    calling = calling_of(_contrasts(run, MECHANISM), law)
    reasons = (
        why_not(finding, "what finding costs", searched),
        why_not(calling, "what calling costs", run.result(MECHANISM)),
    )
    missing = [reason for reason in reasons if reason is not None]
    return Sentence(topic, side_by_side(finding, calling), "; ".join(missing) or None)


def between_mechanisms(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Return the differences between mechanisms where the call itself shows: tiny bodies, many targets.

    What one mechanism pays for many targets beyond one is another matter, and has its place in the tables.
    """
    calling = calling_of(contrasts, _MIXED)
    where = "" if calling is None else calling.name.partition(":")[2]
    differences = [contrast for contrast in contrasts if not contrast.name.startswith(("gap:", "control:"))]
    return [contrast for contrast in differences if contrast.name.endswith(f":{where}")]


def mechanisms(run: KataRun) -> Sentence:
    """Say which differences between mechanisms are resolved, and which aren't."""
    topic = "mechanisms"
    if (reason := why_missing(run, MECHANISM)) is not None:
        return Sentence(topic, reason=reason)
    contrasts = between_mechanisms(_contrasts(run, MECHANISM))
    judged = [contrast for contrast in contrasts if resolved(contrast) is not None]
    if not judged:
        why = why_not(contrasts[0] if contrasts else None, "the difference between mechanisms", run.result(MECHANISM))
        return Sentence(topic, reason=why)
    told = sorted((item for item in judged if resolved(item)), key=lambda item: -abs(item.value or 0.0))
    open_ = [contrast.what for contrast in judged if not resolved(contrast)]
    void = len(contrasts) - len(judged)
    if told:
        text = (
            f"Of {len(judged)} differences between mechanisms {len(told)} {'is' if len(told) == 1 else 'are'} resolved"
            f"{', the largest first' if len(told) > 1 else ''}: {listed([spoken(item) for item in told])}."
        )
    else:
        text = f"Of {len(judged)} differences between mechanisms none is resolved here."
    reasons = [f"can't be told from zero: {listed(open_, len(open_))}"] if open_ else []
    reasons += [f"{void} differences between mechanisms are void: {_why_void(run.result(MECHANISM))}"] if void else []
    return Sentence(topic, text, "; ".join(reasons) or None)


def _captured(run: KataRun) -> tuple[str | None, str | None]:
    """Return what sorting captures of the table's gain, or why that isn't said."""
    if (reason := why_missing(run, DISTRIBUTION)) is not None:
        return None, reason
    shares = {item.name: item for item in _contrasts(run, DISTRIBUTION) if item.name.startswith("captured:")}
    contrast = shares.get("captured:skewed") or next(reversed(shares.values()), None)
    reason = why_not(contrast, "the share of the gain that sorting captures", run.result(DISTRIBUTION))
    if contrast is None or reason is not None:
        return None, reason
    low, value, high = (numbers.percent(end or 0.0) for end in (contrast.low, contrast.value, contrast.high))
    return f"sorting the list captures {value} ({low}…{high}) of what the table saves ({_of(contrast)})", None


def _of(contrast: Contrast) -> str:
    """Return which of several a contrast is: what follows its general name."""
    return contrast.what.partition(": ")[2] or contrast.what


def most_probes(run: KataRun, arm: str) -> tuple[int, str] | None:
    """Return the most probes that a packet can take with an arm, and how that is known; `None` where it isn't.

    Over every packet that there can be where that was computed, else over the packets of this run. Neither needs a
    clock, so neither needs a verdict.
    """
    for fact in (fact for phase in run.phases for fact in phase.facts):
        kind, _, arms = fact.name.partition(":")
        if kind == "most-probes" and arm in arms.split("+") and fact.value is not None:
            return int(fact.value), "whatever the packet"
    counted = [
        result.probes.max
        for name in (DISTRIBUTION, SELECTION)
        if (found := run.result(name)) is not None
        for cell in found.cells
        for result in cell.arms
        if result.arm == arm and result.probes is not None
    ]
    return (max(counted), "of the packets here") if counted else None


def sorting_and_bound(run: KataRun) -> Sentence:
    """Say what sorting the list captures on average, and what the worst packet costs with each."""
    topic = "sorting and the bound"
    captured, reason = _captured(run)
    sorted_, table = most_probes(run, "scan_ordered"), most_probes(run, "table_compact")
    bound = None
    if sorted_ is not None and table is not None:
        bound = f"the worst costs {sorted_[0]} probes in the sorted list ({sorted_[1]}) and {table[0]} in the table"
        bound += f" ({table[1]})" if table[1] != sorted_[1] else ""
    reasons = [reason, None if bound else "the worst packet's probes weren't counted"]
    text = "; ".join(part for part in (captured, bound) if part)
    return Sentence(topic, f"{_capital(text)}." if text else None, "; ".join(part for part in reasons if part) or None)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
