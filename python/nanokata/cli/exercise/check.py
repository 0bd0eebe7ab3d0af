"""`nanokata exercise check`: built, verified, raced, explained."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nanokata.cli import endings


@click.command(cls=endings.Command, short_help="Build, verify and race your file.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--exercise", "name", help="Which exercise it is; by default the one that the file is named after.")
@click.option("--race/--no-race", default=True, show_default=True, help="Race what is right against built-in arms.")
@click.option("--quick/--full", default=True, show_default=True, help="A first look, or narrow intervals.")
@click.option("--seconds", type=float, help="Time bound of the race.")
@click.option("--cpu", type=int, help="CPU to race on.")
@click.option("--timeout", type=float, default=30.0, show_default=True, help="Seconds that verifying may take.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def check(
    path: Path,
    name: str | None,
    race: bool,
    quick: bool,
    seconds: float | None,
    cpu: int | None,
    timeout: float,
    as_json: bool,
) -> int:
    """Build the source PATH, compare it with the plain loop, race it, and explain.

    \b
    nanokata exercise check order.c
    nanokata exercise check mine/first.rs --exercise order --no-race

    Exit codes: 0 passed, 1 a check failed, 2 it couldn't be built, 3 right, but the race has no verdict.
    """  # noqa: D301 (click wants the sign itself)
    from nanokata import exercises
    from nanokata.cli.output import show

    found = exercises.check(path, name, race=race, quick=quick, seconds=seconds, cpu=cpu, timeout=timeout)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        show(found)
    return found.exit_code
