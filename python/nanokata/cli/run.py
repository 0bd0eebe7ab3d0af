"""`nanokata run`: measure an experiment, print what came out, draw its figure."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanokata.errors import ChecksumMismatch, InvalidArgument, NotMeasurable, WorkerPanic

from . import drawing, endings, kata, output, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanokata.catalogue import Experiment
    from nanokata.results import RunResult


def pairs_of(pairs: tuple[str, ...]) -> dict[str, list[str]]:
    """Return what each ``--set`` gives, by name; several of one name follow each other."""
    given: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            wanted = "wanted --set NAME=VALUE, as --set handlers=10,100"
            raise InvalidArgument(f"--set {pair}: {wanted}", name="--set", value=pair, wanted=wanted)
        given.setdefault(name, []).append(value)
    return given


def settings_of(
    experiment: Experiment, given: dict[str, list[str]], traffic: str | None, *, several: bool = False
) -> dict[str, Any]:
    """Return the parameters that are given, and the traffic under its parameter's name.

    Several values of a parameter are refused unless it is a series, or unless `several` says that any may be a list.
    """
    settings: dict[str, Any] = {}
    for name, values in given.items():
        parameter = experiment.parameter(name)
        if parameter is not None and (parameter.series or several):
            settings[name] = [item for value in values for item in value.split(",") if item]
        elif len(values) == 1:
            settings[name] = values[0]
        else:
            wanted = f"{experiment.id} takes one value of it; set it once"
            text = " and ".join(values)
            raise InvalidArgument(f"--set {name} = {text}: {wanted}", name=name, value=text, wanted=wanted)
    if traffic is not None:
        taking = _takes_traffic(experiment)
        if taking is None:
            wanted = f"{experiment.id} replays no traffic; leave it out"
            raise InvalidArgument(f"--traffic {traffic}: {wanted}", name="--traffic", value=traffic, wanted=wanted)
        settings[taking] = traffic
    return settings


def _takes_traffic(experiment: Experiment) -> str | None:
    return next((parameter.name for parameter in experiment.parameters if parameter.kind == "choice_or_file"), None)


def _jobs(
    experiments: tuple[Experiment, ...], pairs: tuple[str, ...], traffic: str | None, preset: str | None
) -> list[tuple[Experiment, dict[str, Any]]]:
    """Return each experiment with its settings; of several, each takes those it has, and one at least must."""
    from nanokata.presets import PRESETS

    given = pairs_of(pairs)
    taken = {
        name: [experiment for experiment in experiments if experiment.parameter(name) is not None] for name in given
    }
    replaying = [experiment for experiment in experiments if _takes_traffic(experiment) is not None]
    having = [experiment for experiment in experiments if preset in PRESETS.get(experiment.id, {})]
    jobs = []
    for experiment in experiments:
        # What nobody takes goes to all: the refusal then says what there is.
        own = {name: value for name, value in given.items() if experiment in (taken[name] or experiments)}
        settings = settings_of(experiment, own, traffic if experiment in (replaying or experiments) else None)
        jobs.append((experiment, {**settings, "preset": preset if experiment in (having or experiments) else None}))
    return jobs


def _draw(result: RunResult, directory: Path) -> Path | None:
    from nanokata import figures

    return drawing.draw(lambda: figures.draw(result), directory / f"{result.experiment}.png")


def _draw_and_say(result: RunResult, directory: Path, *, err: bool = False) -> None:
    """Draw a result that was printed already, and say where the figure is; a sabotaged run has nothing to draw."""
    if not result.cells:
        return
    sys.stdout.flush()
    drawn = _draw(result, directory)
    if drawn is not None:
        click.echo(f"figure: {drawn}", err=err)


DOCTOR_SECONDS = 2.0
"""Time of each of the two races that the doctor's short form takes before the first run of a build."""
DOCTOR_SECONDS_QUICK = 0.5
"""The same before a quick run."""


def _examine_once(seconds: float, cpu: int | None) -> None:
    """Have the doctor look, in its short form, unless it has looked as closely at this machine and build before."""
    import nanokata
    from nanokata.instrument import doctor_seconds, stored_doctor

    known = stored_doctor(nanokata.machine())
    if known is not None and (known["trials"] > 0 or known["trial_seconds"] >= seconds):
        return
    with progress.shown("doctor", doctor_seconds(None, seconds)) as update:
        nanokata.doctor(trial_seconds=seconds, cpu=cpu, progress=update)


def _measure(experiment: Experiment, seconds: float, settings: dict[str, Any]) -> RunResult:
    import nanokata

    with progress.shown(experiment.id, seconds) as update:
        return nanokata.run(experiment.id, progress=update, **settings)


FIGURES = Path("nanokata-figures")


def _show(result: RunResult, *, several: bool) -> None:
    """Print a result; of several traps only what they teach."""
    from nanokata.render import run_renderable, trap_in_short

    output.show(trap_in_short(result) if several else run_renderable(result))


@contextmanager
def _documents(*, several: bool) -> Iterator[Callable[[RunResult], None]]:
    """Give what prints a result as JSON at once: of several, an array that is closed whatever ends the run."""
    printed = 0

    def show(result: RunResult) -> None:
        nonlocal printed
        before = ("[" if printed == 0 else ", ") if several else ""
        click.echo(before + result.to_json(indent=2), nl=not several)
        printed += 1
        sys.stdout.flush()

    try:
        yield show
    finally:
        if several:
            click.echo("]" if printed else "[]")
            sys.stdout.flush()


def _show_overview(results: list[RunResult]) -> None:
    """Print all traps of a run, a row each; nothing if there was none."""
    from nanokata.render import overview_renderable

    if any(result.trap is not None for result in results):
        output.show(overview_renderable(results))


def _measure_all(
    jobs: list[tuple[Experiment, float, dict[str, Any]]], show: Callable[[RunResult], None], *, several: bool
) -> tuple[list[RunResult], list[int]]:
    """Measure one after another and show each as it comes; return results and exit codes."""
    results: list[RunResult] = []
    codes: list[int] = []
    for item, at_most, settings in jobs:
        try:
            result = _measure(item, at_most, settings)
        except (ChecksumMismatch, NotMeasurable, WorkerPanic) as error:
            if not several:
                raise
            # The others don't rest on this one.
            codes.append(endings.end_with(error))
            continue
        results.append(result)
        codes.append(result.exit_code)
        show(result)
    return results, codes


def _show_and_draw(
    result: RunResult, *, show: Callable[[RunResult], None], directory: Path | None, as_json: bool, several: bool
) -> None:
    """Print a result, draw it where there is a directory to draw in, and leave a line before the next one."""
    show(result)
    if directory is not None:
        _draw_and_say(result, directory, err=as_json)
    if several and not as_json:
        click.echo()


SABOTAGED = ("dispatch.selection", "dispatch.mechanism")
"""What stands for a kata where its arms are to be broken."""


def _chosen(name: str, sabotage: str | None) -> tuple[Experiment, ...]:
    from nanokata import phases
    from nanokata.catalogue import chosen, find

    if sabotage is not None and phases.named(name) is not None:
        return tuple(find(experiment) for experiment in SABOTAGED)
    return chosen(name, also=phases.KATAS)


def _counters(names: str) -> bool | list[str]:
    words = [name for name in names.split(",") if name]
    return {"all": True, "none": False}.get(names, words)


@click.command(cls=endings.Command, short_help="Measure an experiment, or all of a kata.")
@click.argument("experiment")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter; commas, or the option again, give several values where it takes them.",
)
@click.option("--traffic", metavar="FILE|NAME", help="Replay a capture's packets, or a named distribution.")
@click.option("--preset", metavar="NAME", help="Parameters under one name; `original` is the published kata's pool.")
@click.option(
    "--sabotage",
    metavar="NAME",
    help="Break every arm on purpose, and see the checksums catch it: skip-residual, constant-result, drop-packet, "
    "wrong-order, wrong-handler-id, stale-payload, swapped-key. Nothing is timed.",
)
@click.option("--quick", is_flag=True, help="Fewer blocks and wider intervals, for a first look.")
@click.option("--seconds", type=float, help="Time bound of each race.")
@click.option("--precision", type=float, help="Half-width of each ratio at which a race stops (0.0025).")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of input and placement.")
@click.option("--cpu", type=click.IntRange(0), help="CPU to measure on.")
@click.option(
    "--counters",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="Counters read around an untimed pass: all, none, or names with commas, as cycles,l1i_misses.",
)
@click.option(
    "--out",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=FIGURES,
    show_default=True,
    help="Where figures go, and a kata's page; a kata has a folder of its name there by default.",
)
@click.option("--no-figure", is_flag=True, help="Draw no figure.")
@click.option("--markdown", is_flag=True, help="Of a kata: write the page as Markdown too.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def run(
    experiment: str,
    pairs: tuple[str, ...],
    traffic: str | None,
    preset: str | None,
    sabotage: str | None,
    quick: bool,
    seconds: float | None,
    precision: float | None,
    seed: int,
    cpu: int | None,
    counters: str,
    directory: Path,
    no_figure: bool,
    markdown: bool,
    as_json: bool,
) -> int:
    """Measure EXPERIMENT (an id that `nanokata list` shows) on this machine.

    An area runs all of its experiments one after another, `lab` those of every area but `traps`; the worst exit code is
    taken. `traps` shows what goes wrong on purpose: the wrong answer, the check that fires on it, the right answer. A
    kata's name, plugin-dispatch, runs its phases in order and writes a page that collects them.

    With --sabotage the failures are listed, arm by arm, and the exit code is 1: `nanokata run plugin-dispatch
    --sabotage skip-residual`, or any experiment by its id.
    """
    from nanokata import phases
    from nanokata.catalogue import TRAPS
    from nanokata.measure import expected_seconds

    options: dict[str, Any] = {"precision": precision, "seed": seed, "cpu": cpu}
    if counters != "all":
        options["counters"] = _counters(counters)
    if sabotage is None and (named := phases.named(experiment)) is not None:
        given = kata.given(named, pairs_of(pairs), traffic)
        return kata.run_kata(
            named,
            settings={"quick": quick, "seconds": seconds, "given": given, "preset": preset, "options": options},
            directory=directory / named.name if directory == FIGURES else directory,
            figures=not no_figure,
            markdown=markdown,
            as_json=as_json,
        )
    if markdown:
        wanted = f"{experiment} has no page; {', '.join(phases.KATAS)} has"
        raise InvalidArgument(f"--markdown: {wanted}", name="--markdown", value="true", wanted=wanted)
    experiments = _chosen(experiment, sabotage)
    several = experiment not in {item.id for item in experiments}
    jobs = _jobs(experiments, pairs, traffic, preset)
    # All are looked at before the first one runs.
    expected = [expected_seconds(item.id, quick=quick, seconds=seconds, **settings) for item, settings in jobs]
    if sabotage is None and any(item.area != TRAPS for item in experiments):
        _examine_once(DOCTOR_SECONDS_QUICK if quick else DOCTOR_SECONDS, cpu)
    options |= {"counters": _counters(counters), "sabotage": sabotage, "quick": quick, "seconds": seconds}
    measured = [
        (item, at_most, {**options, **settings}) for (item, settings), at_most in zip(jobs, expected, strict=True)
    ]
    shown_in = None if no_figure else directory
    with _documents(several=several) if as_json else nullcontext(partial(_show, several=several)) as show:
        shown = partial(_show_and_draw, show=show, directory=shown_in, as_json=as_json, several=several)
        results, codes = _measure_all(measured, shown, several=several)
    if several and not as_json:
        _show_overview(results)
    return endings.worst(codes)
