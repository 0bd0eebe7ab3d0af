"""Runs a learner's library in a process of its own: ``python -m nanokata.exercises.trial JOB KIND LIBRARY REPORT``.

What it found is written to REPORT, since the library may print.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanokata.errors import ChecksumMismatch, NanokataError, PluginRejected

if TYPE_CHECKING:
    from nanokata.dispatch import Arm, HandlerSet

    from .inputs import Case

_Found = tuple[str, str, str]
"""A check's name, what came out (``held`` or ``failed``), what was seen."""


def _maker(kind: str, library: str) -> Callable[[HandlerSet], Arm]:
    from nanokata import plugin

    make = plugin.select if kind == "select" else plugin.arm
    return lambda handlers: make(library, handlers)


def _right(kind: str, handlers: HandlerSet) -> Arm:
    from nanokata import dispatch, plugin

    return plugin.select("scan", handlers) if kind == "select" else dispatch.scan(handlers)


def verify_arm(kind: str, library: str) -> Iterator[_Found]:
    """Compare an arm's or a selection's results with the plain loop's, case by case, up to the first that differs."""
    from . import inputs
    from .difference import first_difference

    make = _maker(kind, library)
    for case in inputs.cases():
        tried = make(case.handlers)
        if tried(case.packets).checksum != _right(kind, case.handlers)(case.packets).checksum:
            yield case.name, "failed", first_difference(case, tried, alone=kind == "select")
            return
        yield case.name, "held", f"{len(case.packets):,} packets as the plain loop computes them"
    yield _in_parts(kind, make, inputs.windows())


def _in_parts(kind: str, make: Callable[[HandlerSet], Arm], case: Case) -> _Found:
    from nanokata import measure

    arms = {"plain": _right(kind, case.handlers), "yours": make(case.handlers)}
    try:
        measure.race(arms, case.packets, quick=True, seconds=0.05, counters=False)
    except ChecksumMismatch as mismatch:
        return case.name, "failed", f"{mismatch}; `run` gets where to begin and how many"
    return case.name, "held", f"{len(case.packets):,} packets, replayed in parts"


def verify_plugin(library: str) -> Iterator[_Found]:
    """Lend a plugin packets of the two keys that the brief names, one by one and in batches."""
    import numpy as np

    from nanokata import plugin

    from . import inputs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plugin.UncheckedPlugin)
        loaded = plugin.load(library)
    claims = [(claim.key, claim.residual) for claim in loaded.claims]
    wanted = [(inputs.KEY, False), (inputs.RESIDUAL_KEY, True)]
    if claims != wanted:
        yield "claims", "failed", f"{_spoken(claims)}; wanted {_spoken(wanted)}"
        return
    yield "claims", "held", _spoken(claims)
    packets = inputs.tally_packets()
    payload, residual = packets["payload"], packets["protocol"] == inputs.RESIDUAL_KEY
    mine = ~residual | (payload[:, 0] % 2 == 1)
    for name, batch in (("one by one", None), ("in batches", 64)):
        if batch is not None and not loaded.has_batch:
            continue
        made = loaded.process(packets, batch=batch)
        right = np.where(mine, made.statuses == 0, made.statuses == 1)
        right &= ~mine | ((made.values == payload.sum(axis=1)) & (made.claims == residual))
        if right.all():
            yield name, "held", f"{len(packets):,} packets"
            continue
        at = int(np.flatnonzero(~right)[0])
        said = f"status {made.statuses[at]}, value {made.values[at]}, claim {made.claims[at]}"
        due = f"status 0, value {payload[at].sum()}, claim {int(residual[at])}" if mine[at] else "status 1 (NOT_MINE)"
        key, first = packets["protocol"][at], payload[at, 0]
        yield name, "failed", f"packet {at} (key {key}, first payload byte {first}): {said}; wanted {due}"


def _spoken(claims: list[tuple[int, bool]]) -> str:
    return ", ".join(f"{key}{' (residual)' if residual else ''}" for key, residual in claims) or "none"


def raced(kind: str, library: str, options: dict[str, Any]) -> dict[str, Any]:
    """Race an arm or a selection against the plain loop and the compact table; return the race's document."""
    from nanokata import dispatch, measure, plugin, traffic

    handlers = dispatch.HandlerSet(100, body="fat", seed=7)
    packets = traffic.zipf(16_384, handlers, exponent=1.1, unmatched=0.02, seed=7)
    table = plugin.select("table_compact", handlers) if kind == "select" else dispatch.table_compact(handlers)
    arms = {"scan": _right(kind, handlers), "table_compact": table, "yours": _maker(kind, library)(handlers)}
    document: dict[str, Any] = json.loads(measure.race(arms, packets, baseline="scan", **options).to_json())
    return document


def _verified(kind: str, library: str) -> Iterator[_Found]:
    try:
        yield from verify_plugin(library) if kind.startswith("plugin") else verify_arm(kind, library)
    except PluginRejected as refusal:
        yield "taken by a host", "failed", f"{refusal.field} = {refusal.value}: {refusal.wanted}"


def main(arguments: list[str]) -> None:
    """Do what is asked for, and write what was found after each check, so that a crash leaves those before it."""
    job, kind, library, report, *options = arguments
    found: dict[str, Any] = {"checks": [], "race": None, "error": None}
    path = Path(report)
    try:
        if job == "verify":
            for check in _verified(kind, library):
                found["checks"].append(check)
                path.write_text(json.dumps(found), encoding="utf-8")
        else:
            found["race"] = raced(kind, library, json.loads(options[0]))
    except NanokataError as error:
        found |= {"error": str(error), "error_class": type(error).__name__}
    path.write_text(json.dumps({**found, "ended": True}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
