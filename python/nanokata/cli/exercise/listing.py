"""`nanokata exercise list`: what there is to do."""

from __future__ import annotations

import json

import click

from nanokata.cli import endings, output


@click.command("list", cls=endings.Command, short_help="Show the exercises.")
@click.option("--json", "as_json", is_flag=True, help="Print the exercises as JSON.")
def list_exercises(as_json: bool) -> None:
    """Show the exercises, and in which languages each can be done.

    \b
    nanokata exercise list
    nanokata exercise list --json
    """  # noqa: D301 (click wants the sign itself)
    from nanokata import exercises
    from nanokata.render.exercise import exercises_renderable

    known = exercises.exercises()
    if as_json:
        shown = [
            {"id": one.id, "title": one.title, "kind": one.kind, "languages": one.languages, "brief": str(one.brief)}
            for one in known
        ]
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        output.show(exercises_renderable(known))
