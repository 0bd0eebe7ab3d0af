"""`nanokata exercise`: write dispatch code and plugins of one's own, and have them checked."""

from __future__ import annotations

import click

from .check import check
from .listing import list_exercises
from .start import start


@click.group(short_help="Write plugins and arms of your own.", context_settings={"max_content_width": 80})
def exercise() -> None:
    """Write plugins and arms of your own, in C, C++ or Rust, and have them checked."""


exercise.add_command(check)
exercise.add_command(list_exercises)
exercise.add_command(start)
