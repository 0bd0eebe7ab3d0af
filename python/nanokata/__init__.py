"""Learn low-level performance by prediction, then measurement.

>>> import nanokata as nk
>>> nk.run("dispatch.selection", quick=True).summary()  # doctest: +SKIP

Everything here is imported on first use, so that ``import nanokata`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version as _version

    from nanokata import binary, dispatch, errors, exercises, figures, lab, plugin, sharing, traffic
    from nanokata.advice import Advice, advise
    from nanokata.catalogue import Experiment, Parameter, experiments
    from nanokata.errors import (
        BinaryError,
        CannotBuild,
        CaptureError,
        ChecksumMismatch,
        InvalidArgument,
        NanokataError,
        NotMeasurable,
        OutOfMemory,
        PinningError,
        PluginRejected,
        ResidualBoundExceeded,
        SystemCallError,
        UncheckedPlugin,
        UnknownExercise,
        UnknownExperiment,
        UnknownProbe,
        WorkerPanic,
        WrongArray,
        WrongType,
    )
    from nanokata.exercises import exercise
    from nanokata.instrument import Doctor, Machine, doctor, machine
    from nanokata.measure import race, run
    from nanokata.phases import KataRun
    from nanokata.results import RaceResult, RunResult, SimulationResult
    from nanokata.simulation import simulate

    __version__ = _version("nanokata")

_MODULES = frozenset({"binary", "dispatch", "errors", "exercises", "figures", "lab", "plugin", "sharing", "traffic"})
_NAMES = {
    "Advice": "advice",
    "advise": "advice",
    "Doctor": "instrument",
    "Experiment": "catalogue",
    "KataRun": "phases",
    "Machine": "instrument",
    "Parameter": "catalogue",
    "RaceResult": "results",
    "RunResult": "results",
    "SimulationResult": "results",
    "doctor": "instrument",
    "exercise": "exercises",
    "experiments": "catalogue",
    "machine": "instrument",
    "race": "measure",
    "run": "measure",
    "simulate": "simulation",
    "BinaryError": "errors",
    "CannotBuild": "errors",
    "CaptureError": "errors",
    "ChecksumMismatch": "errors",
    "InvalidArgument": "errors",
    "NanokataError": "errors",
    "NotMeasurable": "errors",
    "OutOfMemory": "errors",
    "PinningError": "errors",
    "PluginRejected": "errors",
    "ResidualBoundExceeded": "errors",
    "SystemCallError": "errors",
    "UncheckedPlugin": "errors",
    "UnknownExercise": "errors",
    "UnknownExperiment": "errors",
    "UnknownProbe": "errors",
    "WorkerPanic": "errors",
    "WrongArray": "errors",
    "WrongType": "errors",
}

__all__ = [
    "Advice",
    "BinaryError",
    "CannotBuild",
    "CaptureError",
    "ChecksumMismatch",
    "Doctor",
    "Experiment",
    "InvalidArgument",
    "KataRun",
    "Machine",
    "NanokataError",
    "NotMeasurable",
    "OutOfMemory",
    "Parameter",
    "PinningError",
    "PluginRejected",
    "RaceResult",
    "ResidualBoundExceeded",
    "RunResult",
    "SimulationResult",
    "SystemCallError",
    "UncheckedPlugin",
    "UnknownExercise",
    "UnknownExperiment",
    "UnknownProbe",
    "WorkerPanic",
    "WrongArray",
    "WrongType",
    "__version__",
    "advise",
    "binary",
    "dispatch",
    "doctor",
    "errors",
    "exercise",
    "exercises",
    "experiments",
    "figures",
    "lab",
    "machine",
    "plugin",
    "race",
    "run",
    "sharing",
    "simulate",
    "traffic",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a module's attributes are of any type)
    if name in _MODULES:
        return importlib.import_module(f"nanokata.{name}")
    if name in _NAMES:
        value = getattr(importlib.import_module(f"nanokata.{_NAMES[name]}"), name)
    elif name == "__version__":
        value = importlib.import_module("importlib.metadata").version("nanokata")
    else:
        raise AttributeError(f"module 'nanokata' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
