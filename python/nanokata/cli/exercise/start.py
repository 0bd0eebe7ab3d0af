"""`nanokata exercise start`: a starter in a folder of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nanokata.cli import endings


@click.command(cls=endings.Command, short_help="Copy a starter, to work on.")
@click.argument("name")
@click.argument("folder", metavar="[DIR]", required=False, default=Path(), type=click.Path(path_type=Path))
@click.option("--language", default="c", show_default=True, help="c or rust; for some exercises cpp.")
@click.option("--solution", is_flag=True, help="Copy the worked solution instead.")
@click.option("--json", "as_json", is_flag=True, help="Print what was copied as JSON.")
def start(name: str, folder: Path, language: str, solution: bool, as_json: bool) -> None:
    """Copy the starter of exercise NAME and its brief into DIR, by default here. Nothing is overwritten.

    \b
    nanokata exercise start order
    nanokata exercise start table mine --language rust
    """  # noqa: D301 (click wants the sign itself)
    from nanokata import exercises

    started = exercises.start(name, folder, language=language, solution=solution)
    if as_json:
        paths = {"source": str(started.source), "brief": str(started.brief)}
        headers = [str(header) for header in started.headers]
        named = {"exercise": started.exercise, "language": started.language, **paths, "headers": headers}
        click.echo(json.dumps(named, indent=2))
    else:
        click.echo(f"read {started.brief}, change {started.source}, then type")
        click.echo(f"nanokata exercise check {started.source}")
