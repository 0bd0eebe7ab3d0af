"""The process that examines a library: started, listened to, and ended with all that it started."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from nanokata.errors import SystemCallError

_BOOTSTRAP = """\
import sys, _imp
from importlib.machinery import ExtensionFileLoader, ModuleSpec
file, path, report = sys.argv[1:]
core = _imp.create_dynamic(ModuleSpec("_core", ExtensionFileLoader("_core", file), origin=file))
_imp.exec_dynamic(core)
core.perform_examination(path, int(report))
"""
"""What it runs: the extension alone, so that nothing of the working directory can take a module's place."""

_FLAGS = ("-S", "-s", "-P", "-B")

_LOOK_EVERY = 0.05
"""Seconds between two looks at whether it is still there."""
_KEPT = 4000
"""Bytes of what it prints that are kept."""
_LONGEST_REPORT = 1 << 24
"""Bytes: more than any examination has to say, and what is there to be read if something else writes."""


@dataclass
class Life:
    """What a process said, and how it ended: `code` as of ``Popen.returncode``."""

    events: list[dict[str, Any]] = field(default_factory=list)
    foreign: str | None = None
    """A line on the report's descriptor that the examination didn't write."""
    code: int | None = None
    timed_out: bool = False
    stdout_bytes: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    seconds: float = 0.0


class _Listener:
    """Reads all that a process says, so that it never waits for a reader."""

    def __init__(self, life: Life, report: int, process: subprocess.Popen[bytes]) -> None:
        self._life = life
        self._line = b""
        self._read = 0
        self._selector = selectors.DefaultSelector()
        self._take(report, self._report)
        for stream, takes in ((process.stdout, self._stdout), (process.stderr, self._stderr)):
            if stream is not None:
                self._take(stream.fileno(), takes)

    def _take(self, descriptor: int, takes: Callable[[bytes], None]) -> None:
        os.set_blocking(descriptor, False)
        self._selector.register(descriptor, selectors.EVENT_READ, takes)

    def listen(self, seconds: float) -> bool:
        """Take what comes within that time; whether anything came."""
        if not self._selector.get_map():
            time.sleep(seconds)
            return False
        ready = self._selector.select(seconds)
        for key, _ in ready:
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if data:
                key.data(data)
            else:
                self._selector.unregister(key.fd)
        return bool(ready)

    def close(self) -> None:
        self._selector.close()

    def _report(self, data: bytes) -> None:
        self._read += len(data)
        if self._read > _LONGEST_REPORT:
            self._life.foreign = self._life.foreign or f"{self._read} bytes"
            return
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            try:
                event = json.loads(line)
                known = isinstance(event, dict) and "event" in event
            except ValueError:
                known = False
            if known:
                self._life.events.append(event)
            elif self._life.foreign is None:
                self._life.foreign = repr(line[:60])[1:]

    def _stdout(self, data: bytes) -> None:
        self._life.stdout_bytes += len(data)
        self._life.stdout += data[: max(0, _KEPT - len(self._life.stdout))]

    def _stderr(self, data: bytes) -> None:
        self._life.stderr += data[: max(0, _KEPT - len(self._life.stderr))]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it and what it started: it leads a session of its own, so that its group is its own too."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def examine(path: str, timeout: float) -> Life:
    """Examine the library at `path` in a process of its own, for no longer than `timeout` seconds.

    Raises ``SystemCallError`` where no process can be started, or it doesn't get as far as the library.
    """
    life = Life()
    begun = time.monotonic()
    report, given = os.pipe()
    try:
        with _start(path, given) as process:
            try:
                listener = _Listener(life, report, process)
                _watch(process, listener, life, begun + timeout)
                listener.close()
            finally:
                # Also where Ctrl-C cut it short.
                _end(process)
    finally:
        os.close(report)
    life.code = process.returncode
    life.seconds = time.monotonic() - begun
    if not life.events and not life.timed_out:
        said = life.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise SystemCallError(f"the examination of {path} didn't begin (exit code {life.code}): {said[-1]}")
    return life


def _start(path: str, report: int) -> subprocess.Popen[bytes]:
    """Start it, and close this process's own end of the pipe that it reports on."""
    from nanokata import _core

    try:
        if not sys.executable:
            raise SystemCallError("no process can be started: this interpreter doesn't know its own program")
        # In a session of its own: Ctrl-C is this process's to hear, and its group is its own to be killed.
        return subprocess.Popen(  # noqa: S603 (this interpreter, with arguments of our own)
            [sys.executable, *_FLAGS, "-c", _BOOTSTRAP, str(_core.__file__), path, str(report)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(report,),
            start_new_session=True,
        )
    except OSError as error:
        if isinstance(error, SystemCallError):
            raise
        raise SystemCallError(f"no process could be started to examine {path}: {error}") from error
    finally:
        os.close(report)


def _watch(process: subprocess.Popen[bytes], listener: _Listener, life: Life, until: float) -> None:
    while process.poll() is None:
        left = until - time.monotonic()
        if left <= 0:
            life.timed_out = True
            return
        listener.listen(min(left, _LOOK_EVERY))
    # What it said last; what others that it left behind may still say isn't waited for.
    last = time.monotonic() + 1.0
    while listener.listen(0) and time.monotonic() < last:
        pass
