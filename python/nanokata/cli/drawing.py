"""Figures that a command draws besides what it prints."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(make: Callable[[], Figure], target: Path) -> Path | None:
    """Make a figure and save it as `target`; where that fails, warn and return ``None``."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        make().savefig(target, bbox_inches="tight", pad_inches=0.15)
    except Exception as problem:  # noqa: BLE001 (the result is measured and shown: no figure is worth losing it)
        instead = "--out DIR puts it elsewhere" if isinstance(problem, OSError) else "--no-figure leaves it out"
        warnings.warn(f"no figure was drawn: {str(problem) or type(problem).__name__}; {instead}", stacklevel=2)
        return None
    return target


def draw_and_say(make: Callable[[], Figure], target: Path, *, err: bool = False) -> None:
    """Draw what was printed already, and say where the figure is."""
    sys.stdout.flush()
    if draw(make, target) is not None:
        click.echo(f"figure: {target}", err=err)
