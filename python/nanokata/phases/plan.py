"""What a kata's run consists of: its phases in order, and what each of them runs, examines and says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanokata.results.records import Check, Fact

if TYPE_CHECKING:
    from nanokata.instrument import Doctor, Progress
    from nanokata.phases.result import KataRun, PhaseResult


@dataclass(frozen=True, slots=True)
class Job:
    """An experiment that a phase runs: its parameters, and the time bound of each of its races in seconds.

    `quick` are the parameters that differ in a quick run, and `quick_seconds` its bound.
    """

    experiment: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 2.0
    quick: Mapping[str, Any] = field(default_factory=dict)
    quick_seconds: float = 0.5
    companions: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """How a kata is run, as far as an examination has to know."""

    quick: bool
    seed: int
    cpu: int | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class Examination:
    """What a phase found out by itself, without a race: checks, facts, and the doctor's findings if it asked it."""

    checks: tuple[Check, ...] = ()
    facts: tuple[Fact, ...] = ()
    doctor: Doctor | None = None


Examine = Callable[[Setting, "tuple[PhaseResult, ...]"], Examination]
"""Looks at something itself; gets the phases that are finished."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something to be said of a run: its text, or why it isn't said."""

    topic: str
    text: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase: its number, its question, the experiments that it runs, and what it looks at itself.

    `seconds` is about how long `examine` takes, in a full run and in a quick one.
    """

    number: int
    title: str
    question: str
    jobs: tuple[Job, ...] = ()
    examine: Examine | None = None
    seconds: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Kata:
    """A kata as `run` knows it: its phases in order, and the sentences of its verdict."""

    name: str
    title: str
    phases: tuple[Phase, ...]
    verdict: tuple[Callable[[KataRun], Sentence], ...]
