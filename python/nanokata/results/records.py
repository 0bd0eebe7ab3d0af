"""The records of a result: what the core reports, typed and frozen, with the core's own names."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Self

Value = bool | int | float | str
"""A parameter's value."""

Outcome = Literal["held", "failed", "fired", "not_applicable"]
"""``fired`` is what ``failed`` is called in a race that is wrong on purpose: it had to."""
Verdict = Literal["faster", "slower", "same", "not resolved"]


_ABOUT_MEASURING = frozenset(
    {"control", "quiet", "tick", "measured", "timer-floor", "tsc-invariant", "warmed-up", "pool-not-learned"}
)


@cache
def _fields_of(record: type[Record]) -> tuple[tuple[str, Any], ...]:
    hints = typing.get_type_hints(record)
    return tuple((field.name, hints[field.name]) for field in dataclasses.fields(record))


def _convert(hint: Any, value: Any) -> Any:  # noqa: ANN401 (both follow from the field's own type)
    if value is None:
        return None
    if isinstance(hint, types.UnionType):
        candidates = [part for part in typing.get_args(hint) if part is not types.NoneType]
        return _convert(candidates[0], value) if len(candidates) == 1 else value
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return tuple(_convert(inner, item) for item in value)
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_json(value)
    if hint is float:
        return float(value)
    return value


@dataclass(frozen=True, slots=True)
class Record:
    """Base of all records: built from the core's JSON, field by field."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Build the record from a decoded JSON object; fields that it doesn't know are left out."""
        return cls(
            **{name: _convert(hint, data[name]) for name, hint in _fields_of(typing.cast("type", cls)) if name in data}
        )


@dataclass(frozen=True, slots=True)
class Check(Record):
    """A named check, what came out, and what was seen."""

    name: str
    outcome: Outcome
    detail: str

    @property
    def voids(self) -> bool:
        """Whether it failed and voids what rests on it.

        What is about measuring (a control that doesn't read the same, a machine that wasn't quiet, reps too short for
        the clock, a timer too dear or unsteady for what it times, a cell that couldn't be measured) doesn't: it leaves
        no verdict.
        """
        return self.outcome == "failed" and not self.about_measuring

    @property
    def about_measuring(self) -> bool:
        """Whether it is about measuring, rather than about what is measured. The same rule as the core's."""
        return self.name.partition(":")[0] in _ABOUT_MEASURING

    @property
    def inconclusive(self) -> bool:
        """Whether it is a control whose interval is too wide to say anything."""
        return self.outcome == "not_applicable" and self.name.startswith("control:")


@dataclass(frozen=True, slots=True)
class Probes(Record):
    """Probes (calls of ``matches`` or key comparisons) a packet, counted exactly; `expected` by enumeration."""

    mean: float
    expected: float | None
    p50: int
    p99: int
    max: int


@dataclass(frozen=True, slots=True)
class Ceiling(Record):
    """The least cycles that an operation can cost here, how that follows, and where the constants come from."""

    min_cycles: float
    formula: str
    source: str


@dataclass(frozen=True, slots=True)
class Counter(Record):
    """An event that the machine counted: how often an operation, or why that isn't known (`note`)."""

    name: str
    per_operation: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Disturbances(Record):
    """What the side channels saw during a race."""

    rounds_redone: int = 0
    rounds_dropped: int = 0
    involuntary_switches: int = 0
    migrations: int = 0
    page_faults: int = 0
    width_changes: int = 0
    """Rounds measured again because another hardware thread of the core started or stopped."""
    waited_ns: int | None = None
    stolen_ns: int | None = None
    ghz: tuple[float, ...] = ()
    """Effective frequency by the canary before each round: 5th percentile, median, 95th percentile."""


@dataclass(frozen=True, slots=True)
class Percentiles(Record):
    """Percentiles of single operations' times, in nanoseconds; `None` where there are too few for one."""

    p50: float | None
    p90: float | None
    p99: float | None
    p999: float | None
    max: float


@dataclass(frozen=True, slots=True)
class Interval(Record):
    """An estimate with the ends of its interval; `None` where there were too few blocks for one."""

    estimate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Typical(Record):
    """The median placement's percentiles with their intervals; `None` where a placement has too few operations."""

    p50: Interval | None
    p90: Interval | None
    p99: Interval | None
    p999: Interval | None


@dataclass(frozen=True, slots=True)
class Distribution(Record):
    """Many operations' times, in nanoseconds.

    `histogram` holds (time, count), ascending, those within 2 % of each other together under the greatest of them.
    """

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    histogram: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Stretch(Record):
    """A stretch of the input, operation by operation.

    `all` holds every time that was taken, the machine's interruptions included; `least` each operation's least over
    all replays, which has none. `blocks` are the percentiles of each placement by itself, `typical` their medians.
    """

    name: str
    first: int
    count: int
    all: Distribution
    least: Distribution
    blocks: tuple[Percentiles, ...]
    typical: Typical


@dataclass(frozen=True, slots=True)
class CoursePoint(Record):
    """A few neighbouring operations: mean and greatest of their least times, in nanoseconds."""

    first: int
    count: int
    mean: float
    max: float


@dataclass(frozen=True, slots=True)
class Disturbed(Record):
    """What the side channels saw while an arm was timed operation by operation; nothing was left out for it."""

    turns: int
    involuntary_switches: int
    migrations: int
    page_faults: int
    backwards: int


@dataclass(frozen=True, slots=True)
class Tail(Record):
    """An arm's times operation by operation: latency in isolation, in nanoseconds, the timer's `floor` included.

    Everything was built anew `placements` times, and the input passed over `replays` times in each. `tick_ns` is the
    counter's smallest step. `parts` are the stretches that the experiment names, `course` the times along the input.
    """

    floor: Percentiles
    tick_ns: float
    placements: int
    replays: int
    whole: Stretch
    parts: tuple[Stretch, ...]
    course: tuple[CoursePoint, ...]
    disturbed: Disturbed

    def stretches(self) -> tuple[Stretch, ...]:
        """Return the named parts; the whole input where there are none."""
        return self.parts or (self.whole,)


@dataclass(frozen=True, slots=True)
class ArmResult(Record):
    """One arm's figures in one race.

    Costs (`median`, `low`, `high`, `min`) are per operation in the cell's unit; `cycles` is the median in canary
    cycles. `ratio` is time relative to `against`, so below one is faster; the baseline has none. An interval's ends
    are `None` where there were too few blocks for one.
    """

    arm: str
    role: Literal["arm", "baseline", "control"]
    against: str
    median: float
    low: float | None
    high: float | None
    min: float
    cycles: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    verdict: Verdict | None
    words: str
    probes: Probes | None
    footprint_bytes: int | None
    cold_ratio: float
    reps: int
    checksum: str
    code_layouts: int
    ceiling: Ceiling | None
    flags: tuple[str, ...]
    blocks: tuple[float, ...]
    log_ratios: tuple[float, ...]
    counters: tuple[Counter, ...] = ()
    tail: Tail | None = None
    """Operation by operation, where they were timed so."""
    margin: float | None = None
    """By which its ratio was judged: the race's margin, or a wider one for arms in one code layout."""
    excludes: str | None = None
    """What this way of doing it can't express, whatever it costs."""

    def judged_wider(self, cell: CellResult) -> bool:
        """Whether its ratio was judged by a wider margin than its race's own."""
        return self.margin is not None and self.margin > cell.margin


@dataclass(frozen=True, slots=True)
class CellResult(Record):
    """One race: its parameters, its arms, its checks, and how it was measured.

    `level` is that of the ratios' intervals, `median_level` that of the medians'. `resolvable_margin` is the margin
    that the controls support: beyond `margin` where one is too wide, and then nothing reads ``same``. `status` is
    ``no_verdict`` where a control failed or the machine was too noisy; `reason` says which. `half_width` and
    `resolvable_margin` are `None` where there were too few blocks for any interval.
    """

    parameters: dict[str, Value]
    unit: str
    arms: tuple[ArmResult, ...]
    checks: tuple[Check, ...]
    status: Literal["held", "no_verdict"]
    reason: str | None
    level: float
    median_level: float
    margin: float
    resolvable_margin: float | None
    half_width: float | None
    blocks: int
    operations_per_rep: int
    pool_bytes: int
    ended: Literal["precision", "time_bound", "block_bound"]
    seconds: float
    cpu: int | None
    helper_cpus: tuple[int, ...]
    disturbances: Disturbances
    seed: int
    faulty: bool = False
    """Whether it is wrong on purpose: then neither its checks nor its verdicts decide the exit code."""

    def __getitem__(self, arm: str) -> ArmResult:
        """Return the arm of that name."""
        for result in self.arms:
            if result.arm == arm:
                return result
        raise KeyError(arm)

    def __contains__(self, arm: object) -> bool:
        return any(result.arm == arm for result in self.arms)

    @property
    def baseline(self) -> ArmResult:
        """The arm that the others are compared with."""
        return next(arm for arm in self.arms if arm.role == "baseline")

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "failed")

    @property
    def void(self) -> bool:
        """Whether no verdict rests on it."""
        return self.status == "no_verdict"

    @property
    def inconclusive_controls(self) -> frozenset[str]:
        """The control arms whose intervals are too wide to say whether they read the same."""
        return frozenset(check.name.partition(":")[2] for check in self.checks if check.inconclusive)

    @property
    def bears_out(self) -> float | None:
        """The margin beyond which differences count, where the controls widen it; infinite with too few blocks."""
        if self.resolvable_margin is None:
            return math.inf
        return self.resolvable_margin if self.resolvable_margin > self.margin else None


@dataclass(frozen=True, slots=True)
class Contrast(Record):
    """A figure that follows from several arms or cells, with its interval; `void` if one of the cells is.

    `margin`, in the same unit, is the size below which nothing counts as a difference.
    """

    name: str
    what: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    level: float
    void: bool = False
    margin: float = 0.0

    @property
    def resolved(self) -> bool | None:
        """Whether its whole interval lies beyond the margin, on one side; `None` if it is void or has no interval."""
        if self.void or self.low is None or self.high is None:
            return None
        return self.low > self.margin or self.high < -self.margin


@dataclass(frozen=True, slots=True)
class Fact(Record):
    """Something that is known beside a race's figures: its sentence, its value where it is one, its origin."""

    name: str
    text: str
    value: float | None
    unit: str
    origin: Literal["counted", "computed", "simulated", "required", "published"]


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """An answer as it was measured in this run: the sentence, and its figure with the interval."""

    text: str
    value: float
    low: float | None
    high: float | None
    unit: str
    level: float
    """Confidence level of the interval."""


@dataclass(frozen=True, slots=True)
class Trap(Record):
    """What a trap shows: the wrong answer, the check that fires on it, the right answer.

    `fires` and `holds` are ``held`` where the check did so on the wrong and on the right configuration. `bite` says
    whether the faulty configuration led astray here by itself, or only once its cause was injected; `cause` says what
    that was.
    """

    check: str
    wrong: Answer
    wrong_detail: str
    fires: Outcome
    right: Answer
    right_detail: str
    holds: Outcome
    bite: Literal["yes", "injected", "no"]
    cause: str


@dataclass(frozen=True, slots=True)
class Report(Record):
    """An experiment's races, the checks and figures over them, and the experiments that ran beside it."""

    experiment: str
    title: str
    cells: tuple[CellResult, ...]
    checks: tuple[Check, ...]
    contrasts: tuple[Contrast, ...]
    companions: tuple[Report, ...]
    started: float
    seconds: float
    seed: int
    facts: tuple[Fact, ...] = ()
    trap: Trap | None = None
    """What there is to learn, where the experiment is a trap."""
    sabotage: str | None = None
    """The fault that was built into its arms on purpose."""

    def reports(self) -> tuple[Report, ...]:
        """Return this report and those of the experiments that ran beside it."""
        return (self, *(inner for companion in self.companions for inner in companion.reports()))

    def all_checks(self) -> tuple[Check, ...]:
        """Return every check: over all cells, of each cell, and the companions'."""
        return tuple(
            check
            for report in self.reports()
            for checks in (report.checks, *(cell.checks for cell in report.cells))
            for check in checks
        )

    def groups(self) -> tuple[tuple[CellResult, ...], ...]:
        """Return the cells, those together that differ only in the parameter that a curve is drawn over."""
        found: dict[tuple[Value, ...], list[CellResult]] = {}
        others = [name for name in self.varying() if name != self.along()]
        for cell in self.cells:
            found.setdefault(tuple(cell.parameters[name] for name in others), []).append(cell)
        return tuple(tuple(cells) for cells in found.values())

    def along(self) -> str | None:
        """Return the parameter that a curve is drawn over: the first number that differs between the cells."""
        for name in self.varying():
            values = [cell.parameters[name] for cell in self.cells]
            if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
                return name
        return None

    def varying(self) -> tuple[str, ...]:
        """Return the parameters that differ between the cells."""
        names = self.cells[0].parameters if self.cells else {}
        return tuple(name for name in names if len({cell.parameters[name] for cell in self.cells}) > 1)
