"""Tidy rows: one an arm of a race, always under the same names. Scripts rely on them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nanokata.fingerprint import fingerprint

from .records import ArmResult, CellResult, Report

if TYPE_CHECKING:
    import pandas as pd

BEFORE_PARAMETERS = ("experiment",)
AFTER_PARAMETERS = (
    "arm",
    "unit",
    "median",
    "low",
    "high",
    "min",
    "cycles",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
    "probes",
    "p50",
    "p90",
    "p99",
    "p999",
    "max",
    "checksum",
    "reps",
    "baseline",
    "role",
    "level",
    "status",
    "reason",
    "machine",
    "run_id",
    "cell_id",
    "started",
    "seed",
    "version",
    "flags",
)
"""Columns after the parameters, in order."""

PERCENTILES = ("p50", "p90", "p99", "p999", "max")
"""Columns of operations that were timed one by one, in nanoseconds; empty where they weren't."""


def _status(report: Report, cell: CellResult) -> tuple[str, str | None]:
    """Return ``failed`` (a check did), ``no_verdict`` (the verdicts don't stand) or ``held``, and the reason."""
    failed = [check.name for check in (*cell.checks, *report.checks) if check.voids]
    if failed:
        return "failed", "failed: " + ", ".join(failed)
    return cell.status, cell.reason


def _row(report: Report, cell: CellResult, arm: ArmResult, machine: str, version: str, run_id: str) -> dict[str, Any]:
    status, reason = _status(report, cell)
    started = datetime.datetime.fromtimestamp(report.started, datetime.UTC)
    return {
        "experiment": report.experiment,
        **cell.parameters,
        "arm": arm.arm,
        "unit": cell.unit,
        "median": arm.median,
        "low": arm.low,
        "high": arm.high,
        "min": arm.min,
        "cycles": arm.cycles,
        "ratio": arm.ratio,
        "ratio_low": arm.ratio_low,
        "ratio_high": arm.ratio_high,
        "verdict": arm.verdict,
        "probes": arm.probes.mean if arm.probes else None,
        **{name: getattr(arm.tail.whole.all, name) if arm.tail else None for name in PERCENTILES},
        "checksum": arm.checksum,
        "reps": arm.reps,
        "baseline": cell.baseline.arm if arm.role != "control" else arm.against,
        "role": arm.role,
        "level": cell.level,
        "status": status,
        "reason": reason,
        "machine": machine,
        "run_id": run_id,
        "cell_id": fingerprint(report.experiment, cell.parameters, cell.seed, machine, version),
        "started": started.isoformat(timespec="seconds"),
        "seed": cell.seed,
        "version": version,
        "flags": ", ".join(arm.flags),
    }


def tidy_rows(report: Report, *, machine: str, version: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each arm of each race, the companions' after the report's own."""
    run_id = fingerprint(report.experiment, report.started, report.seed, machine, version)
    for inner in report.reports():
        for cell in inner.cells:
            for arm in cell.arms:
                yield _row(inner, cell, arm, machine, version, run_id)


def _origin(report: Report, machine: str, version: str) -> dict[str, Any]:
    """Return what every row says of where it is from."""
    started = datetime.datetime.fromtimestamp(report.started, datetime.UTC)
    return {
        "machine": machine,
        "run_id": fingerprint(report.experiment, report.started, report.seed, machine, version),
        "started": started.isoformat(timespec="seconds"),
        "seed": report.seed,
        "version": version,
    }


def contrast_rows(report: Report, *, machine: str, version: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each contrast, the companions' after the report's own; their run is the report's."""
    origin = _origin(report, machine, version)
    for inner in report.reports():
        for contrast in inner.contrasts:
            yield {"experiment": inner.experiment, **dataclasses.asdict(contrast), **origin}


def fact_rows(report: Report, *, machine: str, version: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each fact, the companions' after the report's own; their run is the report's."""
    origin = _origin(report, machine, version)
    for inner in report.reports():
        for fact in inner.facts:
            yield {"experiment": inner.experiment, **dataclasses.asdict(fact), **origin}


def columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of `rows`: the experiment, every parameter of any row, then the fixed ones."""
    fixed = {*BEFORE_PARAMETERS, *AFTER_PARAMETERS}
    parameters = dict.fromkeys(name for row in rows for name in row if name not in fixed)
    return [*BEFORE_PARAMETERS, *parameters, *AFTER_PARAMETERS]


def frame_of(rows: Sequence[Mapping[str, Any]], *, parameters: bool = True) -> pd.DataFrame:
    """Return rows as a data frame, ``started`` as UTC time stamps; races' rows (`parameters`) under the fixed columns.

    Needs pandas.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as missing:
        message = "a data frame needs pandas: pip install 'nanokata[pandas]', or use the plain rows, as rows()"
        raise ModuleNotFoundError(message, name="pandas") from missing
    frame = pd.DataFrame(rows, columns=columns(rows) if parameters else None)
    for name in frame.columns.difference([*rows[0]] if rows else []):
        frame[name] = frame[name].convert_dtypes()  # a whole number that some rows lack stays one
    if "started" in frame:
        frame["started"] = pd.to_datetime(frame["started"], utc=True)
    return frame
