"""Running a kata: phase by phase, each finished one handed over at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nanokata import catalogue
from nanokata.errors import ChecksumMismatch, InvalidArgument, NotMeasurable, WorkerPanic
from nanokata.results.run import CHECK_FAILED, NO_VERDICT

from .plan import Examination, Job, Kata, Phase, Setting
from .result import KataRun, PhaseResult, Problem

if TYPE_CHECKING:
    from nanokata.instrument import Progress
    from nanokata.results import RunResult


class KataInterrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a kata's run.

    Attributes
    ----------
    finished : KataRun
        The phases that were begun, each with what it has.
    """

    def __init__(self, finished: KataRun) -> None:
        super().__init__(f"{finished.name}: interrupted in phase {len(finished.phases)} of {len(finished.kata.phases)}")
        self.finished = finished


def _nothing(_doing: str, _fraction: float) -> None:
    """Show no progress."""


class Runner:
    """Runs the phases of a kata.

    Parameters
    ----------
    kata : Kata
        What to run.
    quick : bool
        Whether each experiment takes its quick parameters and bounds.
    seconds : float, optional
        Time bound of each race, instead of the phases' own.
    given : mapping
        Parameters by name: every experiment that has one of that name takes it; one at least must.
    preset : str, optional
        Values under one name, for the experiments that have such a preset.
    options : mapping
        Whatever else :func:`nanokata.run` takes: ``seed``, ``cpu``, ``precision``, ``margin``, ….

    Raises
    ------
    InvalidArgument
        Before anything runs: for what no experiment of the kata takes, or would take with that value.
    """

    def __init__(
        self,
        kata: Kata,
        *,
        quick: bool = False,
        seconds: float | None = None,
        given: Mapping[str, Any] | None = None,
        preset: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.kata = kata
        self.quick = quick
        self.seconds = seconds
        self.options = {name: value for name, value in (options or {}).items() if value is not None}
        self.given = dict(given or {})
        self.preset = preset
        self.started = time.time()
        self.begun = time.monotonic()
        self.finished: list[PhaseResult] = []
        self.interrupted = False
        self._refuse_what_nobody_takes()
        self._expected = {phase.number: self._expect(phase) for phase in kata.phases}

    @property
    def expected_seconds(self) -> float:
        """About how long all phases take at most."""
        return sum(self._expected.values())

    def result(self) -> KataRun:
        """Return the run, as far as it got."""
        from nanokata import __version__, machine

        asked = {
            "quick": self.quick,
            "seconds": self.seconds,
            "preset": self.preset,
            "set": self.given,
            **self.options,
        }
        return KataRun(
            self.kata,
            tuple(self.finished),
            machine=machine(),
            # CPU 0 and seed 0 are something that was asked for.
            options={
                name: value for name, value in asked.items() if not (value is None or value is False or value == {})
            },
            version=__version__,
            started=self.started,
            bounds={job.experiment: self.asked(job)["seconds"] for job in _jobs(self.kata) if _known(job.experiment)},
            interrupted=self.interrupted,
        )

    def phases(self, progress: Progress | None = None) -> Iterator[PhaseResult]:
        """Run the phases in turn, and yield each when it is finished.

        `progress` is called with what is being done and the fraction of the whole that is behind us. Ctrl-C raises
        :class:`KataInterrupted`, which carries what is finished; the phase that it met is among it if it has anything.
        """
        for phase in self.kata.phases:
            yield self.phase(phase, _scaled(progress or _nothing, *self.share_of(phase)))

    def share_of(self, phase: Phase) -> tuple[float, float]:
        """Return where a phase begins and how much of the whole it is, as fractions of the expected time."""
        before = sum(self._expected[other.number] for other in self.kata.phases if other.number < phase.number)
        whole = self.expected_seconds or 1.0  # Nothing that takes time: nothing to share.
        return before / whole, self._expected[phase.number] / whole

    def phase(self, phase: Phase, progress: Progress) -> PhaseResult:
        """Run one phase; `progress` gets the fraction of this phase."""
        progress = _naming(phase, progress)
        begun = time.monotonic()
        results: list[RunResult] = []
        problems: list[Problem] = []
        examined = Examination()
        cut = None
        try:
            for job, update in self._parts(phase, progress):
                if job is None:
                    examined = self._examine(phase, update, problems)
                else:
                    self._measure(job, update, results, problems)
        except KeyboardInterrupt as interrupt:
            cut = interrupt
        spent = time.monotonic() - begun
        finished = PhaseResult(phase, tuple(results), examined, tuple(problems), spent, cut is not None)
        self.finished.append(finished)
        if cut is not None:
            self.interrupted = True
            raise KataInterrupted(self.result()) from cut
        return finished

    def _parts(self, phase: Phase, progress: Progress) -> Iterator[tuple[Job | None, Progress]]:
        """Yield what a phase does in turn, each with the progress of its own share; `None` is its examination."""
        parts: list[tuple[Job | None, float]] = [(job, self._seconds(job)) for job in phase.jobs]
        if phase.examine is not None:
            parts.insert(0, (None, phase.seconds[self.quick]))
        whole = sum(seconds for _, seconds in parts) or 1.0
        done = 0.0
        for job, seconds in parts:
            yield job, _scaled(progress, done / whole, seconds / whole)
            done += seconds

    def _examine(self, phase: Phase, progress: Progress, problems: list[Problem]) -> Examination:
        assert phase.examine is not None  # noqa: S101 (what _parts yields)
        setting = Setting(self.quick, int(self.options.get("seed", 0)), self.options.get("cpu"), progress)
        try:
            return phase.examine(setting, tuple(self.finished))
        except (ChecksumMismatch, NotMeasurable, WorkerPanic) as error:
            problems.append(_problem(phase.title, error))
            return Examination()

    def _measure(self, job: Job, progress: Progress, results: list[RunResult], problems: list[Problem]) -> None:
        import nanokata

        if not _known(job.experiment):
            problems.append(Problem(job.experiment, "this build has no experiment of that name", NO_VERDICT))
            return
        caught = any(phase.results for phase in self.finished) or bool(results)
        try:
            results.append(nanokata.run(job.experiment, progress=progress, **self.options, **self.asked(job)))
        except (ChecksumMismatch, NotMeasurable, WorkerPanic) as error:
            # The other experiments don't rest on this one.
            problems.append(_problem(job.experiment, error))
        except InvalidArgument as error:
            # What nobody takes is refused at the first experiment. What only a later one finds unusable (a fault that
            # none of its arms can have, values that don't go together there) costs that one alone.
            if not caught:
                raise
            problems.append(Problem(job.experiment, str(error), NO_VERDICT))

    def asked(self, job: Job) -> dict[str, Any]:
        """Return how a job's experiment is called: its parameters, those given, its bound."""
        from nanokata.presets import PRESETS

        experiment = catalogue.find(job.experiment)
        own = {**job.parameters, **(job.quick if self.quick else {})}
        own |= {name: value for name, value in self.given.items() if experiment.parameter(name) is not None}
        if self.preset in PRESETS.get(job.experiment, {}):
            own["preset"] = self.preset
        bound = self.seconds if self.seconds is not None else (job.quick_seconds if self.quick else job.seconds)
        return {**own, "companions": job.companions, "quick": self.quick, "seconds": bound}

    def _seconds(self, job: Job) -> float:
        from nanokata.measure import expected_seconds

        return expected_seconds(job.experiment, **self.asked(job)) if _known(job.experiment) else 0.0

    def _expect(self, phase: Phase) -> float:
        examining = phase.seconds[self.quick] if phase.examine is not None else 0.0
        return examining + sum(self._seconds(job) for job in phase.jobs)

    def _refuse_what_nobody_takes(self) -> None:
        from nanokata.presets import PRESETS

        known = [catalogue.find(job.experiment) for job in _jobs(self.kata) if _known(job.experiment)]
        for name, value in self.given.items():
            if all(experiment.parameter(name) is None for experiment in known):
                takes = sorted({parameter.name for experiment in known for parameter in experiment.parameters})
                wanted = f"the experiments of {self.kata.name} take {', '.join(takes)}"
                raise InvalidArgument(f"{name} = {value!r}: {wanted}", name=name, value=repr(value), wanted=wanted)
        presets = {preset for experiment in known for preset in PRESETS.get(experiment.id, {})}
        if self.preset is not None and self.preset not in presets:
            wanted = f"wanted {' or '.join(sorted(presets))}" if presets else f"{self.kata.name} has none; leave it out"
            raise InvalidArgument(
                f"preset = {self.preset!r}: {wanted}", name="preset", value=self.preset, wanted=wanted
            )


def _jobs(kata: Kata) -> tuple[Job, ...]:
    return tuple(job for phase in kata.phases for job in phase.jobs)


def _known(experiment: str) -> bool:
    return any(known.id == experiment for known in catalogue.experiments())


def _problem(what: str, error: ChecksumMismatch | NotMeasurable | WorkerPanic) -> Problem:
    if isinstance(error, NotMeasurable):
        # What it speaks of is named already.
        return Problem(
            what, error.reason if error.what in {what, what.lower()} and error.reason else str(error), NO_VERDICT
        )
    return Problem(what, str(error), CHECK_FAILED)


def _scaled(progress: Progress, begin: float, share: float) -> Progress:
    return lambda doing, fraction: progress(doing, begin + share * fraction)


def _naming(phase: Phase, progress: Progress) -> Progress:
    return lambda doing, fraction: progress(f"phase {phase.number}: {doing}", fraction)


def run(
    kata: Kata,
    *,
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401 (as Runner takes them)
) -> KataRun:
    """Run all phases of `kata`; the keywords are those of :class:`Runner`."""
    runner = Runner(kata, **settings)
    for _ in runner.phases(progress):
        pass
    return runner.result()
