"""Results as text: one set of tables for the terminal, for `summary()` and for notebooks."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from .catalogue import catalogue_renderable
from .instrument import doctor_renderable, machine_renderable
from .kata import kata_renderable, phase_renderable, verdict_renderable
from .run import run_renderable, trap_in_short
from .simulation import profile_renderable, simulation_renderable
from .traps import overview_renderable, trap_renderable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "catalogue_renderable",
    "doctor_renderable",
    "html",
    "kata_renderable",
    "machine_renderable",
    "overview_renderable",
    "phase_renderable",
    "plain",
    "profile_renderable",
    "run_renderable",
    "simulation_renderable",
    "trap_in_short",
    "trap_renderable",
    "verdict_renderable",
]

_HTML_WIDTH = 88


def plain(renderable: RenderableType, *, width: int = 80) -> str:
    """Return `renderable` as text without colours or trailing blanks."""
    sink = io.StringIO()
    console = Console(file=sink, width=width, no_color=True, force_terminal=False, highlight=False)
    console.print(renderable)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines())


def html(renderable: RenderableType) -> str:
    """Return `renderable` as an HTML fragment for a notebook, which takes its colours from the page."""
    console = Console(
        file=io.StringIO(),
        width=_HTML_WIDTH,
        record=True,
        force_jupyter=False,
        highlight=False,
        no_color=True,
    )
    console.print(renderable)
    style = "line-height:1.25;overflow-x:auto;white-space:pre;font-variant-numeric:tabular-nums"
    return console.export_html(inline_styles=True, code_format=f'<pre style="{style}">{{code}}</pre>')
