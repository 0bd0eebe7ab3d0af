"""Simulating: an experiment's arms under valgrind's callgrind, for exact counts instead of times."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

from nanokata import arguments, measure, presets
from nanokata.catalogue import Experiment, find
from nanokata.errors import InvalidArgument, NotMeasurable
from nanokata.instrument import Progress
from nanokata.results.simulation import SimulationResult

__all__ = ["expected_seconds", "simulate"]

_BOOTSTRAP = """\
import sys, _imp
from importlib.machinery import ExtensionFileLoader, ModuleSpec
file, job = sys.argv[1:]
core = _imp.create_dynamic(ModuleSpec("_core", ExtensionFileLoader("_core", file), origin=file))
_imp.exec_dynamic(core)
core.perform_simulation(job)
"""
"""What the process under valgrind runs: the extension alone, without numpy and without the package around it."""

_FLAGS = ("-S", "-s", "-P", "-B")
"""An interpreter without site packages. Not ``-I``, which would have it ignore the hash seed of its environment."""

_SECONDS_A_PROCESS = 4.0
"""About how long a process takes: an interpreter's start, the workload, some ten million instructions."""


def _performer() -> tuple[str, list[str]]:
    """Return the command that performs a job."""
    from nanokata import _core

    if not sys.executable:
        reason = "this interpreter doesn't know its own program (sys.executable), which valgrind has to run"
        raise NotMeasurable(f"a simulation can't be measured here: {reason}", what="a simulation", reason=reason)
    return sys.executable, [*_FLAGS, "-c", _BOOTSTRAP, str(_core.__file__)]


def _environment() -> dict[str, str]:
    """Return the process's whole environment, the same each time: its size moves the stack, and so data misses."""
    fixed = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    # Some interpreters don't start without these.
    needed = ("LD_LIBRARY_PATH", "PYTHONHOME", "VALGRIND_LIB")
    return fixed | {name: os.environ[name] for name in needed if name in os.environ}


def _values(known: Experiment, preset: str | None, parameters: Mapping[str, object]) -> str:
    own = presets.simulated(known.id, preset)
    if own is None:
        return measure.values_of(known, preset, parameters)
    return measure.values_of(known, None, {**own.values, **parameters})


def _arms(known: Experiment, preset: str | None, arms: str | Sequence[str] | None) -> list[str]:
    """Return the arms by name: those given, else the preset's, else none, which stands for all but the controls."""
    if arms is None:
        own = presets.simulated(known.id, preset)
        return [] if own is None else list(own.arms)
    wanted = f"wanted names of arms: {', '.join(arm.name for arm in known.arms)}"
    if isinstance(arms, str):
        return [arms]
    if not isinstance(arms, Sequence):
        raise arguments.wrong_type("arms", arms, wanted)
    if not arms:
        raise InvalidArgument(f"arms = []: {wanted}", name="arms", value="[]", wanted=wanted)
    return [arguments.word("arms", arm, wanted) for arm in arms]


def expected_seconds(
    experiment: str,
    /,
    *,
    preset: str | None = None,
    arms: str | Sequence[str] | None = None,
    runs: int = 2,
    jobs: int | None = None,
    **parameters: object,
) -> float:
    """Return about how long :func:`simulate` takes, in seconds; refuses most of what it would refuse."""
    from nanokata import _core

    known = find(experiment)
    processes = _core.simulation_processes(
        known.id, _values(known, preset, parameters), arms=_arms(known, preset, arms), runs=runs
    )
    return _SECONDS_A_PROCESS * processes / (jobs or os.cpu_count() or 1)


def simulate(
    experiment: str,
    /,
    *,
    preset: str | None = None,
    arms: str | Sequence[str] | None = None,
    passes: SupportsIndex = 1,
    runs: SupportsIndex = 2,
    quick: bool = False,
    timeout: float = 120.0,
    jobs: SupportsIndex | None = None,
    seed: SupportsIndex = 0,
    progress: Progress | None = None,
    **parameters: object,
) -> SimulationResult:
    """Count what an experiment's arms do on a simulated machine: exact, repeatable, without privileges, and no times.

    Each arm of each setting runs in a process of its own under valgrind's callgrind, which simulates this machine's
    first and last level of cache and simple branch predictors. One pass over the whole input settles the simulated
    caches; the passes after it are counted, and nothing else. On a busy machine the counts are the same.

    What the simulation doesn't know: levels between the first and the last, prefetchers, speculation; its predictor of
    indirect branches knows each site's last target only, so that those mispredictions are an upper bound.

    Parameters
    ----------
    experiment : str
        Its id, as ``"dispatch.mechanism"``. Experiments whose arms run several threads can't be simulated.
    preset : str, optional
        Values of parameters under one name; those given explicitly win. Besides :func:`run`'s: ``"causes"`` of
        ``dispatch.mechanism`` crosses bodies with traffic, so that fetching code and guessing targets come apart;
        ``"profile"`` of ``dispatch.selection`` profiles the scan and the table.
    arms : str or sequence of str, optional
        Arms to simulate; by default all but the controls, which do another arm's work once more.
    passes : int
        How many passes over the input are counted.
    runs : int
        Processes an arm: two show that its counts repeat to the last digit.
    quick : bool
        One run an arm.
    timeout : float
        Seconds that an arm may take under valgrind.
    jobs : int, optional
        Processes at once; by default as many as CPUs may be used. Counts don't depend on it.
    seed : int
        Seed of input and placement.
    progress : callable, optional
        Called about ten times a second with what is being done and the fraction behind us.
    **parameters
        The experiment's own parameters; here each may be a list: every combination is a setting.

    Returns
    -------
    SimulationResult
        Events an operation, by arm and setting; :attr:`~SimulationResult.profile` says where instructions fell.

    Raises
    ------
    NotMeasurable
        Without valgrind (the message says what to install), where it fails, or where an arm takes too long.
    UnknownExperiment, InvalidArgument, ChecksumMismatch
        Each says what was wrong, with which value, and what to do.
    """
    from nanokata import _core

    known = find(experiment)
    text = _core.simulate_experiment(
        known.id,
        _values(known, preset, parameters),
        arms=_arms(known, preset, arms),
        passes=arguments.whole("passes", passes, low=1, high=2**32 - 1),
        runs=1 if quick else arguments.whole("runs", runs, low=1, high=2**32 - 1),
        timeout=arguments.real("timeout", timeout),
        jobs=arguments.optional_whole("jobs", jobs, low=1),
        seed=arguments.whole("seed", seed),
        performer=_performer(),
        environment=_environment(),
        path=os.environ.get("PATH", os.defpath),
        progress=progress,
    )
    document: dict[str, Any] = json.loads(text)
    document["version"] = _core.__version__
    document["units"] = {parameter.name: parameter.unit for parameter in known.parameters if parameter.unit}
    return SimulationResult(document)
