"""`nanokata plugin`: what one does with a library that was compiled apart."""

from __future__ import annotations

import click

from .build import build
from .check import check
from .load import load
from .probes import probes


@click.group(short_help="Build, check and load plugins.", context_settings={"max_content_width": 80})
def plugin() -> None:
    """Build, check and load packet handlers that were compiled apart from this package."""


plugin.add_command(build)
plugin.add_command(check)
plugin.add_command(load)
plugin.add_command(probes)
