"""Checking an exercise: built, verified, raced, explained."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from nanokata import arguments
from nanokata.errors import InvalidArgument
from nanokata.results.records import Check
from nanokata.shown import Shown

from .manifest import Exercise, exercise, exercises, language_of
from .repair import Broken, examine

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.results import RaceResult

__all__ = ["Checked", "check"]


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Shown):
    """What came of an exercise; made by :func:`check`.

    Attributes
    ----------
    exercise : Exercise
        Which one it is.
    source : Path
        What was checked.
    checks : tuple of Check
        Each ``held``, ``failed`` or ``not_applicable``, with what was seen.
    broken : tuple of Broken
        Fields that may not cross, where the source itself is judged.
    race : RaceResult or None
        The race against built-in arms; `None` if there was none.
    """

    exercise: Exercise
    source: Path
    checks: tuple[Check, ...]
    broken: tuple[Broken, ...]
    race: RaceResult | None

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "failed")

    @property
    def passed(self) -> bool:
        """Whether no check failed; how fast it is decides nothing."""
        return not self.failed

    @property
    def exit_code(self) -> int:
        """0 if it passed, 1 if a check failed, 3 if it is right but the race has no verdict."""
        if self.failed:
            return 1
        return 3 if self.race is not None and self.race.cell.void else 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        import json

        return {
            "exercise": self.exercise.id,
            "source": str(self.source),
            "passed": self.passed,
            "checks": [{"name": one.name, "outcome": one.outcome, "detail": one.detail} for one in self.checks],
            "broken": [
                {
                    "owner": one.owner,
                    "field": one.field,
                    "line": one.line,
                    "type": one.type,
                    "rule": one.rule,
                    "why": one.why,
                    "instead": one.instead,
                }
                for one in self.broken
            ],
            "hints": [] if self.passed else list(self.exercise.hints),
            "learnt": self.exercise.learnt if self.passed else None,
            "race": None if self.race is None else json.loads(self.race.to_json()),
            "exit_code": self.exit_code,
        }

    def __rich__(self) -> RenderableType:
        from nanokata.render.exercise import checked_renderable

        return checked_renderable(self)


def _named(path: Path, name: str | None) -> Exercise:
    """Return the exercise that is meant: by name, or by the file's own."""
    if name is not None:
        return exercise(name)
    for known in exercises():
        if known.id == path.stem:
            return known
    wanted = f"a file named after its exercise ({', '.join(one.id for one in exercises())}), or exercise="
    raise InvalidArgument(
        f"path = {str(path)!r}: wanted {wanted}; on the command line --exercise NAME",
        name="path",
        value=repr(str(path)),
        wanted=wanted,
    )


def check(
    path: str | os.PathLike[str],
    exercise: str | None = None,
    *,
    race: bool = True,
    quick: bool = True,
    seconds: float | None = None,
    cpu: SupportsIndex | None = None,
    timeout: float = 30.0,
) -> Checked:
    """Build an exercise's source, compare what it computes with the plain loop, race it, and explain.

    Its code runs in processes of its own: a crash or a hang is a failed check.

    Parameters
    ----------
    path : path
        The source, in C, C++ or Rust, as :func:`start` puts it there.
    exercise : str, optional
        Which exercise it is; by default the one that the file is named after.
    race : bool
        Whether an arm that is right is raced against built-in ones. Plugins aren't.
    quick, seconds, cpu
        As for :func:`nanokata.race`.
    timeout : float
        Seconds that verifying may take.

    Raises
    ------
    UnknownExercise
        If no exercise has that name.
    CannotBuild
        Without a compiler, or with its own words if it fails.
    InvalidArgument
        If the file isn't there, or isn't named after an exercise.
    PinningError, NotMeasurable
        If the race can't be run as asked for.
    """
    from nanokata import plugin
    from nanokata.results import RaceResult

    from . import verifying

    limit = arguments.real("timeout", timeout)
    if not 0 < limit <= 86_400:
        wanted = "wanted seconds, more than 0 and at most a day"
        raise InvalidArgument(f"timeout = {timeout}: {wanted}", name="timeout", value=str(timeout), wanted=wanted)
    source = Path(path)
    chosen = _named(source, exercise)
    on = arguments.cpu_number(cpu)
    bound = arguments.optional_real("seconds", seconds)
    with tempfile.TemporaryDirectory(prefix="nanokata-") as folder:
        library = Path(folder) / f"lib{chosen.id}.so"
        built = plugin.build(source.absolute(), library)
        checks = [Check("built", "held", built.compiler)]
        broken = examine(source) if chosen.kind == "plugin-struct" and language_of(source) else ()
        if chosen.kind == "plugin-struct":
            checks.append(_crossing(broken))
        checks += verifying.verify(chosen.kind, library, timeout=limit)
        raced: RaceResult | None = None
        right = all(one.outcome != "failed" for one in checks)
        if race and right and chosen.kind in {"arm", "select"}:
            document = verifying.race(chosen.kind, library, quick=quick, seconds=bound, cpu=on)
            if isinstance(document, str):
                checks.append(Check("raced", "failed", document))
            else:
                raced = RaceResult(document)
    return Checked(chosen, source, tuple(checks), broken, raced)


def _crossing(broken: tuple[Broken, ...]) -> Check:
    if not broken:
        return Check("crossing types", "held", "no field that crosses breaks a rule")
    rules = ", ".join(dict.fromkeys(one.rule for one in broken))
    places = "place breaks a rule" if len(broken) == 1 else "places break rules"
    return Check("crossing types", "failed", f"{len(broken)} {places}: {rules}")
