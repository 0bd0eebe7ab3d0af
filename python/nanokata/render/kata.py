"""A kata's run as text: each phase in short, then what it came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from nanokata.results.run import CHECK_FAILED, HELD

from . import numbers
from .headline import listed
from .instrument import doctor_renderable
from .run import checks_renderable, fixed_parameters, placed_checks, races_and_facts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.phases import KataRun, PhaseResult
    from nanokata.results import RunResult
    from nanokata.results.records import Check

STYLES = {HELD: "bold green", CHECK_FAILED: "bold red"}


def phase_renderable(phase: PhaseResult) -> RenderableType:
    """Return a phase: its question, its tables, what failed, how long it took."""
    parts: list[RenderableType] = [
        Text(f"Phase {phase.phase.number}: {phase.phase.title}", style="bold"),
        Text(phase.phase.question, style="italic"),
        Text(),
        *examined_renderable(phase),
    ]
    for result in phase.results:
        parts += result_renderable(result)
    parts += problems_renderable(phase)
    placed = placed_in(phase)
    parts += checks_renderable(placed)
    parts.append(Text(conclusion(phase), style=STYLES.get(phase.exit_code, "bold yellow")))
    return Group(*parts)


def examined_renderable(phase: PhaseResult) -> Iterator[RenderableType]:
    """Yield what a phase looked at itself: the doctor's findings and its facts."""
    if phase.examined.doctor is not None:
        yield from (doctor_renderable(phase.examined.doctor, card=False), Text())
    for fact in phase.examined.facts:
        yield Text.assemble((f"{fact.origin}: ", "dim"), fact.text)
    if phase.examined.facts:
        yield Text()


def result_renderable(result: RunResult) -> Iterator[RenderableType]:
    """Yield an experiment's result in short: its title, its setting, its tables."""
    yield Text(f"{result.experiment}: {result.title}", style="bold")
    fixed = fixed_parameters(result)
    if fixed:
        yield Text(fixed, style="dim")
    yield Text()
    yield from races_and_facts(result, compact=True)


def problems_renderable(phase: PhaseResult) -> Iterator[RenderableType]:
    """Yield what gave no result, and why."""
    for problem in phase.problems:
        word = "failed" if problem.exit_code == CHECK_FAILED else "not measured"
        yield Text(f"{word}: {problem.what}: {problem.reason}", style="red" if word == "failed" else "yellow")
    if phase.problems:
        yield Text()


def placed_in(phase: PhaseResult) -> list[tuple[Check, str]]:
    """Return every check of a phase, each with the experiment and the setting that it belongs to."""
    placed = [(check, "") for check in phase.examined.checks]
    several = len(phase.results) > 1
    for result in phase.results:
        for check, where in placed_checks(result):
            name = result.experiment if several and not where.startswith(result.experiment) else ""
            placed.append((check, ", ".join(part for part in (name, where) if part)))
    return placed


def conclusion(phase: PhaseResult) -> str:
    """Return in one line what a phase came to, and how long it took."""
    spent = f"{numbers.seconds(phase.seconds)}"
    if phase.interrupted:
        return f"Interrupted after {spent}."
    match phase.exit_code:
        case 0:
            held = sum(check.outcome == "held" for check in phase.checks)
            return f"No check failed, {held} held; {spent}."
        case 1:
            names = dict.fromkeys(check.name for check in phase.checks if check.voids)
            names |= dict.fromkeys(problem.what for problem in phase.problems if problem.exit_code == CHECK_FAILED)
            what = listed(list(names)) or "the doctor finds its verdicts wrong here"
            return f"A check failed ({what}): what rests on it is void; {spent}."
        case _:
            return f"No verdict: {why_none(phase)}; {spent}."


def why_none(phase: PhaseResult) -> str:
    """Return the first reason why a phase has no verdict, and how many more there are."""
    reasons = [f"{problem.what}: {problem.reason}" for problem in phase.problems]
    doctor = phase.examined.doctor
    if doctor is not None and doctor.exit_code != HELD:
        reasons.append(doctor.verdict)
    reasons += [
        f"{report.experiment}: {cell.reason or 'its verdicts don’t stand'}"
        for result in phase.results
        for report in result.report.reports()
        for cell in report.cells
        if cell.void
    ]
    reasons += [f"{check.name}: {check.detail}" for check in phase.checks if check.outcome == "failed"]
    several = list(dict.fromkeys(reasons))
    more = f", and {len(several) - 1} more" if len(several) > 1 else ""
    return f"{several[0]}{more}" if several else "it wasn't finished"


def unsaid(run: KataRun) -> list[str]:
    """Return the verdict's sentences that aren't said, each with its reason."""
    return [f"{sentence.topic}: {sentence.reason}" for sentence in run.verdict if sentence.reason]


def said(run: KataRun) -> list[str]:
    """Return the verdict's sentences that can be said."""
    return [sentence.text for sentence in run.verdict if sentence.text]


def kata_conclusion(run: KataRun) -> str:
    """Return in one line what the whole came to."""
    done, all_ = len(run.phases), len(run.kata.phases)
    spent = numbers.seconds(run.seconds)
    cut = f"Interrupted in phase {run.phases[-1].phase.number}: " if run.interrupted and run.phases else ""
    cut = cut or ("Interrupted: " if run.interrupted else "")
    phases = f"{done} of {all_} phases in {spent}" if cut else f"{all_} phases in {spent}"
    match run.exit_code:
        case 0:
            return f"{cut}{phases}: no check failed."
        case 1:
            return f"{cut}{phases}: a check failed in {_numbers(run, CHECK_FAILED)}."
        case _:
            where = _numbers(run, 3)
            return f"{cut}{phases}: no check failed" + (f"; no verdict in {where}." if where else ".")


def _numbers(run: KataRun, code: int) -> str:
    found: Sequence[str] = [str(phase.phase.number) for phase in run.phases if phase.exit_code == code]
    return f"phase{'s' * (len(found) > 1)} {', '.join(found)}" if found else ""


def verdict_renderable(run: KataRun) -> RenderableType:
    """Return the verdict: what can be said, what can't and why, and how it ended."""
    parts: list[RenderableType] = [Text(text, style="bold") for text in said(run)]
    if reasons := unsaid(run):
        parts += [Text(), Text("Not said", style="bold yellow"), *(Text(reason, style="yellow") for reason in reasons)]
    times = ", ".join(f"{phase.phase.number} {numbers.seconds(phase.seconds)}" for phase in run.phases)
    parts += [Text(), Text(f"time by phase: {times}", style="dim")]
    parts.append(Text(kata_conclusion(run), style=STYLES.get(run.exit_code, "bold yellow")))
    return Group(*parts)


def kata_renderable(run: KataRun) -> RenderableType:
    """Return a kata's run: its phases, then its verdict."""
    parts: list[RenderableType] = [Text(f"{run.name}: {run.title}", style="bold"), Text()]
    for phase in run.phases:
        parts += [phase_renderable(phase), Text()]
    return Group(*parts, verdict_renderable(run))
