"""`nanokata.plugin.check`: from what a process said to a verdict."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from nanokata import arguments
from nanokata.errors import InvalidArgument
from nanokata.results.records import Check

from .child import Life, examine
from .result import Checked, Export

_LONGEST = 86_400.0
_WORDS = {
    "SIGSEGV": "memory that isn't there",
    "SIGBUS": "memory that isn't there",
    "SIGABRT": "abort(), as of an uncaught exception or a panic",
    "SIGILL": "no instruction, or a trap",
    "SIGFPE": "a division by zero",
    "SIGKILL": "killed, by itself or for lack of memory",
}


def check(path: str | os.PathLike[str], *, timeout: float = 10.0) -> Checked:
    """Examine a library in a process of its own: whatever it does there, this process goes on.

    Everything that the plugin ABI says is tried, from the file and its symbols to packets that are taken back after
    each call; :attr:`Checked.checks` says what held. What passes is remembered by its SHA-256, and
    :func:`nanokata.plugin.load` doesn't warn of it.

    The library's code runs, with all that this user may do: it is no sandbox for malice, but for faults.

    Parameters
    ----------
    path : path
        The library. A name without a slash is a file in the working directory.
    timeout : float
        Seconds that the whole examination may take.

    Returns
    -------
    Checked
        Also where there is no such file: then ``file`` has failed.

    Raises
    ------
    InvalidArgument
        For a time that is none, or no path.
    SystemCallError
        Where no process can be started.
    """
    from nanokata import _core

    given = arguments.path("path", path)
    limit = _limit(timeout)
    readable = Path(given).is_file() and os.access(given, os.R_OK)
    stages, report_lost = _core.examination_stages()
    # A path that begins with a dash is no option.
    life = examine(os.path.join(os.curdir, given), limit)  # noqa: PTH118 (pathlib would drop the dot)
    library: dict[str, Any] = next((event for event in life.events if event["event"] == "library"), {})
    ended_in, checks = _checks(life, stages, limit, report_lost)
    checked = Checked(
        path=Path(given),
        checks=(*checks, _stdout(life), _time(life, limit)),
        exports=tuple(Export.from_json(export) for export in library.get("exports", ())),
        sha256=library.get("sha256"),
        ended_in=ended_in,
        readable=readable,
        stderr=life.stderr.decode(errors="replace"),
        seconds=life.seconds,
        timeout=limit,
    )
    if checked.passed and checked.sha256 is not None:
        from nanokata.plugin.passed import remember

        remember(checked.sha256)
    return checked


def _limit(timeout: float) -> float:
    seconds = arguments.real("timeout", timeout)
    if 0 < seconds <= _LONGEST:
        return seconds
    wanted = f"wanted more than 0 s, at most {_LONGEST:.0f} s"
    raise InvalidArgument(f"timeout = {seconds}: {wanted}", name="timeout", value=str(seconds), wanted=wanted)


def _checks(
    life: Life, stages: list[tuple[str, str]], limit: float, report_lost: int
) -> tuple[str | None, list[Check]]:
    """Return the stage in which the process ended, if it did, and what came of each."""
    ends = {event["stage"]: event for event in life.events if event["event"] == "end"}
    begun = [event["stage"] for event in life.events if event["event"] == "begin"]
    came_to_an_end = any(event["event"] == "done" for event in life.events)
    ended_in = None
    if begun and (life.timed_out or not came_to_an_end or life.code != 0):
        # A process that ended between two stages did so because of the earlier one.
        ended_in = begun[-1]
    checks = []
    for name, during in stages:
        if name == ended_in:
            earlier = ends.get(name, {})
            said = f"{earlier['detail']}; " if earlier.get("outcome") == "failed" else ""
            checks.append(Check(name, "failed", said + _ending(life, during, limit, report_lost)))
        elif name in ends:
            checks.append(Check(name, ends[name]["outcome"], ends[name]["detail"]))
        else:
            checks.append(Check(name, "not_applicable", "not reached"))
    if life.foreign is not None and ended_in is None:
        said = f"it wrote {life.foreign} to a descriptor that isn't its own"
        checks = [Check(one.name, "failed", said) if one.name == "descriptors" else one for one in checks]
    return ended_in, checks


def _ending(life: Life, during: str, limit: float, report_lost: int) -> str:
    """Return how the process ended, in one sentence."""
    if life.timed_out:
        return f"no answer within {limit:g} s while {during}"
    if life.foreign is not None:
        return f"it wrote {life.foreign} to a descriptor that isn't its own, while {during}"
    code = life.code or 0
    if code == report_lost:
        return f"it closed a descriptor that isn't its own, the examination's report, while {during}"
    if code >= 0:
        return f"exit({code}) ended the process while {during}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    words = f" ({_WORDS[name]})" if name in _WORDS else ""
    # What a panic says comes in a second line.
    lines = " ".join(life.stderr.decode(errors="replace").strip().split("\n")[:2])
    said = f"; it said: {lines[:240]}" if lines else ""
    return f"{name}{words} ended the process while {during}{said}"


def _stdout(life: Life) -> Check:
    """Return whether it kept off standard output, which is the host's."""
    if not life.stdout_bytes:
        return Check("stdout", "held", "nothing was printed")
    begins = life.stdout[:40].decode(errors="replace")
    return Check("stdout", "failed", f"{life.stdout_bytes} bytes printed to standard output, which begin {begins!r}")


def _time(life: Life, limit: float) -> Check:
    if life.timed_out:
        before = "" if life.events else " had passed before the examination began"
        return Check("time", "failed", f"more than {limit:g} s{before}; it was ended")
    return Check("time", "held", f"{life.seconds:.2f} s of {limit:g} s")
