"""`nanokata plugin build`: a library from a source file, with the system's compiler."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nanokata.cli import endings


@click.command(cls=endings.Command, short_help="Build a library from a source file.")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The library; by default SOURCE's name with .so, here."
)
@click.option("--compiler", help="Another compiler than the system's.")
@click.option("--option", "options", multiple=True, help="One more option for the compiler; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print what was built as JSON.")
def build(source: Path, output: Path | None, compiler: str | None, options: tuple[str, ...], as_json: bool) -> None:
    """Build a library from SOURCE (.c, .cpp, .cc, .cxx or .rs) with the system's compiler.

    \b
    nanokata plugin build mine.c
    nanokata plugin build mine.cpp -o libmine.so --option=-O2
    """  # noqa: D301 (click wants the sign itself)
    from nanokata import plugin

    built = plugin.build(source, output, compiler=compiler, options=options)
    if built.warnings:
        click.echo(built.warnings, err=True)
    if as_json:
        named = {"library": str(built.library), "compiler": built.compiler, "command": built.command}
        click.echo(json.dumps({**named, "warnings": built.warnings}, indent=2))
    else:
        click.echo(f"{built.command}\n{built.library} built by {built.compiler}")
