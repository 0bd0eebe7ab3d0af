"""What a simulation returns: exact counts an arm, and where they fell."""

from __future__ import annotations

import dataclasses
import datetime
import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

from nanokata.fingerprint import fingerprint
from nanokata.instrument import Machine
from nanokata.shown import Shown

from .records import Check, Fact, Record, Value
from .rows import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import RenderableType

Part = Literal["loop", "matches", "process", "other"]
"""A part of an arm's work: its own loop, asking handlers, a handler's body, anything else."""

PARTS: tuple[Part, ...] = ("loop", "matches", "process", "other")


@dataclass(frozen=True, slots=True)
class Events(Record):
    """Events of a region: counts of a simulated machine, never times.

    `d1_misses` are reads and writes together, `ll_misses` fetches, reads and writes. `indirect_mispredicts` are an
    upper bound: the simulated predictor knows each site's last target only.
    """

    instructions: int
    data_reads: int
    data_writes: int
    i1_misses: int
    d1_misses: int
    ll_misses: int
    conditional_branches: int
    conditional_mispredicts: int
    indirect_branches: int
    indirect_mispredicts: int


EVENTS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Events))
"""The events' names: columns of the tidy rows, an operation each."""


@dataclass(frozen=True, slots=True)
class PartCost(Record):
    """One part's costs: `exclusive` of its own functions, `inclusive` with everything that they called."""

    part: Part
    calls: int
    exclusive: Events
    inclusive: Events


@dataclass(frozen=True, slots=True)
class FunctionCost(Record):
    """One function's costs; functions that differ in their type or constant parameters alone are one."""

    function: str
    part: Part
    calls: int
    exclusive: Events
    inclusive: Events


@dataclass(frozen=True, slots=True)
class Profile(Record):
    """Where an arm's cost fell: by part, and by function, the dearest first."""

    parts: tuple[PartCost, ...]
    functions: tuple[FunctionCost, ...]

    def __getitem__(self, part: str) -> PartCost:
        """Return that part's costs."""
        for cost in self.parts:
            if cost.part == part:
                return cost
        raise KeyError(part)

    def share(self, part: Part, *, inclusive: bool = False, event: str = "instructions") -> float:
        """Return a part's share of an event; 0 where the event never happened."""
        whole = sum(getattr(cost.exclusive, event) for cost in self.parts)
        own = getattr(self[part].inclusive if inclusive else self[part].exclusive, event)
        return own / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class SimulatedArm(Record):
    """One arm in one setting: `totals` over all measured passes, `per_operation` for each of its `operations`.

    `empty` is what a region without work costs, which is part of `totals`; `varies` says why counts differ from run to
    run where they do by construction.
    """

    arm: str
    role: Literal["arm", "baseline", "control"]
    operations: int
    totals: Events
    per_operation: dict[str, float]
    empty: Events
    profile: Profile
    checksum: str
    varies: str | None = None

    def __getitem__(self, event: str) -> float:
        """Return how often that event happens an operation."""
        return self.per_operation[event]


@dataclass(frozen=True, slots=True)
class SimulatedCell(Record):
    """One setting of the parameters, its arms, and the audits of its input."""

    parameters: dict[str, Value]
    arms: tuple[SimulatedArm, ...]
    checks: tuple[Check, ...]

    def __getitem__(self, arm: str) -> SimulatedArm:
        """Return the arm of that name."""
        for simulated in self.arms:
            if simulated.arm == arm:
                return simulated
        raise KeyError(arm)


@dataclass(frozen=True, slots=True)
class SimulatedCache(Record):
    """One simulated cache."""

    bytes: int
    ways: int
    line_bytes: int


@dataclass(frozen=True, slots=True)
class Geometry(Record):
    """The simulated caches; `departures` says, a sentence each, where they differ from this machine's and why."""

    i1: SimulatedCache
    d1: SimulatedCache
    ll: SimulatedCache
    departures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SimulationReport(Record):
    """A whole simulation, as the core reports it."""

    experiment: str
    title: str
    operation: str
    cells: tuple[SimulatedCell, ...]
    checks: tuple[Check, ...]
    facts: tuple[Fact, ...]
    valgrind: str
    geometry: Geometry
    passes: int
    runs: int
    started: float
    seconds: float
    seed: int

    def varying(self) -> tuple[str, ...]:
        """Return the parameters that differ between the settings."""
        names = self.cells[0].parameters if self.cells else {}
        return tuple(name for name in names if len({cell.parameters[name] for cell in self.cells}) > 1)


class _Tabular(Shown):
    """What has rows, and is shown as a table."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return plain dicts under the documented names."""

    def to_pandas(self) -> pd.DataFrame:
        """Return :meth:`rows` as a data frame. Needs pandas."""
        return frame_of(self.rows(), parameters=False)


class SimulationResult(_Tabular):
    """A finished simulation.

    ``result["scan"]`` is an arm where there is one setting, ``result.cell(body="fat")["scan"]`` where there are
    several.

    Parameters
    ----------
    document : mapping
        The core's JSON document: ``report``, ``machine``, ``exit_code``, ``version``.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = dict(document)
        self.report: SimulationReport = SimulationReport.from_json(self._document["report"])
        self.machine: Machine = Machine(self._document["machine"])
        self.version: str = str(self._document.get("version", ""))
        self.exit_code: int = int(self._document["exit_code"])

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what :meth:`to_json` wrote."""
        return cls(json.loads(text))

    @property
    def experiment(self) -> str:
        """The experiment's id."""
        return self.report.experiment

    @property
    def title(self) -> str:
        """The experiment's title."""
        return self.report.title

    @property
    def cells(self) -> tuple[SimulatedCell, ...]:
        """One a setting, in the order of the parameters."""
        return self.report.cells

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What was simulated, and what a simulation doesn't know."""
        return self.report.facts

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check: whether counts repeat, whether nothing reads nothing, and the audits of each setting."""
        return (*self.report.checks, *(check for cell in self.cells for check in cell.checks))

    @cached_property
    def profile(self) -> SimulatedProfile:
        """Exclusive and inclusive costs of the loop, of ``matches`` and of ``process``."""
        return SimulatedProfile(self)

    def cell(self, **parameters: Value) -> SimulatedCell:
        """Return the one setting with these values of parameters."""
        found = [
            cell for cell in self.cells if all(cell.parameters.get(name) == value for name, value in parameters.items())
        ]
        if len(found) == 1:
            return found[0]
        varying = ", ".join(self.report.varying()) or "nothing"
        asked = ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "no parameter"
        raise LookupError(f"{len(found)} settings have {asked}; {varying} differs between them")

    def __getitem__(self, arm: str) -> SimulatedArm:
        """Return the arm of that name, where there is one setting."""
        return self.cell()[arm]

    def value(self, cell: SimulatedCell, parameter: str) -> str:
        """Return a setting's value of a parameter as a reader wants it: 32 KiB for 32768 where bytes are meant."""
        from nanokata.render import numbers

        unit = str(self._document.get("units", {}).get(parameter, ""))
        return numbers.parameter(parameter, cell.parameters[parameter], unit)

    def spoken(self, cell: SimulatedCell) -> str:
        """Return in words what sets a setting apart from the others."""
        return ", ".join(f"{name} {self.value(cell, name)}" for name in self.report.varying())

    def _status(self, cell: SimulatedCell) -> tuple[str, str | None]:
        failed = [check for check in (*cell.checks, *self.report.checks) if check.outcome == "failed"]
        names = ", ".join(check.name for check in failed)
        if any(check.voids for check in failed):
            return "failed", f"failed: {names}"
        return ("no_verdict", names) if failed else ("held", None)

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict an arm and setting.

        Events are counts an operation under the names of :class:`Events`; ``loop_exclusive``, ``loop_inclusive`` and so
        on are the instructions of each part, an operation.
        """
        report = self.report
        run_id = fingerprint(report.experiment, "simulated", report.started, report.seed, self.machine.id, self.version)
        return [self._row(cell, arm, run_id) for cell in self.cells for arm in cell.arms]

    def _row(self, cell: SimulatedCell, arm: SimulatedArm, run_id: str) -> dict[str, Any]:
        report = self.report
        status, reason = self._status(cell)
        parts = {
            f"{cost.part}_{kind}": getattr(cost, kind).instructions / arm.operations
            for cost in arm.profile.parts
            for kind in ("exclusive", "inclusive")
        }
        key = (report.experiment, "simulated", cell.parameters, report.seed, self.machine.id, self.version)
        return {
            "experiment": report.experiment,
            **cell.parameters,
            "arm": arm.arm,
            "unit": f"events/{report.operation}",
            "simulated_operations": arm.operations,
            **{name: arm.per_operation[name] for name in EVENTS},
            **parts,
            "checksum": arm.checksum,
            "role": arm.role,
            "status": status,
            "reason": reason,
            "machine": self.machine.id,
            "run_id": run_id,
            "cell_id": fingerprint(*key),
            "started": datetime.datetime.fromtimestamp(report.started, datetime.UTC).isoformat(timespec="seconds"),
            "seed": report.seed,
            "version": self.version,
            "flags": "varies" if arm.varies else "",
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the whole document as JSON, rows included."""
        return json.dumps({**self._document, "rows": self.rows()}, indent=indent, ensure_ascii=False, allow_nan=False)

    def __rich__(self) -> RenderableType:
        from nanokata.render import simulation_renderable

        return simulation_renderable(self)

    def plot(self, ax: Axes | None = None, *, events: Sequence[str] | None = None) -> Figure:
        """Draw the events an operation, a panel each; one event into `ax` if given."""
        from nanokata.figures.simulation import simulation

        return simulation(self, events=events, ax=ax)

    def __repr__(self) -> str:
        settings = len(self.cells)
        return (
            f"<{type(self).__name__} {self.experiment}: {settings} setting{'s' * (settings != 1)}, "
            f"exit code {self.exit_code}>"
        )


class SimulatedProfile(_Tabular):
    """Where a simulation's instructions fell, for each arm and setting: what a profiler that names functions shows.

    Indexed by an arm's name where there is one setting: ``result.profile["scan"].share("matches")``.
    """

    def __init__(self, result: SimulationResult) -> None:
        self.result = result

    def __getitem__(self, arm: str) -> Profile:
        return self.result[arm].profile

    def arms(self) -> Iterator[tuple[SimulatedCell, SimulatedArm]]:
        """Yield every arm with its setting."""
        for cell in self.result.cells:
            for arm in cell.arms:
                yield cell, arm

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict an arm, part and kind of cost (exclusive, inclusive), events an operation."""
        return [
            {
                "experiment": self.result.experiment,
                **cell.parameters,
                "arm": arm.arm,
                "part": cost.part,
                "cost": kind,
                "calls": cost.calls / arm.operations,
                "share": arm.profile.share(cost.part, inclusive=kind == "inclusive"),
                **{name: getattr(getattr(cost, kind), name) / arm.operations for name in EVENTS},
            }
            for cell, arm in self.arms()
            for cost in arm.profile.parts
            for kind in ("exclusive", "inclusive")
        ]

    def __rich__(self) -> RenderableType:
        from nanokata.render import profile_renderable

        return profile_renderable(self)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw each arm's instructions by part, exclusive; into `ax` if given."""
        from nanokata.figures.simulation import profile

        return profile(self, ax=ax)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.result!r}>"
