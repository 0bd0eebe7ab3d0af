"""A simulation as text: events an operation, then where the instructions fell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from nanokata.results.simulation import PARTS

from . import numbers
from .applying import applying
from .tables import blank, titled

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from nanokata.results.records import Check
    from nanokata.results.simulation import (
        SimulatedArm,
        SimulatedCache,
        SimulatedCell,
        SimulatedProfile,
        SimulationResult,
    )

COLUMNS = {
    "instructions": "instr.",
    "i1_misses": "I1\nmisses",
    "d1_misses": "D1\nmisses",
    "ll_misses": "LL\nmisses",
    "conditional_mispredicts": "cond.\nmispred.",
    "indirect_mispredicts": "indirect\nmispred.",
}
"""The events that the table shows, of those that the rows have, and their heads."""


def count(value: float) -> str:
    """Return a count an operation: 0 only where it never happened."""
    if value == 0:
        return "0"
    if value < 0.0005:
        return f"{value:.0e}".replace("e-0", "e-")
    return numbers.cost(value)


def _cache(name: str, cache: SimulatedCache) -> str:
    return f"{name} {numbers.byte_count(cache.bytes)} {cache.ways}-way"


def _how(result: SimulationResult) -> Iterator[str]:
    report = result.report
    geometry = report.geometry
    caches = ", ".join((_cache("I1", geometry.i1), _cache("D1", geometry.d1), _cache("LL", geometry.ll)))
    yield f"simulated: {caches}; callgrind of valgrind {report.valgrind}"
    operations = {arm.operations for cell in result.cells for arm in cell.arms}
    counted = "–".join(f"{number:,}" for number in sorted({min(operations), max(operations)})) if operations else "0"
    runs = f"{report.runs} run{'s' * (report.runs != 1)} each"
    yield f"{counted} {report.operation}s an arm, {runs}; {numbers.seconds(report.seconds)}"


def _fixed(result: SimulationResult) -> str:
    varying = result.report.varying()
    first = result.cells[0].parameters
    names = [name for name in applying(result.cells) if name in first and name not in varying]
    return ", ".join(f"{name} {numbers.parameter(name, first[name])}" for name in names)


def _labelled(table: Table, varying: Sequence[str]) -> None:
    """Begin a table with what differs between its rows: settings, where there are several, and arms."""
    if varying:
        table.add_column(", ".join(varying))
    table.add_column("arm", no_wrap=True)


def _setting(result: SimulationResult, cell: SimulatedCell) -> list[str]:
    """Return the values of what differs between settings, without the names, which stand in the head."""
    values = [result.value(cell, name) for name in result.report.varying()]
    return [", ".join(values)] if values else []


def _rows(result: SimulationResult) -> Iterator[tuple[list[str], SimulatedArm]]:
    for cell in result.cells:
        for number, arm in enumerate(cell.arms):
            setting = _setting(result, cell)
            yield [*(setting if number == 0 else [""] * len(setting)), arm.arm], arm


def _events(result: SimulationResult) -> RenderableType:
    table = blank()
    _labelled(table, result.report.varying())
    for head in COLUMNS.values():
        table.add_column(head, justify="right", no_wrap=True)
    for label, arm in _rows(result):
        table.add_row(*label, *(count(arm[event]) for event in COLUMNS))
    return titled(f"events a {result.report.operation}", table)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.005 else "<1 %"


def profile_renderable(profile: SimulatedProfile) -> RenderableType:
    """Return where the instructions fell: each part's own, and with everything that it called."""
    result = profile.result
    table = blank()
    _labelled(table, result.report.varying())
    for part in PARTS:
        table.add_column(f"{part}\nexcl.", justify="right", no_wrap=True)
    for part in PARTS[:-1]:
        table.add_column(f"{part}\nincl.", justify="right", no_wrap=True)
    for label, arm in _rows(result):
        exclusive = (_percent(arm.profile.share(part)) for part in PARTS)
        inclusive = (_percent(arm.profile.share(part, inclusive=True)) for part in PARTS[:-1])
        table.add_row(*label, *exclusive, *inclusive)
    note = (
        "loop: the arm's own loop with what was inlined into it; other: what belongs to no part, or to several "
        "that were inlined into one function; inclusive: with everything that it called"
    )
    return Group(titled("where the instructions fall", table), Text(note, style="dim"))


def _checks(checks: tuple[Check, ...]) -> Iterator[RenderableType]:
    # What makes the counts trustworthy is shown in full, audits that held by their names.
    in_full = [check for check in checks if check.outcome != "held" or check.name == "control:repeats"]
    held = list(dict.fromkeys(check.name for check in checks if check not in in_full))
    if held:
        yield Text(f"held {', '.join(held)}", style="dim")
    for check in dict.fromkeys(in_full):
        style = "red" if check.outcome == "failed" else "dim"
        yield Text.assemble((check.outcome.replace("_", " "), style), f" {check.name}: {check.detail}")


def _conclusion(result: SimulationResult) -> Text:
    match result.exit_code:
        case 0:
            return Text("No check failed.", style="bold green")
        case 1:
            names = ", ".join(dict.fromkeys(check.name for check in result.checks if check.voids))
            return Text(f"A check failed ({names}): what rests on it is void.", style="bold red")
        case _:
            failed = dict.fromkeys(check.name for check in result.checks if check.outcome == "failed")
            return Text(f"No verdict: {', '.join(failed)} failed.", style="bold yellow")


def simulation_renderable(result: SimulationResult) -> RenderableType:
    """Return a simulation: what was simulated, the events, the profile, the checks."""
    parts: list[RenderableType] = [Text(f"{result.experiment}, simulated: {result.title}", style="bold")]
    parts += [Text(line) for line in _how(result)]
    parts += [Text(_fixed(result), style="dim"), Text(), _events(result), Text(), result.profile.__rich__(), Text()]
    parts += [Text(fact.text, style="dim") for fact in result.facts]
    parts += [Text(), *_checks(result.checks), _conclusion(result)]
    return Group(*parts)
