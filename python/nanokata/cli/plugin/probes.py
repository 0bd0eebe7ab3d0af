"""`nanokata plugin probes`: the failures that a C boundary makes impossible, provoked."""

from __future__ import annotations

import json

import click

from nanokata.cli import endings


@click.command(cls=endings.Command, short_help="Provoke what the plugin ABI rules out.")
@click.argument("names", metavar="[NAME…]", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="List the probes, and run none.")
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds for each compilation and run.")
@click.option("--json", "as_json", is_flag=True, help="Print all that was seen as JSON.")
def probes(names: tuple[str, ...], listed: bool, timeout: float, as_json: bool) -> None:
    """Provoke the silent failures that the plugin ABI rules out, each in a process of its own.

    \b
    nanokata plugin probes
    nanokata plugin probes panics        one, with all that was seen
    nanokata plugin probes --list

    What people say of each is confirmed or refuted by what is seen on this machine. Compilers are needed; without
    one, its probes say so.
    """  # noqa: D301 (click wants the sign itself)
    from nanokata.cli.output import show
    from nanokata.plugin import probing

    if listed:
        for probe in probing.PROBES:
            click.echo(f"{probe.name:<12}{probe.question}")
        return

    def progress(name: str, fraction: float) -> None:
        click.echo(f"{100 * fraction:3.0f} %  {name}", err=True)

    found = probing.probes(names or None, timeout=timeout, progress=progress)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2))
    else:
        show(found.__rich__())
