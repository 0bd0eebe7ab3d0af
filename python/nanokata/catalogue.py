"""The catalogue: which experiments there are, what they take, and which arms they race."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from nanokata import arguments
from nanokata.errors import UnknownExperiment

__all__ = ["Arm", "Experiment", "Parameter", "area", "chosen", "experiments", "find"]

Kind = Literal["int", "float", "choice", "choice_or_file", "flag"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an experiment.

    `low` and `high` bound numbers (both allowed), `choices` are the words that are taken. `default` holds several
    values where `series` is set: one race a value.
    """

    name: str
    kind: Kind
    default: tuple[bool | int | float | str, ...]
    unit: str
    help: str
    series: bool
    monotonic: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def takes(self) -> str:
        """What values it takes, in a few words."""
        from nanokata.render import numbers

        match self.kind:
            case "int" | "float":
                number = "whole number" if self.kind == "int" else "number"
                low, high = (numbers.parameter(self.name, _whole(bound), self.unit) for bound in (self.low, self.high))
                return f"{number}, {low} … {high}"
            case "choice":
                return " | ".join(self.choices)
            case "choice_or_file":
                return " | ".join((*self.choices, "a file"))
            case "flag":
                return "true | false"


def _whole(bound: float | None) -> int | float:
    if bound is None:
        return math.inf
    return int(bound) if float(bound).is_integer() else bound


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of doing the work, as the catalogue lists it."""

    name: str
    help: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named question: its parameters with this machine's defaults, its arms, its unit."""

    id: str
    title: str
    area: str
    about: str
    unit: str
    parameters: tuple[Parameter, ...]
    arms: tuple[Arm, ...]

    @property
    def name(self) -> str:
        """The id without its area."""
        return self.id.partition(".")[2]

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name, if there is one."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


def _parameter(data: dict[str, Any]) -> Parameter:
    kind = data["kind"]
    return Parameter(
        name=data["name"],
        kind=kind["kind"],
        default=tuple(data["default"]),
        unit=data["unit"],
        help=data["help"],
        series=data["series"],
        monotonic=tuple(data["monotonic"]),
        low=kind.get("low"),
        high=kind.get("high"),
        choices=tuple(kind.get("choices", ())),
    )


def _experiment(data: dict[str, Any]) -> Experiment:
    return Experiment(
        id=data["id"],
        title=data["title"],
        area=data["id"].partition(".")[0],
        about=data["about"],
        unit=data["unit"],
        parameters=tuple(_parameter(item) for item in data["parameters"]),
        arms=tuple(Arm(item["name"], item["help"]) for item in data["arms"]),
    )


@cache
def experiments() -> tuple[Experiment, ...]:
    """Return every experiment, ordered by area; defaults are resolved for this machine."""
    from nanokata import _core

    return tuple(_experiment(item) for item in json.loads(_core.catalogue()))


def area(name: str) -> tuple[Experiment, ...]:
    """Return the experiments of an area, none if there is no such area."""
    return tuple(experiment for experiment in experiments() if experiment.area == name)


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of `known` that look like `name`, best first."""
    known = tuple(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    tails = [item for item in known if name and (name in item or item.partition(".")[2] == name)]
    return tuple(dict.fromkeys([*close, *tails]))[:3]


EVERYTHING = "lab"
"""What stands for all areas together, traps aside."""
TRAPS = "traps"
"""The area whose experiments go wrong on purpose."""


def find(name: str) -> Experiment:
    """Return the experiment with that id, or raise :class:`UnknownExperiment` with the nearest names."""
    name = arguments.word("experiment", name, "wanted an experiment's id, as 'dispatch.selection'")
    for experiment in experiments():
        if experiment.id == name:
            return experiment
    if several := _several(name):
        ids = tuple(experiment.id for experiment in several)
        what = "every area" if name == EVERYTHING else "an area"
        message = f"{name!r} is {what}, and one experiment is wanted: {', '.join(ids)}"
        raise UnknownExperiment(message, name=name, nearest=ids[:3])
    raise _unknown(name, [experiment.id for experiment in experiments()])


def chosen(name: str, also: Iterable[str] = ()) -> tuple[Experiment, ...]:
    """Return the experiments that `name` stands for: one by its id, an area's, or with ``lab`` all but the traps.

    `also` are other names that could have been meant.
    """
    if several := _several(name):
        return several
    ids = [experiment.id for experiment in experiments()]
    if name in ids:
        return (find(name),)
    areas = dict.fromkeys(experiment.area for experiment in experiments())
    raise _unknown(name, [*ids, *areas, EVERYTHING, *also])


def _several(name: str) -> tuple[Experiment, ...]:
    if name != EVERYTHING:
        return area(name)
    return tuple(experiment for experiment in experiments() if experiment.area != TRAPS)


def _unknown(name: str, known: Iterable[str]) -> UnknownExperiment:
    close = nearest(name, known)
    hint = f"nearest: {', '.join(close)}" if close else "`nanokata list` shows them all"
    return UnknownExperiment(f"no experiment is called {name!r}; {hint}", name=name, nearest=close)
