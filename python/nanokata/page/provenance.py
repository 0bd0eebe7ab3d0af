"""The page's end: what was measured, counted, computed, simulated, published, and what wasn't measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nanokata import catalogue, figures
from nanokata.render import numbers

from .blocks import Block, Heading, Items, Paragraph

if TYPE_CHECKING:
    from nanokata.phases import KataRun
    from nanokata.results.records import Fact


def provenance(run: KataRun) -> Iterator[Block]:
    """Yield the sections, each filled from the run; one that is empty says so."""
    yield Heading(2, "Where it comes from", "provenance")
    sections = (
        ("Measured", measured(run), "Nothing was measured."),
        ("Counted", counted(run), "Nothing was counted."),
        ("Computed", computed(run), "Nothing was computed beside the measurements."),
        ("Simulated", of_origin(run, "simulated"), "Nothing was simulated in this run."),
        ("Published", published(run), "No published figure is drawn or quoted."),
        ("Required", required(run), "No requirement excludes anything here."),
        ("Not measured", not_measured(run), "Nothing that this run set out to measure is missing."),
    )
    for heading, lines, otherwise in sections:
        yield Heading(3, heading)
        yield Items(tuple(lines)) if lines else Paragraph(otherwise)


def of_origin(run: KataRun, origin: str) -> list[str]:
    """Return the texts of the facts of that origin."""
    facts: tuple[Fact, ...] = tuple(fact for phase in run.phases for fact in phase.facts)
    return list(dict.fromkeys(fact.text for fact in facts if fact.origin == origin))


def measured(run: KataRun) -> list[str]:
    """Return a line an experiment: its races, arms and blocks; and one on the instrument."""
    doctors = (phase.examined.doctor for phase in run.phases)
    lines = [f"the instrument: {doctor.verdict}" for doctor in doctors if doctor is not None]
    for result in run.results():
        for report in result.report.reports():
            if not report.cells:
                continue
            arms = len(dict.fromkeys(arm.arm for cell in report.cells for arm in cell.arms))
            blocks = sum(cell.blocks for cell in report.cells)
            spent = sum(cell.seconds for cell in report.cells)
            races = len(report.cells)
            lines.append(
                f"{report.experiment}: {races} race{'s' * (races != 1)}, {arms} arms, {blocks:,} blocks in "
                f"{numbers.seconds(spent)}; {len(report.contrasts)} differences between arms or races, "
                "each paired by block"
            )
    return lines


def counted(run: KataRun) -> list[str]:
    """Return what was counted: probes, invariants, facts."""
    lines = []
    for result in run.results():
        for report in result.report.reports():
            probing = sum(arm.probes is not None for cell in report.cells for arm in cell.arms)
            if probing:
                lines.append(f"{report.experiment}: probes of {probing} arms, in a pass of their own without a clock")
    for phase in run.phases:
        checks = phase.examined.checks
        if checks and phase.examined.doctor is None:
            held = sum(check.outcome == "held" for check in checks)
            lines.append(f"phase {phase.phase.number}: {held} of {len(checks)} invariants held")
    return [*lines, *of_origin(run, "counted")]


def computed(run: KataRun) -> list[str]:
    """Return what was computed: expected probes, least costs with their sources, facts."""
    lines = []
    for result in run.results():
        for report in result.report.reports():
            expected = sum(
                arm.probes is not None and arm.probes.expected is not None for cell in report.cells for arm in cell.arms
            )
            if expected:
                lines.append(f"{report.experiment}: expected probes of {expected} arms, by enumeration")
    ceilings = {
        f"least cost, {arm.ceiling.formula} ({arm.ceiling.source})"
        for result in run.results()
        for report in result.report.reports()
        for cell in report.cells
        for arm in cell.arms
        if arm.ceiling is not None
    }
    return [*lines, *sorted(ceilings), *of_origin(run, "computed")]


def published(run: KataRun) -> list[str]:
    """Return what others published that is drawn or quoted here."""
    drawn = [mark for result in run.results() for mark in figures.published(result)]
    return list(dict.fromkeys([*drawn, *of_origin(run, "published")]))


def required(run: KataRun) -> list[str]:
    """Return what the requirements exclude, whatever it costs."""
    excluded = [
        f"excluded: {arm.arm} {arm.excludes}"
        for result in run.results()
        for report in result.report.reports()
        for cell in report.cells
        for arm in cell.arms
        if arm.excludes
    ]
    return list(dict.fromkeys([*excluded, *of_origin(run, "required")]))


def not_measured(run: KataRun) -> list[str]:
    """Return what wasn't measured, and why: experiments, checks that don't apply, counters that there aren't."""
    lines = []
    for phase in run.phases:
        lines += [f"{problem.what}: {problem.reason}" for problem in phase.problems]
        doctor = phase.examined.doctor
        for counter in doctor["counters"] if doctor is not None else ():
            if not counter["available"]:
                lines.append(f"counter {counter['name']}: {counter['reason']}")
        lines += [
            f"check {check.name}: {check.detail}"
            for check in phase.checks
            if check.outcome == "not_applicable" and not check.inconclusive
        ]
    reached = {phase.phase.number for phase in run.phases}
    lines += [f"phase {left.number}, {left.title}" for left in run.kata.phases if left.number not in reached]
    lines += _beyond(run)
    return list(dict.fromkeys(lines))


def _beyond(run: KataRun) -> list[str]:
    """Return the experiments of the same areas that the kata leaves to be run by themselves."""
    own = {job.experiment for phase in run.kata.phases for job in phase.jobs}
    ran = {report.experiment for result in run.results() for report in result.report.reports()}
    areas = {experiment.partition(".")[0] for experiment in own}
    others = [
        experiment.id
        for experiment in catalogue.experiments()
        if experiment.area in areas and experiment.id not in own | ran
    ]
    return [f"not part of this kata's run: {', '.join(others)}"] if others else []
