"""A simulation as text: events an operation, then where the instructions fell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from nanokata.results.simulation import PARTS

from . import numbers
from .applying import applying
from .tables import blank, titled

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.results.records import Check
    from nanokata.results.simulation import SimulatedCache, SimulatedProfile, SimulationResult

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


def _events(result: SimulationResult) -> RenderableType:
    table = blank()
    several = len(result.cells) > 1
    if several:
        table.add_column("setting")
    table.add_column("arm", no_wrap=True)
    for head in COLUMNS.values():
        table.add_column(head, justify="right", no_wrap=True)
    for cell in result.cells:
        for number, arm in enumerate(cell.arms):
            setting = [result.spoken(cell) if number == 0 else ""] if several else []
            table.add_row(*setting, arm.arm, *(count(arm[event]) for event in COLUMNS))
    return titled(f"events a {result.report.operation}", table)


def profile_renderable(profile: SimulatedProfile) -> RenderableType:
    """Return where the instructions fell: each part's own, and with everything that it called."""
    table = blank()
    settings = {profile.setting(cell) for cell, _ in profile.arms()}
    several = len(settings) > 1
    if several:
        table.add_column("setting")
    table.add_column("arm", no_wrap=True)
    table.add_column(f"instr. a\n{profile.operation}", justify="right", no_wrap=True)
    for part in PARTS:
        table.add_column(f"{part}\nexcl.", justify="right", no_wrap=True)
    for part in PARTS[:-1]:
        table.add_column(f"{part}\nincl.", justify="right", no_wrap=True)
    before = None
    for cell, arm in profile.arms():
        setting = [profile.setting(cell) if cell is not before else ""] if several else []
        before = cell
        exclusive = (numbers.percent(arm.profile.share(part)) for part in PARTS)
        inclusive = (numbers.percent(arm.profile.share(part, inclusive=True)) for part in PARTS[:-1])
        table.add_row(*setting, arm.arm, count(arm["instructions"]), *exclusive, *inclusive)
    note = "loop: the arm's own loop with what was inlined into it; inclusive: with everything that it called"
    return Group(titled("where the instructions fall", table), Text(note, style="dim"))


def _checks(checks: tuple[Check, ...]) -> Iterator[RenderableType]:
    held = list(dict.fromkeys(check.name for check in checks if check.outcome == "held"))
    if held:
        yield Text(f"held {', '.join(held)}", style="dim")
    for check in dict.fromkeys(check for check in checks if check.outcome != "held" or check.name == "control:repeats"):
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
