"""`nanokata plugin check`: whether a host can live with a library, tried in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nanokata.cli import endings


@click.command(cls=endings.Command, short_help="Try a plugin in a process of its own.")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--timeout", type=float, default=10.0, show_default=True, help="Seconds that each may take.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON: a list.")
def check(paths: tuple[Path, ...], timeout: float, as_json: bool) -> int:
    """Examine libraries, each in a process of its own, so that a crash or a hang is a verdict.

    \b
    nanokata plugin check libmine.so
    nanokata plugin check ./*.so --timeout 60 --json

    Exit codes: 0 all passed, 1 one failed, 2 one couldn't be read. What passed is remembered by its SHA-256, and
    loading it warns no more.
    """  # noqa: D301 (click wants the sign itself)
    from nanokata import plugin
    from nanokata.cli.output import show

    found = []
    for path in paths:
        checked = plugin.check(path, timeout=timeout)
        found.append(checked)
        if not as_json:
            if len(found) > 1:
                click.echo()
            show(checked)
    if as_json:
        click.echo(json.dumps([checked.to_dict() for checked in found], indent=2, ensure_ascii=False))
    for checked in found:
        if not checked.readable:
            endings.complain(f"{checked['file'].detail} ({checked.path})")
    # What couldn't be examined before what failed: a script that asked for the wrong file should learn it.
    return max(checked.exit_code for checked in found)
