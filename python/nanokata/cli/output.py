"""What commands print on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.console import RenderableType

_NARROWEST, _WIDEST = 80, 100


def show(renderable: RenderableType) -> None:
    """Print a table or a result; colours only on a terminal and not under ``NO_COLOR``."""
    console = Console(highlight=False)
    console.width = min(max(console.width, _NARROWEST), _WIDEST)
    console.print(renderable)
