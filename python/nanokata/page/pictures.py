"""A run's figures as files, each with what it shows in words."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nanokata import figures
from nanokata.render import numbers

from .blocks import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nanokata.phases import PhaseResult
    from nanokata.results import RunResult
    from nanokata.results.records import CellResult


def pictures_of(phase: PhaseResult) -> Iterator[Picture]:
    """Draw a phase's figures: of what it examined itself, and of each of its experiments."""
    number = phase.phase.number
    if (draw := figures.of_examination(phase)) is not None:
        alt = f"Figure of phase {number}, {phase.phase.title}: {_examined_in_words(phase)}"
        yield from _picture(_name(number, phase.phase.title), draw, alt)
    for result in phase.results:
        if not result.cells:
            continue  # Nothing was timed, as where every arm was broken on purpose.
        yield from _picture(_name(number, result.experiment), result.plot, in_words(result), result.experiment)


def _name(number: int, what: str) -> str:
    """Return a file's name that any system takes: the phase's number, and what it shows."""
    return f"{number}-{re.sub(r'[^a-z0-9._]+', '-', what.lower()).strip('-.')}.png"


def _picture(name: str, draw: Callable[[], Figure], alt: str, experiment: str = "") -> Iterator[Picture]:
    sink = io.BytesIO()
    try:
        draw().savefig(sink, format="png", bbox_inches="tight", pad_inches=0.15)
    except Exception as problem:  # noqa: BLE001 (the result is measured: no figure is worth losing the page)
        warnings.warn(f"no figure {name} was drawn: {str(problem) or type(problem).__name__}", stacklevel=2)
        return
    yield Picture(name, sink.getvalue(), alt, experiment)


def _examined_in_words(phase: PhaseResult) -> str:
    doctor = phase.examined.doctor
    if doctor is not None:
        return doctor.verdict
    failed = [check.name for check in phase.examined.checks if check.outcome == "failed"]
    held = sum(check.outcome == "held" for check in phase.examined.checks)
    counts = f"{held} checks held, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}. "
    facts = " ".join(f"{fact.text}." for fact in phase.examined.facts)
    return f"{counts if phase.examined.checks else ''}{facts}"


def in_words(result: RunResult) -> str:
    """Return what a result's figure shows: each arm's cost in the first race and in the last."""
    report = result.report
    shown = [report.cells[0], report.cells[-1]] if len(report.cells) > 1 else list(report.cells)
    races = "; ".join(_race_in_words(result, cell) for cell in shown)
    count = f", {len(report.cells)} races, the first and the last in words" if len(report.cells) > 2 else ""
    return f"Figure of {result.experiment}, {result.title}{count}: {races}."


def _race_in_words(result: RunResult, cell: CellResult) -> str:
    setting = ", ".join(f"{name} {result.spoken(name, cell.parameters[name])}" for name in result.report.varying())
    arms = ", ".join(f"{arm.arm} {numbers.cost(arm.median)}" for arm in cell.arms if arm.role != "control")
    void = ", void" if cell.void else ""
    return f"{setting or 'the race'}{void}: {arms} {cell.unit}"
