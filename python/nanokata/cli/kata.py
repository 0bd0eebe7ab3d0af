"""`nanokata run KATA`: a kata's phases in order, each printed when it is finished, and a page that collects them."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import endings, output, progress

if TYPE_CHECKING:
    from nanokata.page.blocks import Picture
    from nanokata.phases import Kata, KataRun, Phase, PhaseResult, Runner


def run_kata(
    kata: Kata,
    *,
    settings: dict[str, Any],
    directory: Path,
    figures: bool,
    markdown: bool,
    as_json: bool,
) -> int:
    """Run a kata's phases, print and draw each, write the page; return the code to exit with.

    Ctrl-C ends it with a page of what is finished.
    """
    from nanokata.phases import KataInterrupted, Runner

    runner = Runner(kata, **settings)
    pictures: dict[int, tuple[Picture, ...]] = {}
    show = _Shown(as_json=as_json)
    code = None
    try:
        for phase in kata.phases:
            show.phase(_measure(runner, phase))
            if figures:
                pictures[phase.number] = _draw(runner.finished[-1], directory)
    except KeyboardInterrupt as cut:
        runner.interrupted = True
        code = endings.TERMINATED if isinstance(cut.__cause__ or cut, endings.Terminated) else endings.INTERRUPTED
        click.echo("\ninterrupted; what is finished is kept", err=True)
        if isinstance(cut, KataInterrupted):
            show.phase(cut.finished.phases[-1])
    run = runner.result()
    show.end(run)
    page = _write(run, directory, markdown=markdown, pictures=pictures)
    if page is not None:
        click.echo(f"page: {page}", err=as_json)
    return run.exit_code if code is None else code


class _Shown:
    """What is printed: each phase when it is finished, or at the end one document."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def phase(self, phase: PhaseResult) -> None:
        from nanokata.render import phase_renderable

        if not self._as_json:
            output.show(phase_renderable(phase))
            click.echo()
            sys.stdout.flush()

    def end(self, run: KataRun) -> None:
        from nanokata.render import verdict_renderable

        if self._as_json:
            click.echo(run.to_json(indent=2))
        else:
            output.show(verdict_renderable(run))
        sys.stdout.flush()


def _measure(runner: Runner, phase: Phase) -> PhaseResult:
    before, share = runner.share_of(phase)
    whole = progress.Whole(runner.begun, before, share)
    with progress.shown(f"phase {phase.number}", runner.expected_seconds, whole=whole) as update:
        return runner.phase(phase, update)


def _draw(phase: PhaseResult, directory: Path) -> tuple[Picture, ...]:
    from nanokata.page.writing import draw

    try:
        return draw(phase, directory)
    except OSError as problem:
        warnings.warn(f"phase {phase.phase.number} has no figure: {problem}; --out DIR puts it elsewhere", stacklevel=2)
        return ()


def _write(run: KataRun, directory: Path, *, markdown: bool, pictures: dict[int, tuple[Picture, ...]]) -> Path | None:
    from nanokata.page import write

    try:
        return write(run, directory, markdown=markdown, pictures=pictures)
    except OSError as problem:
        # What was measured is printed: it isn't lost over a page.
        warnings.warn(f"no page was written: {problem}; --out DIR puts it elsewhere", stacklevel=2)
        return None


def given(kata: Kata, pairs: dict[str, list[str]], traffic: str | None) -> dict[str, Any]:
    """Return what ``--set`` and ``--traffic`` give a kata's experiments, by name: a list where one takes several."""
    from nanokata import catalogue

    jobs = {job.experiment for phase in kata.phases for job in phase.jobs}
    experiments = [experiment for experiment in catalogue.experiments() if experiment.id in jobs]
    settings: dict[str, Any] = {}
    for name, values in pairs.items():
        parameters = [found for experiment in experiments if (found := experiment.parameter(name)) is not None]
        series = any(parameter.series for parameter in parameters)
        several = [item for value in values for item in (value.split(",") if series else [value]) if item]
        settings[name] = several[0] if len(several) == 1 else several
    if traffic is not None:
        settings["traffic"] = traffic
    return settings
