"""What a run of the dispatch race comes to, in one sentence made of its own figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanokata import budget

from . import numbers

_MOST_NAMED = 3
"""Things of a kind that a sentence names; the tables have all."""

if TYPE_CHECKING:
    from nanokata.results import RunResult
    from nanokata.results.records import Contrast


def headline(result: RunResult) -> str | None:
    """Set finding the handler beside calling it: the most handlers, fat bodies where there are, the run's own traffic.

    `None` where the run has not measured both, or has no verdict to rest it on.
    """
    if result.exit_code != 0:
        return None
    own = str(result.report.cells[0].parameters.get("traffic")) if result.report.cells else ""
    return side_by_side(finding_of(result.contrasts), calling_of(result.contrasts, own))


def side_by_side(finding: Contrast | None, calling: Contrast | None) -> str | None:
    """Return what finding costs, what calling costs, and which is more; `None` if one is void, or has no interval."""
    if finding is None or calling is None:
        return None
    _, body, handlers = finding.name.rsplit(":", 2)
    if finding.void or calling.void or None in _ends(finding, calling):
        return None
    return (
        f"Finding one of {handlers} handlers ({body} bodies) by a scan instead of a table costs {_costs(finding)}; "
        f"calling it ({_body_of_calling(calling)} bodies) through its vtable instead of directly costs "
        f"{_costs(calling)}. {_compared(finding, calling)}"
    )


def finding_of(contrasts: Sequence[Contrast]) -> Contrast | None:
    """Return what finding costs with the most handlers, with fat bodies where there are."""
    found = [contrast for contrast in contrasts if contrast.name.startswith("finding:")]
    if not found:
        return None
    most = max(int(contrast.name.rpartition(":")[2]) for contrast in found)
    at_most = [contrast for contrast in found if contrast.name.endswith(f":{most}")]
    return next((contrast for contrast in at_most if ":fat:" in contrast.name), at_most[0])


def calling_of(contrasts: Sequence[Contrast], traffic: str) -> Contrast | None:
    """Return what calling costs under that traffic; under the last that was measured where it wasn't."""
    called = {
        contrast.name.partition(":")[2]: contrast for contrast in contrasts if contrast.name.startswith("calling:")
    }
    return called.get(traffic) or next(reversed(called.values()), None)


def _body_of_calling(calling: Contrast) -> str:
    """Return the bodies that are called: tiny, so that no fetching of code is in it, where the name says no other."""
    return "fat" if calling.name.endswith(":fat") else "tiny"


def _ends(*contrasts: Contrast) -> tuple[float | None, ...]:
    return tuple(end for contrast in contrasts for end in (contrast.low, contrast.value, contrast.high))


def _costs(contrast: Contrast) -> str:
    if contrast.value is None:
        return numbers.TOO_FEW
    share = (
        f", {numbers.percent(budget.share(contrast.value))} of the budget" if budget.has_budget(contrast.unit) else ""
    )
    return f"{numbers.cost(contrast.value)} ns{share}"


def _compared(finding: Contrast, calling: Contrast) -> str:
    if finding.low is None or finding.value is None or finding.high is None:
        return numbers.TOO_FEW
    if calling.low is None or calling.value is None or calling.high is None:
        return numbers.TOO_FEW
    if finding.low > max(calling.high, 0):
        if not calling.resolved or calling.low <= 0:
            return "What the call costs can't be told from nothing here: the search is what costs."
        least, most = (numbers.times(ratio) for ratio in (finding.low / calling.high, finding.high / calling.low))
        return f"The search costs {least} to {most} what the call does."
    if calling.low > max(finding.high, 0):
        return "Here the call costs more than the search."
    return "Which of the two costs more is not resolved here."


def listed(items: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return the first few of `items`, and how many more there are."""
    more = f"; and {len(items) - most} more" if len(items) > most else ""
    return "; ".join(items[:most]) + more
