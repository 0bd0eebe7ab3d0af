"""What commands print on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.console import Console

if TYPE_CHECKING:
    from rich.console import RenderableType

_NARROWEST, _WIDEST = 80, 100


def show(renderable: RenderableType) -> None:
    """Print a table or a result; plain text where nobody looks, colours only on a terminal without ``NO_COLOR``."""
    from nanokata.render import plain

    console = Console(highlight=False)
    if not console.is_terminal:
        click.echo(plain(renderable))
        return
    console.width = min(max(console.width, _NARROWEST), _WIDEST)
    console.print(renderable)
