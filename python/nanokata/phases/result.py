"""What running a kata's phases returns: each phase's results, what it examined, and what it came to."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nanokata.instrument import Doctor, Machine
from nanokata.results import RunResult
from nanokata.results.records import Check, Contrast, Fact
from nanokata.results.rows import frame_of
from nanokata.results.run import CHECK_FAILED, HELD, NO_VERDICT
from nanokata.shown import Shown

from .plan import Examination, Kata, Phase, Sentence

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class Problem:
    """An experiment or an examination that gave no result: which, why, and the exit code that it stands for."""

    what: str
    reason: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """A phase that was run: the results of its experiments, what it examined, what gave no result.

    `seconds` is how long it took; `interrupted` says that Ctrl-C ended it before it was through.
    """

    phase: Phase
    results: tuple[RunResult, ...] = ()
    examined: Examination = field(default_factory=Examination)
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check of the phase: its own and its experiments'."""
        return (*self.examined.checks, *(check for result in self.results for check in result.checks))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact of the phase: its own and its experiments'."""
        return (*self.examined.facts, *(fact for result in self.results for fact in result.facts))

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The figures that follow from the phase's races."""
        return tuple(contrast for result in self.results for contrast in result.contrasts)

    @property
    def exit_code(self) -> int:
        """The worst of what the phase came to: 1 a check failed, 3 no verdict, 0 otherwise."""
        codes = [result.exit_code for result in self.results] + [problem.exit_code for problem in self.problems]
        if self.examined.doctor is not None:
            codes.append(self.examined.doctor.exit_code)
        if any(check.voids for check in self.examined.checks):
            codes.append(CHECK_FAILED)
        if self.interrupted:
            codes.append(NO_VERDICT)
        return worst(codes)


def worst(codes: list[int]) -> int:
    """Return the worst of several codes: a failed check before a missing verdict."""
    return max(codes, key=(HELD, NO_VERDICT, CHECK_FAILED).index, default=HELD)


class KataRun(Shown):
    """A kata's run: its phases in order, as far as they got.

    Parameters
    ----------
    kata : Kata
        What was run.
    phases : tuple of PhaseResult
        The phases that were begun, in order.
    machine : Machine
        Where.
    options : mapping
        How it was asked for, by the names of :func:`nanokata.run`: ``quick``, ``seconds``, ``seed``, …
    version, started : str, float
        nanokata's version, and when the run began (seconds since 1970).
    bounds : mapping
        The time bound of a race, in seconds, by experiment.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    def __init__(
        self,
        kata: Kata,
        phases: tuple[PhaseResult, ...],
        *,
        machine: Machine,
        options: Mapping[str, Any],
        version: str,
        started: float,
        bounds: Mapping[str, float] | None = None,
        interrupted: bool = False,
    ) -> None:
        self.kata = kata
        self.phases = phases
        self.machine = machine
        self.options = dict(options)
        self.version = version
        self.started = started
        self.bounds = dict(bounds or {})
        self.interrupted = interrupted

    @property
    def name(self) -> str:
        """The kata's name."""
        return self.kata.name

    @property
    def title(self) -> str:
        """The kata's title."""
        return self.kata.title

    @property
    def seconds(self) -> float:
        """How long the phases took together."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def exit_code(self) -> int:
        """What a script should make of it: the worst of the phases' codes; 3 at least where the run was interrupted."""
        codes = [phase.exit_code for phase in self.phases]
        return worst([*codes, NO_VERDICT] if self.interrupted else codes)

    def results(self) -> tuple[RunResult, ...]:
        """Return the results of all experiments, in the order in which they ran."""
        return tuple(result for phase in self.phases for result in phase.results)

    def result(self, experiment: str) -> RunResult | None:
        """Return the result of the experiment with that id, if it ran and gave one."""
        return next((result for result in self.results() if result.experiment == experiment), None)

    def problem(self, experiment: str) -> Problem | None:
        """Return why the experiment with that id gave no result, if it was begun."""
        found = (problem for phase in self.phases for problem in phase.problems if problem.what == experiment)
        return next(found, None)

    @cached_property
    def verdict(self) -> tuple[Sentence, ...]:
        """The sentences of the verdict, each made of recorded numbers, or why it isn't said."""
        return tuple(say(self) for say in self.kata.verdict)

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict an arm and race over all experiments, under the documented names."""
        return [row for result in self.results() for row in result.rows()]

    def to_pandas(self) -> pd.DataFrame:
        """Return :meth:`rows` as a data frame; needs pandas."""
        return frame_of(self.rows())

    def page(self, path: str | Path, *, markdown: bool = False, figures: bool = True) -> Path:
        """Write the page that collects the run, and its figures beside it; return the page's path.

        Parameters
        ----------
        path : path
            The folder that it goes to; it is made if it isn't there.
        markdown : bool
            Write ``index.md`` besides.
        figures : bool
            Draw a figure an experiment and an examination.
        """
        from nanokata.page import write

        return write(self, Path(path), markdown=markdown, figures=figures)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON; :meth:`from_json` reads it back."""
        document = {
            "kata": self.name,
            "title": self.title,
            "version": self.version,
            "started": self.started,
            "seconds": self.seconds,
            "options": self.options,
            "bounds": self.bounds,
            "machine": dict(self.machine),
            "verdict": [dataclasses.asdict(sentence) for sentence in self.verdict],
            "phases": [_phase_document(phase) for phase in self.phases],
            "interrupted": self.interrupted,
            "exit_code": self.exit_code,
        }
        return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, kata: Kata | None = None) -> Self:
        """Read back what :meth:`to_json` wrote; `kata` is what was run, by default the one of the document's name."""
        from . import find

        document = json.loads(text)
        kata = kata or find(document["kata"])
        known = {phase.number: phase for phase in kata.phases}
        return cls(
            kata,
            tuple(_phase_of(item, known[item["number"]]) for item in document["phases"]),
            machine=Machine(document["machine"]),
            options=document["options"],
            bounds=document["bounds"],
            version=document["version"],
            started=document["started"],
            interrupted=document["interrupted"],
        )

    def __rich__(self) -> RenderableType:
        from nanokata.render import kata_renderable

        return kata_renderable(self)

    def __iter__(self) -> Iterator[PhaseResult]:
        return iter(self.phases)

    def __repr__(self) -> str:
        return (
            f"<KataRun {self.name}: {len(self.phases)} of {len(self.kata.phases)} phases, exit code {self.exit_code}>"
        )


def _phase_document(phase: PhaseResult) -> dict[str, Any]:
    examined = phase.examined
    return {
        "number": phase.phase.number,
        "title": phase.phase.title,
        "question": phase.phase.question,
        "seconds": phase.seconds,
        "exit_code": phase.exit_code,
        "interrupted": phase.interrupted,
        "checks": [dataclasses.asdict(check) for check in examined.checks],
        "facts": [dataclasses.asdict(fact) for fact in examined.facts],
        "doctor": None if examined.doctor is None else dict(examined.doctor),
        "problems": [dataclasses.asdict(problem) for problem in phase.problems],
        "results": [json.loads(result.to_json()) for result in phase.results],
    }


def _phase_of(document: Mapping[str, Any], phase: Phase) -> PhaseResult:
    examined = Examination(
        checks=tuple(Check.from_json(item) for item in document["checks"]),
        facts=tuple(Fact.from_json(item) for item in document["facts"]),
        doctor=None if document["doctor"] is None else Doctor(document["doctor"]),
    )
    return PhaseResult(
        phase,
        results=tuple(RunResult(item) for item in document["results"]),
        examined=examined,
        problems=tuple(Problem(**item) for item in document["problems"]),
        seconds=document["seconds"],
        interrupted=document["interrupted"],
    )
