"""Measuring: an experiment of the catalogue by name, or a race of one's own arms."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from nanokata import arguments, presets
from nanokata.catalogue import Experiment, find
from nanokata.errors import InvalidArgument, WrongArray
from nanokata.instrument import Machine, Progress, layout_spread, stored_doctor
from nanokata.results import RaceResult, RunResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nanokata.dispatch import Arm
    from nanokata.phases import Kata, KataRun

__all__ = ["race", "run"]


def _document(text: str, units: dict[str, str]) -> dict[str, Any]:
    from nanokata import _core

    document: dict[str, Any] = json.loads(text)
    document["version"] = _core.__version__
    document["units"] = units
    document.setdefault("doctor", None)
    if document["doctor"] is None:
        known = stored_doctor(Machine(document["machine"]))
        document["doctor"] = None if known is None else dict(known)
    return document


def _plain(name: str, value: object) -> list[presets.Setting]:
    """Return a setting as a list of JSON values; numpy's scalars and arrays are taken too."""
    wanted = "wanted a finite number, a word, true or false, or a list of them"
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidArgument(f"{name} = {value!r}: {wanted}", name=name, value=repr(value), wanted=wanted)
    if isinstance(value, str):
        return [_writable(name, value)]
    if isinstance(value, (bool, int, float)):
        return [value]
    if hasattr(value, "tolist"):
        _refuse_masked(name, value)
        value = value.tolist()
        return _plain(name, value)
    if isinstance(value, (list, tuple, range)):
        return [item for inner in value for item in _plain(name, inner)]
    if isinstance(value, os.PathLike):
        return [_writable(name, os.fsdecode(value))]
    raise arguments.wrong_type(name, value, wanted)


def _refuse_masked(name: str, value: object) -> None:
    import numpy as np

    if isinstance(value, np.ma.MaskedArray):
        wanted, seen = "a plain ndarray or a list", "a masked array, whose mask would be ignored"
        raise WrongArray(f"{name}: wanted {wanted}; got {seen}", wanted=wanted, given=seen)


def _writable(name: str, text: str) -> str:
    """Return a text that UTF-8 can hold, as what the core takes has to."""
    try:
        text.encode()
    except UnicodeEncodeError:
        wanted = "wanted a text in UTF-8; give a file whose name isn't another name"
        raise InvalidArgument(f"{name} = {text!r}: {wanted}", name=name, value=repr(text), wanted=wanted) from None
    return text


Counters = bool | str | Sequence[str]
"""Which counters a race reads: all, none, or those named."""


def _counters(counters: Counters) -> list[str] | None:
    """Return what the core takes: ``None`` for all, an empty list for none, names."""
    wanted = "wanted true for all, false for none, or names, as ['cycles', 'instructions']"
    if isinstance(counters, bool):
        return None if counters else []
    if isinstance(counters, str):
        return [counters]
    if not isinstance(counters, Iterable):
        raise arguments.wrong_type("counters", counters, wanted)
    names = [arguments.word("counters", name, wanted) for name in counters]
    if not names:
        raise InvalidArgument(f"counters = []: {wanted}", name="counters", value="[]", wanted=wanted)
    return names


def values_of(known: Experiment, preset: str | None, parameters: Mapping[str, object]) -> str:
    """Return what the core takes: the preset's values and, over them, the given ones."""
    values = {name: [value] for name, value in presets.values(known.id, preset).items()}
    for name, value in parameters.items():
        if known.parameter(name) is None:
            takes = ", ".join(parameter.name for parameter in known.parameters)
            wanted = f"{known.id} takes {takes}"
            raise InvalidArgument(f"{name} = {value!r}: {wanted}", name=name, value=repr(value), wanted=wanted)
        values[name] = _plain(name, value)
        _refuse_twice(name, values[name])
    return json.dumps(values)


def _refuse_twice(name: str, values: Sequence[presets.Setting]) -> None:
    """Refuse a value given twice: a list asks for one race a value, and less than asked for isn't run silently."""
    seen: set[object] = set()
    for value in values:
        same = _number_in(value)
        if same in seen:
            wanted = "wanted each value once: a list runs one race a value"
            raise InvalidArgument(f"{name} = {value!r}, twice: {wanted}", name=name, value=repr(value), wanted=wanted)
        seen.add(same)


def _number_in(value: presets.Setting) -> object:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return value


def expected_seconds(
    experiment: str,
    /,
    *,
    preset: str | None = None,
    companions: bool = True,
    quick: bool = False,
    seconds: float | None = None,
    **parameters: object,
) -> float:
    """Return about how long :func:`run` takes at most, in seconds; refuses what it would refuse."""
    from nanokata import _core

    values = values_of(find(experiment), preset, parameters)
    bound = arguments.optional_real("seconds", seconds)
    return _core.expected_seconds(experiment, values, companions=companions, quick=quick, seconds=bound)


def _kata(name: object) -> Kata | None:
    """Return the kata of that name; what has a dot is an experiment's id, and costs no import."""
    if not isinstance(name, str) or "." in name:
        return None
    from nanokata import phases

    return phases.named(name)


@overload
def run(  # type: ignore[overload-overlap]
    experiment: Literal["plugin-dispatch"],
    /,
    **settings: Any,  # noqa: ANN401 (those of the function below)
) -> KataRun: ...
@overload
def run(
    experiment: str,
    /,
    *,
    preset: str | None = None,
    companions: bool = True,
    sabotage: str | None = None,
    quick: bool = False,
    seconds: float | None = None,
    precision: float | None = None,
    margin: float | None = None,
    seed: SupportsIndex = 0,
    cpu: SupportsIndex | None = None,
    counters: Counters = True,
    progress: Progress | None = None,
    **parameters: object,
) -> RunResult: ...
def run(
    experiment: str,
    /,
    *,
    preset: str | None = None,
    companions: bool = True,
    sabotage: str | None = None,
    quick: bool = False,
    seconds: float | None = None,
    precision: float | None = None,
    margin: float | None = None,
    seed: SupportsIndex = 0,
    cpu: SupportsIndex | None = None,
    counters: Counters = True,
    progress: Progress | None = None,
    **parameters: object,
) -> RunResult | KataRun:
    """Measure an experiment of the catalogue on this machine.

    Parameters
    ----------
    experiment : str
        Its id, as ``"dispatch.selection"``; :func:`experiments` lists them. Or a kata's name, ``"plugin-dispatch"``,
        which runs all of the kata's phases and returns a :class:`KataRun`. One only: the command ``nanokata run``
        takes areas too.
    preset : str, optional
        Values of parameters under one name; those given explicitly win. ``"original"`` gives the dispatch experiments
        that replay traffic the published kata's pool, 32,768 packets; what runs beside them keeps its own.
    companions : bool
        Whether experiments that belong beside this one are run too.
    sabotage : str, optional
        A fault to build into every arm that can have it, as ``"skip-residual"`` (a wrong name is told which there are).
        Then nothing is timed: each arm is raced, broken, against its sound twin, and the checksums have to catch it;
        every arm that they catch is a failed check.
    quick : bool
        Fewer blocks and wider intervals, for a first look.
    seconds : float, optional
        Time bound of each race, in seconds.
    precision : float, optional
        Half-width of each ratio's interval at which a race stops, relative (0.0025 is 0.25 %).
    margin : float, optional
        Half-width of the band in which a ratio counts as the same, relative (0.005 is 0.5 %).
    seed : int
        Seed of input and placement.
    cpu : int, optional
        CPU to measure on; by default the first allowed performance core that isn't CPU 0.
    counters : bool or sequence of str
        Which hardware and software counters are read around an untimed pass of each arm: all, none, or these, as
        ``["cycles", "l1i_misses"]``; what can't be counted here says why (:meth:`RunResult.counted`).
    progress : callable, optional
        Called about ten times a second with what is being done and the fraction behind us.
    **parameters
        The experiment's own parameters; a list where it takes one runs a race a value. With a kata's name, each of
        its experiments takes those that it has.

    Raises
    ------
    UnknownExperiment, InvalidArgument, PinningError, ChecksumMismatch, NotMeasurable
        Each says what was wrong, with which value, and what to do.
    """
    if (kata := _kata(experiment)) is not None:
        from nanokata import phases

        if sabotage is not None:
            wanted = "a kata isn't sabotaged as a whole; break one of its experiments, as dispatch.selection"
            text = f"sabotage = {sabotage!r}: {wanted}"
            raise InvalidArgument(text, name="sabotage", value=repr(sabotage), wanted=wanted)
        options = {"precision": precision, "margin": margin, "seed": seed, "cpu": cpu}
        return phases.run(
            kata, quick=quick, seconds=seconds, given=parameters, preset=preset, options=options, progress=progress
        )
    from nanokata import _core

    known = find(experiment)
    text = _core.run_experiment(
        experiment,
        values_of(known, preset, parameters),
        companions=companions,
        sabotage=None if sabotage is None else arguments.word("sabotage", sabotage, "wanted a fault's name"),
        quick=quick,
        seconds=arguments.optional_real("seconds", seconds),
        precision=arguments.optional_real("precision", precision),
        margin=arguments.optional_real("margin", margin),
        layout_spread=layout_spread(),
        seed=arguments.whole("seed", seed),
        cpu=arguments.cpu_number(cpu),
        counters=_counters(counters),
        progress=progress,
    )
    units = {parameter.name: parameter.unit for parameter in known.parameters if parameter.unit}
    return RunResult(_document(text, units))


def race(
    arms: Mapping[str, Arm] | Sequence[Arm],
    packets: NDArray[np.void],
    *,
    baseline: str | None = None,
    control: Mapping[str, str] | None = None,
    quick: bool = False,
    seconds: float | None = None,
    precision: float | None = None,
    margin: float | None = None,
    order: str = "balanced",
    tails: bool = False,
    seed: SupportsIndex = 0,
    cpu: SupportsIndex | None = None,
    counters: Counters = True,
    progress: Progress | None = None,
) -> RaceResult:
    """Race arms against each other over the same packets, interleaved in balanced order.

    The packets are copied into an aligned pool of the race's own for each block, outside the timer.

    Parameters
    ----------
    arms : mapping of str to Arm, or sequence of Arm
        What to race; a sequence takes each arm's own name.
    packets : ndarray of PACKET, one-dimensional, contiguous
        What every arm replays.
    baseline : str, optional
        The arm that the others are compared with; the first by default.
    control : mapping of str to str, optional
        Arms whose time equals another's by construction, as ``{"table again": "table"}``. If one doesn't read the
        same, nothing is concluded.
    quick, seconds, precision, margin, seed, cpu, counters, progress
        As for :func:`run`.
    order : {"balanced", "arm-major"}
        How reps follow each other. ``"arm-major"`` runs one arm after the other, and exists to show what that does.
    tails : bool
        Whether each packet is timed by itself too, between two fenced readings of the timestamp counter: percentiles of
        its latency in isolation, in each arm's ``tail`` and the columns ``p50`` to ``max``. Takes half of the time.

    Raises
    ------
    ChecksumMismatch
        If an arm computes other results than plain reference code does; no figure is reported.
    InvalidArgument, WrongArray, PinningError
        If the arguments can't be used.
    """
    from nanokata import _core

    named = _named(arms)
    names = list(named)
    text = _core.race(
        [(name, named[name]) for name in names],
        packets,
        baseline=_baseline(baseline, names),
        control=_control(control),
        quick=quick,
        seconds=arguments.optional_real("seconds", seconds),
        precision=arguments.optional_real("precision", precision),
        margin=arguments.optional_real("margin", margin),
        layout_spread=layout_spread(),
        order=arguments.word("order", order, "wanted balanced or arm-major"),
        tails=arguments.flag("tails", tails),
        seed=arguments.whole("seed", seed),
        cpu=arguments.cpu_number(cpu),
        counters=_counters(counters),
        progress=progress,
    )
    return RaceResult(_document(text, {"packets": "packets"}))


def _named(arms: Mapping[str, Arm] | Sequence[Arm]) -> dict[str, Arm]:
    """Return the arms by name, all of them arms and all named by words."""
    from nanokata._core import Arm as ArmClass

    wanted = "wanted a mapping of names to arms, or a sequence of arms"
    given: object = arms
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        raise arguments.wrong_type("arms", arms, wanted)
    pairs = list(arms.items()) if isinstance(arms, Mapping) else [("", arm) for arm in arms]
    for name, arm in pairs:
        arguments.word("arms", name, "wanted arms named by texts")
        if not isinstance(arm, ArmClass):
            raise _no_arm(arm, wanted)
    return dict(pairs) if isinstance(arms, Mapping) else _by_name([arm for _, arm in pairs])


def _no_arm(given: object, wanted: str) -> Exception:
    if callable(given):
        compiled = (
            "a Python callable can't be raced: calling it costs more than what it is to be compared with. "
            "Compile it, and race nanokata.plugin.arm('./libmine.so', handlers)"
        )
        return arguments.wrong_type("arms", given, compiled)
    return arguments.wrong_type("arms", given, f"{wanted}, as nanokata.dispatch makes them")


def _baseline(baseline: str | None, names: Sequence[str]) -> str:
    if baseline is None:
        return names[0] if names else ""
    return arguments.word("baseline", baseline, "wanted an arm's name")


def _control(control: Mapping[str, str] | None) -> dict[str, str]:
    wanted = "wanted a mapping of an arm's name to another's, as {'table again': 'table'}"
    if control is None:
        return {}
    if not isinstance(control, Mapping):
        raise arguments.wrong_type("control", control, wanted)
    return {arguments.word("control", a, wanted): arguments.word("control", b, wanted) for a, b in control.items()}


def _by_name(arms: Sequence[Arm]) -> dict[str, Arm]:
    named: dict[str, Arm] = {}
    for arm in arms:
        name, again = arm.name, 2
        while name in named:
            name, again = f"{arm.name} ({again})", again + 1
        named[name] = arm
    return named
