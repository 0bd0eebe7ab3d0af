"""A learner's library, tried in a process of its own: a crash or a hang is an answer, and never this process's end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from nanokata import errors
from nanokata.results.records import Check

from .manifest import Kind

__all__ = ["race", "verify"]

_RACE_ALLOWANCE = 60.0
"""Seconds besides those that are asked for: for building placements and for rounds that are redone."""


def verify(kind: Kind, library: Path, *, timeout: float) -> tuple[Check, ...]:
    """Return what held and what failed: of a plugin what any host asks of one too."""
    checks: tuple[Check, ...] = ()
    if kind in {"plugin", "plugin-struct"}:
        from nanokata import plugin

        checked = plugin.check(library, timeout=timeout)
        if not checked.passed:
            return tuple(Check(f"plugin check: {one.name}", "failed", one.detail) for one in checked.failed)
        held = sum(one.outcome == "held" for one in checked.checks)
        checks = (Check("plugin check", "held", f"{held} checks held"),)
    found, ending = _tried("verify", kind, library, timeout=timeout)
    checks += tuple(Check(*check) for check in found["checks"])
    if found["error"] is not None:
        ending = found["error"]
    return checks if ending is None else (*checks, Check("comes to an end", "failed", ending))


def race(kind: Kind, library: Path, *, quick: bool, seconds: float | None, cpu: int | None) -> dict[str, Any] | str:
    """Return the race's document, or what is wrong with the library that there is none.

    Raises
    ------
    NanokataError
        What the race refuses whatever the library is, as a CPU that isn't there.
    """
    options = {"quick": quick, "seconds": seconds, "cpu": cpu}
    timeout = _RACE_ALLOWANCE + 3 * (seconds or 20.0)
    found, ending = _tried("race", kind, library, json.dumps(options), timeout=timeout)
    refused = getattr(errors, found.get("error_class", ""), None)
    if refused is not None and not issubclass(refused, (errors.ChecksumMismatch, errors.PluginRejected)):
        raise refused(found["error"])
    document: dict[str, Any] | None = found["race"]
    return document if document is not None else found["error"] or ending or "it reported nothing"


def _tried(
    job: Literal["verify", "race"], kind: Kind, library: Path, *options: str, timeout: float
) -> tuple[dict[str, Any], str | None]:
    """Return what a process reported, and how it ended if that wasn't at its own end."""
    with tempfile.TemporaryDirectory(prefix="nanokata-") as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "nanokata.exercises.trial", job, kind, str(library), str(report), *options]
        ending = _run(command, timeout)
        found: dict[str, Any] = {"checks": [], "race": None, "error": None}
        with suppress(OSError, ValueError):
            found |= json.loads(report.read_text(encoding="utf-8"))
    return found, None if found.get("ended") else ending or "it ended before its time, with nothing to say"


def _run(command: list[str], timeout: float) -> str | None:
    """Run a process and all that it starts to the end or to its time; return what went wrong."""
    environment = {
        **os.environ,
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(  # noqa: S603 (this interpreter)
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise errors.SystemCallError(f"no process for the exercise: {error}") from error
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            return f"it wasn't finished after {timeout:g} s"
        finally:
            # What it started goes with it, on Ctrl-C too.
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        last = said.read()[-400:].decode(errors="replace").strip()
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}" + (f": {last}" if last else "")
    return None if code == 0 else f"it ended with code {code}: {last}"
