"""The catalogue as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from . import numbers
from .tables import blank

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.catalogue import Experiment


def _parameters(experiment: Experiment) -> RenderableType:
    table = blank()
    table.add_column("--set", no_wrap=True)
    table.add_column("default")
    table.add_column("takes", ratio=1)
    for parameter in experiment.parameters:
        default = ", ".join(numbers.parameter(parameter.name, value, parameter.unit) for value in parameter.default)
        takes = f"{parameter.takes}{'; a list runs a race a value' if parameter.series else ''}"
        table.add_row(parameter.name, default, f"{parameter.help} ({takes})")
    return table


def catalogue_renderable(experiments: Iterable[Experiment], *, detailed: bool = False) -> RenderableType:
    """Return the experiments by area; with parameters and arms if `detailed`."""
    parts: list[RenderableType] = []
    if detailed:
        for experiment in experiments:
            parts += [
                Text(f"{experiment.id}: {experiment.title}", style="bold"),
                Text(experiment.about),
                Text(),
            ]
            parts += [_parameters(experiment), Text()]
            arms = blank()
            arms.add_column("arm", no_wrap=True)
            arms.add_column(f"what it does ({experiment.unit})", ratio=1)
            for arm in experiment.arms:
                arms.add_row(arm.name, arm.help)
            parts += [arms, Text()]
        return Group(*parts)
    table = blank()
    table.add_column("experiment", no_wrap=True)
    table.add_column("question", ratio=1)
    table.add_column("parameters")
    for experiment in experiments:
        table.add_row(experiment.id, experiment.title, ", ".join(item.name for item in experiment.parameters))
    return table
