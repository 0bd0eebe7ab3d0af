"""What a run did not resolve, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nanokata.phases.verdict import resolved
from nanokata.render import numbers
from nanokata.render.kata import unsaid

if TYPE_CHECKING:
    from nanokata.phases import KataRun
    from nanokata.results import RunResult
    from nanokata.results.records import CellResult, Report


def unresolved(run: KataRun) -> list[str]:
    """Return a line a thing: what the verdict leaves out, what didn't run, void races, and comparisons left open."""
    lines = [*unsaid(run), *_not_reached(run)]
    for phase in run.phases:
        lines += [f"{problem.what}: {problem.reason}" for problem in phase.problems]
        for result in phase.results:
            lines += [*_void(result), *_open(result), *_contrasts(result)]
    return list(dict.fromkeys(lines))


def _not_reached(run: KataRun) -> Iterator[str]:
    for phase in run.phases:
        if phase.interrupted:
            yield f"phase {phase.phase.number} ({phase.phase.title}): interrupted"
    reached = {phase.phase.number for phase in run.phases}
    left = [phase for phase in run.kata.phases if phase.number not in reached]
    if left:
        yield f"not reached: {', '.join(f'phase {phase.number} ({phase.title})' for phase in left)}"


def _where(result: RunResult, report: Report, cell: CellResult) -> str:
    setting = ", ".join(f"{name} {result.spoken(name, cell.parameters[name])}" for name in report.varying())
    return setting or "its race"


_MOST_NAMED = 3
"""Races that a line names one by one; of more it says how many."""


def _places(where: list[str], report: Report) -> str:
    """Return which of a report's races something is about, in a few words."""
    races = len(report.cells)
    if len(where) == races > 1:
        return f"all {races} races"
    return "; ".join(where) if len(where) <= _MOST_NAMED else f"{len(where)} of {races} races"


def _void(result: RunResult) -> Iterator[str]:
    """Yield a line a reason why races are void."""
    for report in result.report.reports():
        by_reason: dict[str, list[str]] = {}
        for cell in report.cells:
            if cell.void:
                by_reason.setdefault(cell.reason or "the verdicts don’t stand", []).append(_where(result, report, cell))
        for reason, where in by_reason.items():
            yield f"{report.experiment}, void: {reason} ({_places(where, report)})"


def _open(result: RunResult) -> Iterator[str]:
    """Yield what races that stand leave open: arms that can't be told apart nor called the same, and wide controls."""
    for report in result.report.reports():
        left: dict[str, list[str]] = {}
        for cell in report.cells:
            if cell.void:
                continue
            where = _where(result, report, cell)
            for arm in cell.arms:
                if arm.arm in cell.inconclusive_controls:
                    left.setdefault(f"control {arm.arm}: too wide to say that it reads the same", []).append(where)
                elif arm.role == "arm" and (arm.ratio_low is None or arm.ratio_high is None):
                    left.setdefault(f"{arm.arm} against {cell.baseline.arm}: {numbers.TOO_FEW}", []).append(where)
                elif arm.role == "arm" and arm.verdict == "not resolved":
                    left.setdefault(f"{arm.arm} against {cell.baseline.arm}", []).append(where)
        for what, where_ in left.items():
            yield f"{report.experiment}: {what} ({_places(where_, report)})"


def _contrasts(result: RunResult) -> Iterator[str]:
    """Yield the differences whose intervals reach across zero, then together those that are void or have none."""
    without: dict[str, list[str]] = {}
    for contrast in result.contrasts:
        if "control" in contrast.name.split(":"):
            continue  # Zero is what it should be; the check of that name says whether it is.
        told = resolved(contrast)
        if told is False:
            span = numbers.interval(contrast.low, contrast.high)
            margin = f" to ±{numbers.cost(contrast.margin)}" if contrast.margin else ""
            yield f"{result.experiment}: {contrast.what}: {span} {contrast.unit} can't be told from zero{margin}"
        elif told is None:
            without.setdefault("void" if contrast.void else numbers.TOO_FEW, []).append(contrast.what)
    for why, what in without.items():
        yield f"{result.experiment}, {why}: {'; '.join(what)}"
