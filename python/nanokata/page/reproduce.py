"""The commands that do it again: the whole run, and each experiment with the parameters that it had."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nanokata.render.applying import applying
from nanokata.results.records import Report, Value

if TYPE_CHECKING:
    from nanokata.phases import KataRun
    from nanokata.results import RunResult

_WIDEST_LINE = 76
"""Characters after which a command's line is broken before the next option."""
_FLAGS = {"quick": "--quick"}
_OPTIONS = {
    "seconds": "--seconds",
    "precision": "--precision",
    "seed": "--seed",
    "cpu": "--cpu",
    "preset": "--preset",
    "sabotage": "--sabotage",
}


def command(run: KataRun) -> str:
    """Return the command that repeats a kata's run."""
    options = {"seed": 0, **run.options}
    words = ["nanokata", "run", run.name, *_set(options.get("set", {}).items()), *_asked(options)]
    return broken(words)


def broken(words: Sequence[str]) -> str:
    """Return a command for a shell, in lines that fit a page: each but the last ends as a shell has it."""
    lines = [""]
    for word in map(shlex.quote, words):
        # An option's value stands beside it.
        if lines[-1] and word.startswith("-") and len(lines[-1]) > _WIDEST_LINE:
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def _asked(options: dict[str, Any]) -> Iterator[str]:
    for name, flag in _FLAGS.items():
        if options.get(name):
            yield flag
    for name, option in _OPTIONS.items():
        if options.get(name) is not None:
            yield from (option, _word(options[name]))


def _set(pairs: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for name, value in pairs:
        several = isinstance(value, (list, tuple))
        yield from ("--set", f"{name}={','.join(_word(item) for item in value) if several else _word(value)}")


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def commands(run: KataRun) -> list[str]:
    """Return, for each experiment that gave a result, the command that runs it as it was run."""
    options = {"seed": 0, **run.options}
    common = {name: options.get(name) for name in (*_FLAGS, *_OPTIONS) if name not in {"preset", "seconds"}}
    return [_of(result, {**common, "seconds": run.bounds.get(result.experiment)}) for result in run.results()]


def _of(result: RunResult, options: dict[str, Any]) -> str:
    pairs = ((name, values if len(values) > 1 else values[0]) for name, values in _values(result.report).items())
    return broken(["nanokata", "run", result.experiment, *_set(pairs), *_asked(options)])


def _values(report: Report) -> dict[str, list[Value]]:
    """Return each parameter that has a part in a race, and its values in the order in which they ran."""
    names = applying(report.cells)
    return {name: list(dict.fromkeys(cell.parameters[name] for cell in report.cells)) for name in names}
