"""What a check found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanokata.results.records import Check, Record
from nanokata.shown import Shown

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class Export(Record):
    """A symbol that other libraries can see: a ``function`` or something ``other``; `weak` where any may replace it."""

    name: str
    kind: str
    weak: bool


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Shown):
    """What came of a library in a process of its own; made by :func:`nanokata.plugin.check`.

    Indexed by a check's name: ``checked["process"].detail``.

    Attributes
    ----------
    path : Path
        The library.
    checks : tuple of Check
        Each ``held``, ``failed`` or ``not_applicable``, with what was seen.
    exports : tuple of Export
        What other libraries can see of it; empty where it couldn't be read.
    sha256 : str or None
        SHA-256 of the bytes that were examined, in hexadecimal; ``None`` where they couldn't be read.
    ended_in : str or None
        The check in which the process ended, or had to be ended; ``None`` where it came to its own end.
    readable : bool
        Whether there was a regular file to examine at all.
    stderr : str
        The beginning of what was written to standard error meanwhile.
    seconds, timeout : float
        How long it took, and how long it might have.
    """

    path: Path
    checks: tuple[Check, ...]
    exports: tuple[Export, ...]
    sha256: str | None
    ended_in: str | None
    readable: bool
    stderr: str
    seconds: float
    timeout: float

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed, in order."""
        return tuple(check for check in self.checks if check.outcome == "failed")

    @property
    def exit_code(self) -> int:
        """0 if it passed, 1 if a check failed, 2 if there was no file to examine."""
        if not self.readable:
            return 2
        return 0 if self.passed else 1

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"no check is called {name!r}; there are {', '.join(check.name for check in self.checks)}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as JSON has them."""
        return {
            "path": str(self.path),
            "sha256": self.sha256,
            "passed": self.passed,
            "ended_in": self.ended_in,
            "checks": [{"name": check.name, "outcome": check.outcome, "detail": check.detail} for check in self.checks],
            "exports": [{"name": export.name, "kind": export.kind, "weak": export.weak} for export in self.exports],
            "stderr": self.stderr,
            "seconds": self.seconds,
            "timeout": self.timeout,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def __rich__(self) -> RenderableType:
        from nanokata.render.checked_plugin import checked_renderable

        return checked_renderable(self)

    def __repr__(self) -> str:
        said = "passed" if self.passed else f"failed {', '.join(check.name for check in self.failed)}"
        return f"<Checked {self.path}: {said}>"
