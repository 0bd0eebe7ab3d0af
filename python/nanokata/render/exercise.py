"""Exercises as tables, and what came of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from .run import run_renderable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.exercises import Checked, Exercise

_WORDS = {"held": "held", "failed": "failed", "not_applicable": "not applicable"}


def exercises_renderable(exercises: Sequence[Exercise]) -> RenderableType:
    """Return the exercises, one a row."""
    table = Table("exercise", "what it is", "languages", box=None, pad_edge=False, header_style="bold")
    for one in exercises:
        table.add_row(one.id, one.title, ", ".join(one.languages))
    return table


def checked_renderable(checked: Checked) -> RenderableType:
    """Return the checks, the fields that may not cross, the race, and what there is to learn or to try."""
    table = Table("check", "", "seen", box=None, pad_edge=False, header_style="bold")
    for one in checked.checks:
        style = "red" if one.outcome == "failed" else ""
        table.add_row(Text(one.name), Text(_WORDS.get(one.outcome, one.outcome), style=style), Text(one.detail))
    shown: list[RenderableType] = [
        Text(f"{checked.exercise.id}: {checked.exercise.title}", style="bold"),
        Text(),
        table,
    ]
    shown += [Text()] * bool(checked.broken)
    shown += [Text(str(one)) for one in checked.broken]
    if checked.race is not None:
        shown += [Text(), run_renderable(checked.race)]
    shown += [Text(), _explained(checked)]
    return Group(*shown)


def _explained(checked: Checked) -> Text:
    if checked.passed:
        return Text(f"Passed. {checked.exercise.learnt}")
    hints = "".join(f"\n- {hint}" for hint in checked.exercise.hints)
    return Text(f"Not yet: {checked.failed[0].name} failed. Hints:{hints}")
