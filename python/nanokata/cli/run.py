"""`nanokata run`: measure an experiment, print what came out, draw its figure."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanokata.errors import InvalidArgument

from . import output, progress

if TYPE_CHECKING:
    from nanokata.catalogue import Experiment
    from nanokata.results import RunResult


def _settings(experiment: Experiment, pairs: tuple[str, ...], traffic: str | None) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            wanted = "wanted --set NAME=VALUE, as --set handlers=10,100"
            raise InvalidArgument(f"--set {pair}: {wanted}", name="--set", value=pair, wanted=wanted)
        parameter = experiment.parameter(name)
        series = parameter is not None and parameter.series
        settings[name] = [item for item in value.split(",") if item] if series else value
    if traffic is not None:
        taking = [parameter.name for parameter in experiment.parameters if parameter.kind == "choice_or_file"]
        if not taking:
            wanted = f"{experiment.id} replays no traffic; leave it out"
            raise InvalidArgument(f"--traffic {traffic}: {wanted}", name="--traffic", value=traffic, wanted=wanted)
        settings[taking[0]] = traffic
    return settings


def _draw(result: RunResult, directory: Path) -> Path | None:
    from nanokata import figures

    target = directory / f"{result.experiment}.png"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        figures.draw(result).savefig(target, bbox_inches="tight", pad_inches=0.15)
    except OSError as problem:
        warnings.warn(f"no figure was drawn: {problem}; --out DIR puts it elsewhere", stacklevel=2)
        return None
    return target


DOCTOR_SECONDS = 2.0
"""Time of each of the two races that the doctor's short form takes before the first run of a build."""
DOCTOR_SECONDS_QUICK = 0.5
"""The same before a quick run."""


def _examine_once(seconds: float, cpu: int | None) -> None:
    """Have the doctor look, in its short form, unless it has looked as closely at this machine and build before."""
    import nanokata
    from nanokata.instrument import stored_doctor

    known = stored_doctor(nanokata.machine())
    if known is not None and (known["trials"] > 0 or known["trial_seconds"] >= seconds):
        return
    with progress.shown("doctor") as update:
        nanokata.doctor(trial_seconds=seconds, cpu=cpu, progress=update)


@click.command(short_help="Measure an experiment.")
@click.argument("experiment")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter; commas separate several values where it takes them.",
)
@click.option("--traffic", metavar="FILE|NAME", help="Replay a capture's packets, or a named distribution.")
@click.option("--quick", is_flag=True, help="Fewer blocks and wider intervals, for a first look.")
@click.option("--seconds", type=float, help="Time bound of each race.")
@click.option("--precision", type=float, help="Half-width of each ratio at which a race stops (0.0025).")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of input and placement.")
@click.option("--cpu", type=click.IntRange(0), help="CPU to measure on.")
@click.option(
    "--out",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("nanokata-figures"),
    show_default=True,
    help="Where the figure goes.",
)
@click.option("--no-figure", is_flag=True, help="Draw no figure.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def run(
    experiment: str,
    pairs: tuple[str, ...],
    traffic: str | None,
    quick: bool,
    seconds: float | None,
    precision: float | None,
    seed: int,
    cpu: int | None,
    directory: Path,
    no_figure: bool,
    as_json: bool,
) -> int:
    """Measure EXPERIMENT (an id that `nanokata list` shows) on this machine."""
    import nanokata
    from nanokata.catalogue import find

    settings = _settings(find(experiment), pairs, traffic)
    _examine_once(DOCTOR_SECONDS_QUICK if quick else DOCTOR_SECONDS, cpu)
    with progress.shown(experiment) as update:
        result = nanokata.run(
            experiment,
            quick=quick,
            seconds=seconds,
            precision=precision,
            seed=seed,
            cpu=cpu,
            progress=update,
            **settings,
        )
    drawn = None if no_figure else _draw(result, directory)
    if as_json:
        click.echo(result.to_json(indent=2))
    else:
        output.show(result)
    if drawn is not None:
        click.echo(f"figure: {drawn}", err=as_json)
    return result.exit_code
