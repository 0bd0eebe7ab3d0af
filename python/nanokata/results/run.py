"""What a run and a race return: the report, the machine it came from, and how trustworthy it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from nanokata.instrument import Doctor, Machine
from nanokata.shown import Shown

from .records import ArmResult, CellResult, Check, Contrast, Fact, Report, Trap, Value
from .rows import contrast_rows, fact_rows, frame_of, tidy_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import RenderableType

HELD, CHECK_FAILED, NO_VERDICT = 0, 1, 3
"""Exit codes of a measurement; 2 stands for unusable arguments."""


class RunResult(Shown):
    """A finished experiment.

    Parameters
    ----------
    document : mapping
        The core's JSON document: ``report``, ``machine``, ``instrument``, ``doctor``, ``version``.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = dict(document)
        self.report: Report = Report.from_json(self._document["report"])
        self.machine: Machine = Machine(self._document["machine"])
        self.instrument: dict[str, Any] = dict(self._document.get("instrument") or {})
        doctor = self._document.get("doctor")
        self.doctor: Doctor | None = Doctor(doctor) if doctor else None
        self.version: str = str(self._document.get("version", ""))

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
    def cells(self) -> tuple[CellResult, ...]:
        """One a race, in the order of the parameters."""
        return self.report.cells

    @property
    def companions(self) -> tuple[Report, ...]:
        """The experiments that ran beside this one."""
        return self.report.companions

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The figures that follow from several cells, companions' included."""
        return tuple(contrast for report in self.report.reports() for contrast in report.contrasts)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is known besides: counted, computed, required or published; companions' included."""
        return tuple(fact for report in self.report.reports() for fact in report.facts)

    @property
    def trap(self) -> Trap | None:
        """What there is to learn, where the experiment is a trap; `None` for all others."""
        return self.report.trap

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check, companions' included."""
        return self.report.all_checks()

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "failed")

    @property
    def exit_code(self) -> int:
        """What a script should make of this run.

        0 if no check failed, 1 if one did, 3 if there is no verdict: a control that doesn't read the same, or too
        much noise. The same rule as the core's.
        """
        if any(check.voids for check in self.checks):
            return CHECK_FAILED
        cells = [cell for report in self.report.reports() for cell in report.cells]
        stands = all(cell.status == "held" or cell.faulty for cell in cells) and not self.failed_checks
        return HELD if stands else NO_VERDICT

    def unit_of(self, parameter: str) -> str:
        """Return the unit of a parameter (``bytes``, ``packets``), empty where it has none."""
        return str(self._document.get("units", {}).get(parameter, ""))

    def spoken(self, parameter: str, value: Value) -> str:
        """Return a parameter's value as a reader wants it: 32 KiB for 32768 where bytes are meant."""
        from nanokata.render import numbers

        return numbers.parameter(parameter, value, self.unit_of(parameter))

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict an arm and race, companions' included, under the documented names."""
        return list(tidy_rows(self.report, machine=self.machine.id, version=self.version))

    def counted(self) -> list[dict[str, Any]]:
        """Return one plain dict an arm, race and counter: events an operation, or `note`, why there are none.

        Counted around a pass that isn't timed, apart from the figures; which ones :func:`nanokata.run` was asked for.
        """
        return [
            {
                "experiment": report.experiment,
                **cell.parameters,
                "arm": arm.arm,
                "counter": counter.name,
                "per_operation": counter.per_operation,
                "note": counter.note,
            }
            for report in self.report.reports()
            for cell in report.cells
            for arm in cell.arms
            for counter in arm.counters
        ]

    def to_pandas(self) -> pd.DataFrame:
        """Return :meth:`rows` as a data frame; ``started`` is a UTC time stamp. Needs pandas."""
        return frame_of(self.rows())

    def contrast_rows(self) -> list[dict[str, Any]]:
        """Return one plain dict a figure that follows from several races, companions' included.

        Columns: ``experiment``, ``name``, ``what``, ``value``, ``low``, ``high``, ``unit``, ``level``, ``void``,
        ``machine``, ``run_id``, ``started``, ``seed``, ``version``.
        """
        return list(contrast_rows(self.report, machine=self.machine.id, version=self.version))

    def contrasts_to_pandas(self) -> pd.DataFrame:
        """Return :meth:`contrast_rows` as a data frame. Needs pandas."""
        return frame_of(self.contrast_rows(), parameters=False)

    def fact_rows(self) -> list[dict[str, Any]]:
        """Return one plain dict a fact, companions' included.

        Columns: ``experiment``, ``name``, ``text``, ``value``, ``unit``, ``origin``, ``machine``, ``run_id``,
        ``started``, ``seed``, ``version``.
        """
        return list(fact_rows(self.report, machine=self.machine.id, version=self.version))

    def facts_to_pandas(self) -> pd.DataFrame:
        """Return :meth:`fact_rows` as a data frame. Needs pandas."""
        return frame_of(self.fact_rows(), parameters=False)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the whole document as JSON, rows and exit code included."""
        full = {**self._document, "rows": self.rows(), "exit_code": self.exit_code}
        return json.dumps(full, indent=indent, ensure_ascii=False, allow_nan=False)

    def __rich__(self) -> RenderableType:
        from nanokata.render import run_renderable

        return run_renderable(self)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the figure that suits the experiment; into `ax` if given."""
        from nanokata import figures

        return figures.draw(self, ax=ax)

    def __repr__(self) -> str:
        races = len(self.report.cells)
        return (
            f"<{type(self).__name__} {self.experiment}: {races} race{'s' * (races != 1)}, exit code {self.exit_code}>"
        )


class RaceResult(RunResult):
    """A finished race: a run with a single cell, its arms by name."""

    @cached_property
    def cell(self) -> CellResult:
        """The race."""
        (cell,) = self.report.cells
        return cell

    @property
    def arms(self) -> tuple[ArmResult, ...]:
        """The arms, in order."""
        return self.cell.arms

    def __getitem__(self, arm: str) -> ArmResult:
        """Return the arm of that name."""
        return self.cell[arm]
