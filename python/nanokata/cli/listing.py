"""`nanokata list`: the catalogue."""

from __future__ import annotations

import dataclasses
import json

import click

from . import endings, output


@click.command("list", cls=endings.Command, short_help="Show the experiments.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the catalogue as JSON.")
def list_experiments(name: str | None, as_json: bool) -> None:
    """Show the experiments, or with NAME (an id, an area, a kata) their parameters and arms."""
    from nanokata import catalogue, phases
    from nanokata.render import catalogue_renderable

    if name and (kata := phases.named(name)) is not None:
        chosen = tuple(catalogue.find(job.experiment) for phase in kata.phases for job in phase.jobs)
    else:
        chosen = catalogue.chosen(name, also=phases.KATAS) if name else catalogue.experiments()
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(item) for item in chosen], indent=2, ensure_ascii=False))
    else:
        output.show(catalogue_renderable(chosen, detailed=bool(name)))
