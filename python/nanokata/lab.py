"""The laboratory: every experiment as a function, ``nk.lab.<area>.<name>(...)``.

Signatures and docstrings come from the catalogue; the call is :func:`nanokata.run` with the experiment's id.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from nanokata import catalogue
from nanokata.results import RunResult

_FINDING_OUT = frozenset({"__path__", "__file__", "__all__", "__spec__", "__wrapped__"})


class Area:
    """The experiments of one area, each a function."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.__doc__ = f"Experiments of the area {name}: {', '.join(self.__dir__())}."

    def __getattr__(self, name: str) -> Callable[..., RunResult]:
        if name.startswith("_"):
            raise AttributeError(name)
        for experiment in catalogue.area(self._name):
            if experiment.name == name:
                return _function(experiment.id)
        known = [experiment.name for experiment in catalogue.area(self._name)]
        near = ", ".join(catalogue.nearest(name, known) or known)
        raise AttributeError(f"no experiment is called '{self._name}.{name}'; there is {near}")

    def __dir__(self) -> list[str]:
        return [experiment.name for experiment in catalogue.area(self._name)]

    def __repr__(self) -> str:
        return f"<nanokata.lab.{self._name}: {', '.join(self.__dir__())}>"


def _areas() -> list[str]:
    return list(dict.fromkeys(experiment.area for experiment in catalogue.experiments()))


def __getattr__(name: str) -> Area:
    if name in _FINDING_OUT or name.startswith("_"):
        raise AttributeError(name)
    if name in _areas():
        return _area(name)
    raise AttributeError(f"the lab has no area {name!r}; it has {', '.join(_areas())}")


def __dir__() -> list[str]:
    return _areas()


@functools.cache
def _area(name: str) -> Area:
    return Area(name)


def _docstring(experiment: catalogue.Experiment) -> str:
    lines = [
        experiment.title.rstrip(".") + ".",
        "",
        *textwrap.wrap(experiment.about, 100),
        "",
        "Parameters",
        "----------",
    ]
    for parameter in experiment.parameters:
        several = ", or a list of them" if parameter.series else ""
        lines += [f"{parameter.name} : {parameter.takes}{several}", f"    {parameter.help}"]
    lines += [
        "preset, companions, quick, seconds, precision, margin, seed, cpu, counters, progress",
        "    As for `nanokata.run`.",
        "",
        "Arms",
        "----",
    ]
    for arm in experiment.arms:
        lines += [f"{arm.name}", f"    {arm.help}"]
    return "\n".join(lines) + "\n"


@functools.cache
def _function(experiment_id: str) -> Callable[..., RunResult]:
    from nanokata.measure import run

    experiment = catalogue.find(experiment_id)

    def measure(**settings: Any) -> RunResult:  # noqa: ANN401 (parameters are checked by the core)
        return run(experiment_id, **settings)

    options = [
        parameter
        for parameter in inspect.signature(run).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    own = [
        inspect.Parameter(
            parameter.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=list(parameter.default) if parameter.series else parameter.default[0],
        )
        for parameter in experiment.parameters
    ]
    measure.__name__ = experiment.name
    measure.__qualname__ = f"lab.{experiment_id}"
    measure.__module__ = "nanokata.lab"
    measure.__doc__ = _docstring(experiment)
    measure.__signature__ = inspect.Signature([*own, *options], return_annotation=RunResult)  # type: ignore[attr-defined]
    return measure
